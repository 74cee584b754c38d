"""A very long open document: a question sends the part around the caret without secrets; edits are
proposed while its user types.
"""

import json
import zlib
from pathlib import Path

from tests.support import openai_server as api
from tests.support.canaries import keys, private_key
from tests.support.editor import FakeEditor
from tests.support.live_turns import (
    ask,
    calls,
    done,
    edit,
    provider,
    run,
    scripted,
    wait_for_states,
)
from tests.support.openai_server import OpenAIServer
from tests.support.proposals import PROPOSING_SERVER

LINE = "def handler_{n:06d}(request): return respond(request, {n})\n"
N_LINES = 40_000
MIDDLE = N_LINES // 2
KEY = keys()["GitHub token"]
PEM = private_key(3, n_lines=60)
EDGE = MIDDLE - 200 - 30
"""The position of the private key: above the part that is sent."""
SETTINGS = {"context": {"warnTokens": 1_000_000, "currentFileLines": 400}}


def text() -> str:
    """Return two million characters: a key near the caret, a private key cut by the excerpt."""
    lines = [LINE.format(n=n) for n in range(N_LINES)]
    lines[MIDDLE + 10] = f"token = '{KEY}'\n"
    key = PEM.splitlines(keepends=True)
    lines[EDGE : EDGE + len(key)] = key
    return "".join(lines)


async def test_an_edit_of_a_very_long_document_outlives_typing_and_a_restart(
    tmp_path: Path,
) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "big.py").write_text(text())
    old, new = LINE.format(n=MIDDLE), f"handler_{MIDDLE:06d} = None\n"
    env = scripted(
        tmp_path,
        calls(("read_file", {"file": "big.py", "start_line": MIDDLE, "end_line": MIDDLE + 9})),
        calls(edit("big.py", old, new), edit("big.py", LINE.format(n=MIDDLE + 4), "")),
        done("It is long."),
    )
    env |= {"XDG_STATE_HOME": str(tmp_path / "state")}
    async with FakeEditor.start(root, env=env, settings=SETTINGS) as editor:
        uri = editor.open("big.py")
        turn = await ask(editor, "Change it", uri=uri, line=MIDDLE)
        n_typed = 0
        while (await editor.command("stet.turn", {"turn": turn}))["state"] in ("queued", "running"):
            editor.type(uri, 0, 0, "typed\n")
            n_typed += 1
        found = await editor.command("stet.turn", {"turn": turn})
        assert (found["state"], found["failedEdits"]) == ("completed", [])
        first, second = found["hunks"]
        await editor.command("stet.accept", {"hunk": first})
        await wait_for_states(editor, **{first: "accepted", second: "pending"})
        lines = editor.text(uri).splitlines(keepends=True)
        assert lines[MIDDLE + n_typed] == new
        editor.save(uri)
    async with FakeEditor.start(root, env=env, settings=SETTINGS) as editor:
        uri = editor.open("big.py")
        await wait_for_states(editor, **{first: "accepted", second: "pending"})
        await editor.command("stet.accept", {"hunk": second})
        await wait_for_states(editor, **{second: "accepted"})
        await editor.command("stet.undo", {"hunk": first})
        await wait_for_states(editor, **{first: "undone"})
        wanted = "typed\n" * n_typed + text().replace(LINE.format(n=MIDDLE + 4), "")
        assert editor.text(uri) == wanted


async def test_messages_after_a_very_long_text_are_taken_after_it(tmp_path: Path) -> None:
    (tmp_path / "big.py").write_text("other\n")
    async with FakeEditor.start(tmp_path, settings=SETTINGS, command=PROPOSING_SERVER) as editor:
        editor.open("small.py", "x = 1\n")
        uri = editor.open("big.py", text())
        for n in range(20):
            editor.type(uri, N_LINES, n, "é")
        editor.type(uri, 0, 0, "first\n")
        editor.close("small.py")
        wanted = zlib.crc32(editor.text(uri).encode("utf-16-le"))
        found = await editor.command("test.checksums", uri, editor.uri("small.py"))
        assert found == [wanted, None]
        editor.close(uri)
        uri = editor.open("big.py", text())
        assert (await editor.command("test.checksums", uri))[0] is not None


async def test_a_search_names_the_open_document_that_it_has_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "big.py").write_text("other\n")
    (tmp_path / "a.py").write_text("respond = 1\n")
    searches = [
        api.call("search_workspace", query="handler_000007", mode="regex"),
        api.call("search_workspace", query="handler_000007"),
        api.call("search_workspace", query="respond", folder="src"),
        api.call("query_files", text="handler_000007"),
    ]
    async with (
        OpenAIServer([*searches, api.call("done", summary="Done.")]) as server,
        FakeEditor.start(tmp_path, env=provider(server), settings=SETTINGS) as editor,
    ):
        uri = editor.open("src/big.py", text())
        turn = await run(editor, "Where is it?", uri=uri, line=3)
        assert turn["state"] == "completed"
        messages = server.requests[-1].body["messages"]
        reported = [one["content"] for one in messages if one["role"] == "tool"]
        assert len(reported) == len(searches)
        for one in reported:
            assert "Too long to be searched: 'src/big.py'" in one


async def test_a_question_about_a_very_long_document_is_about_the_part_at_the_caret(
    tmp_path: Path,
) -> None:
    (tmp_path / "big.py").write_text("other\n")
    read = api.call("read_file", file="big.py", start_line=MIDDLE - 210, end_line=MIDDLE + 20)
    async with (
        OpenAIServer([read, api.call("done", summary="It is long.")]) as server,
        FakeEditor.start(tmp_path, env=provider(server), settings=SETTINGS) as editor,
    ):
        uri = editor.open("big.py", text())
        turn = await run(editor, "What is this?", uri=uri, line=MIDDLE + 1)
        assert (turn["state"], turn["summary"]) == ("completed", "It is long.")
        reported = "".join(json.dumps(one.body) for one in server.requests)
        assert f"def handler_{MIDDLE:06d}" in reported
        assert f"Lines: {MIDDLE - 199}-{MIDDLE + 200} of" in reported
        assert f"handler_{MIDDLE + 5_000:06d}" not in reported
        assert KEY not in reported
        for line in PEM.splitlines()[1:-1]:
            assert line not in reported
