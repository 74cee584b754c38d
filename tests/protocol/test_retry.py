"""`stet.resolve` with `retry`: the agent repeats a conflicting edit, with every outcome."""

import json
from pathlib import Path
from typing import Any

import pytest

from stet.llm.model import Completion, ToolCall
from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import edit, provider, run, states, wait_for_states
from tests.support.openai_server import End, OpenAIServer, Reply
from tests.support.restarts import ready, until_killed
from tests.support.state_stores import query
from tests.support.web_server import WebServer

NOWHERE = "http://site.invalid/page"
RETRY = {"hunk": "h1", "how": "retry"}
HANGS = Reply(end=End.HANG)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\nthree\n")
    return folder


def call(name: str, arguments: dict[str, Any]) -> Reply:
    """Make a provider's answer that calls a tool."""
    return api.of(Completion("", (ToolCall("c", name, json.dumps(arguments)),)))


def does(*wanted: tuple[str, dict[str, Any]]) -> list[Reply]:
    """Make a turn of these calls, one after the other, and a final `done`."""
    return [*(call(*one) for one in wanted), api.call("done", summary="Done.")]


FIRST = does(edit("a.txt", "two", "2", "Two"))


async def conflict(editor: FakeEditor, theirs: str = "zwei\n") -> str:
    """Bring `h1` into conflict; return the file's URI."""
    uri = editor.open("a.txt")
    await run(editor, "Digits", uri=uri)
    editor.change(uri, "two\n", theirs)
    await wait_for_states(editor, h1="conflict")
    return uri


async def end_of(editor: FakeEditor, turn: str) -> Any:
    """Wait for the end of a turn, whose title is longer than a line; return the turn."""
    while True:
        arrived = editor.n_news
        found = await editor.command("stet.turn", {"turn": turn})
        if found["state"] not in ("queued", "running", "waiting"):
            return found
        await editor.wait_until(lambda seen=arrived: editor.n_news > seen)  # type: ignore[misc]


async def test_asking_twice_is_one_turn_as_long_as_it_is_not_over(root: Path) -> None:
    replies = [*FIRST, HANGS, *does(edit("a.txt", "zwei", "2 (zwei)"))]
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = await conflict(editor)
        first = await editor.command("stet.resolve", RETRY)
        assert await editor.command("stet.resolve", RETRY) == first
        editor.change(uri, "zwei", "drei und zwei")
        assert await editor.command("stet.resolve", RETRY) == first
        await server.asked(3)
        await editor.command("stet.cancel", {"turn": first["turn"]})
        assert (await end_of(editor, first["turn"]))["state"] == "cancelled"
        assert await states(editor) == {"h1": "conflict"}
        again = await editor.command("stet.resolve", RETRY)
        assert again["turn"] != first["turn"]
        ended = await end_of(editor, again["turn"])
        assert await states(editor) == {"h1": "superseded", "h2": "pending"}
        await editor.command("stet.accept", {"turn": ended["turn"]})
        await wait_for_states(editor, h2="accepted")
        assert editor.text(uri) == "one\ndrei und 2 (zwei)\nthree\n"


