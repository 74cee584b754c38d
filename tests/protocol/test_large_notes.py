"""Another program's blocks in a very long open note: they become hunks, and no model sees them."""

import json
from pathlib import Path

from tests.protocol.test_imported_blocks import block
from tests.support import openai_server as api
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

SENTENCE = f"Sentence {{n:06d}} of a note that no model reads at once{', and so on' * 15}.\n"
N_LINES = 10_000
MIDDLE = N_LINES // 2
ADD = block("abc", "add", "", "added\nlines")
REPLACE = block("h1", "replace", "old words", "new words", tag=False)
LAST = block("z", "replace", "the end", "THE END").removesuffix("\n")
SETTINGS = {"context": {"warnTokens": 1_000_000, "currentFileLines": 400}}


def note(add: str = ADD, middle: str = REPLACE, last: str = LAST) -> str:
    """Return over two million characters, with two blocks inside and one at the end."""
    lines = [SENTENCE.format(n=n) for n in range(N_LINES)]
    lines[MIDDLE] = f"{add}{lines[MIDDLE]}{middle}"
    return "".join((*lines, last))


PLAIN = note("", "old words\n", "the end")


async def imported(editor: FakeEditor, name: str = "big.md") -> list[str]:
    """Return the ids of the hunks of its three blocks."""
    await editor.wait_for_diagnostics(name, lambda shown: len(shown) == 3)
    hunks = await editor.command("stet.proposals", {"file": name, "state": "pending"})
    assert [(one["author"], one["old"], one["new"]) for one in hunks] == [
        ("imported", "", "added\nlines\n"),
        ("imported", "old words\n", "new words\n"),
        ("imported", "the end", "THE END"),
    ]
    return [one["hunk"] for one in hunks]


async def test_blocks_in_a_very_long_note_are_decided_like_any_other(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "big.md").write_text(note())
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("big.md")
        add, replace, last = await imported(editor)
        assert editor.text(uri) == note()
        editor.type(uri, 3, 0, "typed\n")
        await editor.command("stet.accept", {"hunk": add})
        await wait_for_states(editor, **{add: "accepted", replace: "pending"})
        typed = SENTENCE.format(n=3)
        wanted = note("added\nlines\n").replace(typed, f"typed\n{typed}")
        assert editor.text(uri) == wanted
        editor.save(uri)
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("big.md")
        await wait_for_states(editor, **{add: "accepted", replace: "pending", last: "pending"})
        await editor.command("stet.reject", {"hunk": replace})
        await editor.command("stet.accept", {"hunk": last})
        await wait_for_states(editor, **{replace: "rejected", last: "accepted"})
        wanted = note("added\nlines\n", "old words\n", "THE END").replace(typed, f"typed\n{typed}")
        assert editor.text(uri) == wanted
        await editor.command("stet.undo", {"hunk": add})
        await wait_for_states(editor, **{add: "undone"})
        assert "added" not in editor.text(uri)


async def test_no_model_sees_a_block_of_a_very_long_note(tmp_path: Path) -> None:
    (tmp_path / "big.md").write_text(note())
    read = api.call("read_file", file="big.md", start_line=MIDDLE - 5, end_line=MIDDLE + 10)
    end = api.call("read_file", file="big.md", start_line=N_LINES, end_line=N_LINES + 2)
    async with (
        OpenAIServer([read, end, api.call("done", summary="It is long.")]) as server,
        FakeEditor.start(tmp_path, env=provider(server), settings=SETTINGS) as editor,
    ):
        uri = editor.open("big.md")
        turn = await run(editor, "What is this?", uri=uri, line=MIDDLE + 1)
        assert (turn["state"], turn["summary"]) == ("completed", "It is long.")
        reported = "".join(json.dumps(one.body) for one in server.requests)
        assert "ai-edit" not in reported
        assert "ai_edit" not in reported
        assert "added\\\\nlines" not in reported
        messages = server.requests[-1].body["messages"]
        results = [one["content"] for one in messages if one["role"] == "tool"]
        assert f"{MIDDLE + 2}\told words\n" in results[0]
        assert "the end" in results[1]


async def test_an_edit_beside_blocks_of_a_very_long_note_is_proposed_while_its_user_types(
    tmp_path: Path,
) -> None:
    (tmp_path / "big.md").write_text(note())
    near, last = SENTENCE.format(n=MIDDLE + 2), SENTENCE.format(n=N_LINES - 1)
    env = scripted(
        tmp_path,
        calls(("read_file", {"file": "big.md", "start_line": MIDDLE, "end_line": MIDDLE + 9})),
        calls(edit("big.md", near, "changed\n"), edit("big.md", last, "")),
        done("It is long."),
    )
    async with FakeEditor.start(tmp_path, env=env, settings=SETTINGS) as editor:
        uri = editor.open("big.md")
        ids = await imported(editor)
        turn = await ask(editor, "Change it", uri=uri, line=MIDDLE)
        n_typed = 0
        while (await editor.command("stet.turn", {"turn": turn}))["state"] in ("queued", "running"):
            editor.type(uri, 0, 0, "typed\n")
            n_typed += 1
        found = await editor.command("stet.turn", {"turn": turn})
        assert (found["state"], found["failedEdits"]) == ("completed", [])
        assert len(found["hunks"]) == 2
        await editor.command("stet.accept", {"all": True})
        states = dict.fromkeys((*ids, *found["hunks"]), "accepted")
        await wait_for_states(editor, **states)
        wanted = note("added\nlines\n", "new words\n", "THE END")
        wanted = wanted.replace(near, "changed\n").replace(last, "")
        assert editor.text(uri) == "typed\n" * n_typed + wanted


async def test_note_that_is_too_long_for_hunks_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "small.md").write_text(ADD)
    (tmp_path / "big.md").write_text("other\n")
    sentence = f"{'A long sentence. ' * 600}\n"
    text = f"{ADD}{sentence * (20_000_000 // len(sentence) + 1)}"
    async with FakeEditor.start(tmp_path, settings=SETTINGS) as editor:
        uri = editor.open("big.md", text)
        shown_text = await editor.wait_for_message("big.md has 20,")
        assert "at most 20,000,000 characters" in shown_text
        editor.type(uri, 0, 0, ADD)
        editor.open("small.md")
        await editor.wait_for_diagnostics("small.md", lambda shown: len(shown) == 1)
        assert [hunk["uri"] for hunk in await editor.command("stet.proposals")] == [
            editor.uri("small.md")
        ]
        assert sum("big.md has" in one.message for one in editor.messages) == 1
