"""A provider's prompt cache is effective: each request begins with the bytes of the one before."""

from itertools import pairwise
from pathlib import Path

import pytest

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import provider, run
from tests.support.openai_server import OpenAIServer
from tests.support.prompt_cache import cached_share
from tests.support.restarts import ready

ROUNDS = 10
FILES = {f"f{n}.py": "".join(f"value_{n}_{m} = {m}\n" for m in range(60)) for n in range(8)}
SETTINGS = {"agent": {"maxTokens": 1_000_000}}
DONE = api.call("done", summary="Done.")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of code."""
    folder = tmp_path / "ws"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def long_turn(number: int) -> list[api.Reply]:
    """Make the replies of a turn of ten rounds that reads, edits and fails."""
    reads = [api.call("read_file", file=f"f{n}.py") for n in range(6)]
    new = f"value_0_{number} = 'new'"
    edit = api.call(
        "edit_file", file="f0.py", old_text=f"value_0_{number} = {number}", new_text=new
    )
    lost = api.call("edit_file", file="f1.py", old_text=f"lost {number}", new_text="x")
    return [*reads, edit, lost, api.call("list_files"), DONE]


async def test_within_a_turn_and_between_turns_the_beginning_stays(root: Path) -> None:
    n_turns = 3
    replies = [reply for number in range(n_turns) for reply in long_turn(number)]
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server), settings=SETTINGS) as editor,
    ):
        uri = editor.open("f0.py")
        for number in range(n_turns):
            turn = await run(editor, f"Question {number}", uri=uri)
            assert (turn["state"], turn["iterations"]) == ("completed", ROUNDS)
            await editor.command("stet.reject", {"hunk": turn["hunks"][0], "reason": "No"})
            editor.type(uri, 3, 0, f"# the user types {number}\n")
            editor.open(f"f{number + 1}.py")
        bodies = [asked.body for asked in server.requests]
    assert len(bodies) == n_turns * ROUNDS
    assert all(body["tools"] == bodies[0]["tools"] for body in bodies)
    shares = [cached_share(before, after) for before, after in pairwise(bodies)]
    between = shares[ROUNDS - 1 :: ROUNDS]
    assert len(between) == n_turns - 1
    assert min(shares) == 1.0, shares


async def test_the_beginning_stays_when_the_server_starts_anew(root: Path) -> None:
    async with OpenAIServer([*long_turn(0), *long_turn(1)]) as server:
        env = {**provider(server), "XDG_STATE_HOME": str(root.parent / "state")}
        for number in range(2):
            async with FakeEditor.start(root, env=env, settings=SETTINGS) as editor:
                await ready(editor)
                await run(editor, f"Question {number}", uri=editor.open("f0.py"))
        bodies = [asked.body for asked in server.requests]
    assert cached_share(bodies[ROUNDS - 1], bodies[ROUNDS]) == 1.0