async def test_prompt_with_the_text_of_a_retry_is_no_retry(root: Path) -> None:
    prompt = "Your proposal h1 for a poem is too short."
    (root / ".stet.toml").write_text(f'[[prompts]]\ntitle = "Poem"\nprompt = "{prompt}"\n')
    async with (
        OpenAIServer([*FIRST, HANGS, *does(edit("a.txt", "zwei", "2 (zwei)"))]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        await conflict(editor)
        poem = await editor.command("stet.ask", {"prompt": prompt, "chat": "poems"})
        await server.asked(3)
        retry = await editor.command("stet.resolve", RETRY)
        assert retry["turn"] != poem["turn"]
        assert (await end_of(editor, retry["turn"]))["hunks"] == ["h2"]


async def test_a_retry_that_an_older_version_has_left_is_over(root: Path, tmp_path: Path) -> None:
    """Turns of older versions have no field for the hunk; no retry survives its server."""
    state = tmp_path / "state"
    async with OpenAIServer([*FIRST, HANGS, *does(edit("a.txt", "zwei", "2 (zwei)"))]) as server:
        env = {**provider(server), "XDG_STATE_HOME": str(state)}
        async with until_killed(root, env) as editor:
            uri = await conflict(editor)
            editor.save(uri)
            left = (await editor.command("stet.resolve", RETRY))["turn"]
            await server.asked(3)
        [database] = state.rglob("state.db")
        field = query(
            database, "SELECT json_extract(fields, '$.ask.retries') FROM turn WHERE id = ?", left
        )
        assert field == [("h1",)]
        query(database, "UPDATE turn SET fields = json_remove(fields, '$.ask.retries')")
        async with FakeEditor.start(root, env=env) as editor:
            editor.open("a.txt")
            await ready(editor)
            assert await states(editor) == {"h1": "conflict"}
            assert (await editor.command("stet.turn", left))["state"] == "failed"
            retry = await editor.command("stet.resolve", RETRY)
            assert retry["turn"] != left
            assert (await end_of(editor, retry["turn"]))["hunks"] == ["h2"]


@pytest.mark.parametrize(
    "replies",
    [
        does(),
        does(edit("a.txt", "nowhere to be found", "2")),
        does(("no_such_tool", {})),
        [Reply(status=400, body={"error": {"message": "no"}})],
    ],
    ids=["nothing", "nonsense", "an unknown tool", "an error"],
)
async def test_retry_without_an_edit_leaves_the_conflict_with_its_actions(
    root: Path, replies: list[Reply]
) -> None:
    async with (
        OpenAIServer([*FIRST, *replies, *does(edit("a.txt", "zwei", "2 (zwei)"))]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        await conflict(editor)
        first = await editor.command("stet.resolve", RETRY)
        assert (await end_of(editor, first["turn"]))["hunks"] == []
        assert await states(editor) == {"h1": "conflict"}
        again = await editor.command("stet.resolve", RETRY)
        assert (await end_of(editor, again["turn"]))["hunks"] == ["h2"]
        assert await states(editor) == {"h1": "superseded", "h2": "pending"}


async def test_a_file_that_was_closed_is_done_again_as_the_disk_has_it(root: Path) -> None:
    async with (
        OpenAIServer([*FIRST, *does(edit("a.txt", "zwei", "2 (zwei)"))]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = await conflict(editor)
        editor.save(uri)
        editor.close(uri)
        turn = (await editor.command("stet.resolve", RETRY))["turn"]
        assert (await end_of(editor, turn))["hunks"] == ["h2"]
        assert await states(editor) == {"h1": "superseded", "h2": "pending"}


async def test_a_host_that_only_the_lines_in_conflict_name_is_asked_for(root: Path) -> None:
    reads = call("read_webpage", {"url": NOWHERE})
    async with (
        WebServer() as web,
        OpenAIServer([*FIRST, reads, *does()]) as server,
        FakeEditor.start(
            root,
            settings={"web": {"provider": "tavily", "baseUrl": web.url(""), "apiKeyEnv": "K"}},
            env={**provider(server), "K": "key"},
        ) as editor,
    ):
        await conflict(editor, f"zwei, see {NOWHERE}\n")
        turn = (await editor.command("stet.resolve", RETRY))["turn"]
        await editor.wait_until(
            lambda: any(
                d.code == "question" for found in editor.diagnostics.values() for d in found
            )
        )
        question = (await editor.command("stet.turn", turn))["question"]
        assert (question["kind"], NOWHERE in question["text"]) == ("host", True)
        await editor.command("stet.cancel", {"turn": turn})
        assert await states(editor) == {"h1": "conflict"}
