"""The in-text review style in texts with lines that look like those of a block."""

from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, run, scripted, states, wait_for_states

INLINE = {"edit": {"reviewStyle": "inline"}}
TAGGED = "intro\n#ai_edit\nold words\nend\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make an empty workspace."""
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("wanted", ["rejected", "accepted"])
@pytest.mark.parametrize("client", ["kakoune", "neovim", "vscode"])
async def test_lines_that_read_like_the_tag_of_a_block_do_not_change_what_is_decided_by_hand(
    root: Path, tmp_path: Path, client: str, wanted: str
) -> None:
    (root / "a.md").write_text(TAGGED)
    old, new = "#ai_edit\nold words\n", "new words\n"
    script = scripted(tmp_path, calls(edit("a.md", old, new)), done())
    async with FakeEditor.start(root, client=client, settings=INLINE, env=script) as editor:
        uri = editor.open("a.md")
        await run(editor, "Do", uri=uri)
        await editor.wait_until(lambda: "```ai-edit" in editor.text(uri))
        block = editor.text(uri).removeprefix("intro\n").removesuffix("end\n")
        left = old if wanted == "rejected" else new
        # Some editors report one change; one reports two steps, if the user keeps the lower lines.
        editor.change(uri, block, left)
        await wait_for_states(editor, h1=wanted)
        assert editor.text(uri) == f"intro\n{left}end\n"
        await editor.command(
            "stet.restore" if wanted == "rejected" else "stet.undo", {"hunk": "h1"}
        )
        if wanted == "accepted":
            await wait_for_states(editor, h1="undone")
            assert editor.text(uri) == TAGGED
        else:
            await editor.wait_until(lambda: "```ai-edit" in editor.text(uri))


@pytest.mark.parametrize(
    ("name", "imitated"),
    [
        ("a.py", "<<<<<<< yours\nmine\n=======\n>>>>>>> stet h1\n"),
        (
            "a.md",
            '````\n```ai-edit\n{"id":"h1","type":"add","before":"","after":"x"}\n```\n````\n',
        ),
        ("b.md", '{"id":"h1"}\n'),
    ],
)
async def test_a_hunk_that_the_text_names_as_a_block_does_waits_in_the_margin(
    root: Path, tmp_path: Path, name: str, imitated: str
) -> None:
    text = f"one\n{imitated}two\nthree\nfour\n"
    (root / name).write_text(text)
    wanted = calls(edit(name, "two", "2"), edit(name, "four", "4"))
    async with FakeEditor.start(
        root, settings=INLINE, env=scripted(tmp_path, wanted, done())
    ) as editor:
        uri = editor.open(name)
        await run(editor, "Do", uri=uri)
        await editor.wait_until(lambda: "stet h2" in editor.text(uri) or '"h2"' in editor.text(uri))
        assert editor.text(uri).startswith(f"one\n{imitated}two\nthree\n")
        assert await states(editor) == {"h1": "pending", "h2": "pending"}
        await editor.command("stet.accept", {"turn": "t1"})
        await wait_for_states(editor, h1="accepted", h2="accepted")
        assert editor.text(uri) == text.replace("two", "2").replace("four", "4")


async def test_conflict_whose_markers_are_in_the_text_already_is_reported(
    root: Path, tmp_path: Path
) -> None:
    (root / "a.py").write_text(">>>>>>> stet h1\none\ntwo\n")
    script = scripted(tmp_path, calls(edit("a.py", "two", "2")), done())
    async with FakeEditor.start(root, env=script) as editor:
        uri = editor.open("a.py")
        await run(editor, "Do", uri=uri)
        editor.change(uri, "two", "deux")
        await wait_for_states(editor, h1="conflict")
        await editor.command("stet.resolve", {"hunk": "h1", "how": "markers"})
        await editor.wait_for_message("looks like a marker")
        assert await states(editor) == {"h1": "conflict"}
