"""What another agent reads and writes by requests: parts of files, new files, line ends."""

from pathlib import Path

import pytest

from tests.support.acp_scripts import AcpScript, permission, read, write
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, end_of, question_of, run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make an empty workspace."""
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


async def test_lines_of_a_file_are_read(tmp_path: Path, root: Path) -> None:
    path = root / "a.txt"
    path.write_text("1\n2\n3\n4\n")
    steps = [
        read(path, line=2, limit=2),
        read(path, line=3),
        read(path, limit=1000),
        read(path, line=0, limit=1),
        read(path, line=99),
        read(path, line=None, limit=-1),
    ]
    script = AcpScript(tmp_path / "agent", [steps])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        await run(editor, "Go.", agent="robot")
    assert [one["content"] for one in script.answers("fs/read_text_file")] == [
        "2\n3\n",
        "3\n4\n",
        "1\n2\n3\n4\n",
        "1\n",
        "",
        "1\n2\n3\n4\n",
    ]


@pytest.mark.parametrize(
    ("profile", "answer"),
    [
        ("gemini", {"content": ""}),
        ("qwen", {"code": -32002, "message": "There is no file new.txt.", "data": None}),
    ],
)
async def test_new_file_is_read_again(
    tmp_path: Path, root: Path, profile: str, answer: object
) -> None:
    path = root / "deep" / "new.txt"
    top = root / "new.txt"
    steps = [read(top), write(path, "1\n"), read(path), write(path, "1\n2\n"), read(path)]
    script = AcpScript(tmp_path / "agent", [steps], profile=profile)
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        await run(editor, "Go.", agent="robot")
        [item] = await editor.command("stet.proposals", {"state": "pending"})
        assert (item["kind"], item["new"]) == ("create", "1\n2\n")
        assert not path.parent.exists()
        await editor.command("stet.accept", {"hunk": item["hunk"]})
        await editor.wait_until(lambda: _text(editor, "deep/new.txt", path) == "1\n2\n")
    first, second, third = script.answers("fs/read_text_file")
    assert (first, second, third) == (answer, {"content": "1\n"}, {"content": "1\n2\n"})


async def test_line_ends_and_byte_order_mark_stay(tmp_path: Path, root: Path) -> None:
    path = root / "a.txt"
    saved = "\ufeffone\r\ntwo\r\nthree\r\n".encode()
    path.write_bytes(saved)
    steps = [
        read(path),
        write(path, "one\n2\nthree\n"),
        read(path),
        write(path, "one\n2\n3\n"),
    ]
    script = AcpScript(tmp_path / "agent", [steps])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        await run(editor, "Go.", agent="robot")
        listed = await editor.command("stet.proposals", {"state": "pending"})
        assert {line for one in listed for line in one["new"].splitlines(keepends=True)} == {
            "2\r\n",
            "3\r\n",
        }
        assert path.read_bytes() == saved
        for one in listed:
            await editor.command("stet.accept", {"hunk": one["hunk"]})
        wanted = saved.decode().replace("two", "2").replace("three", "3").removeprefix("\ufeff")
        await editor.wait_until(
            lambda: _text(editor, "a.txt", path).removeprefix("\ufeff") == wanted
        )
    first, second = script.answers("fs/read_text_file")
    assert first["content"].removeprefix("\ufeff") == "one\r\ntwo\r\nthree\r\n"
    assert second["content"].removeprefix("\ufeff") == "one\r\n2\r\nthree\r\n"


async def test_edit_of_lines_that_the_user_has_changed_waits_as_a_conflict(
    tmp_path: Path, root: Path
) -> None:
    path = root / "a.txt"
    path.write_text("one\ntwo\nthree\n")
    steps = [read(path), permission("Wait", kind="other"), write(path, "one\n2\nthree\n")]
    script = AcpScript(tmp_path / "agent", [steps])
    async with FakeEditor.start(root, settings=script.settings()) as editor:
        editor.open("a.txt")
        editor.leaves_buttons = True
        turn = await ask(editor, "Go.", agent="robot")
        question = await question_of(editor, turn)
        editor.change("a.txt", "two\n", "zwei\n")
        editor.flush()
        await editor.command("stet.answer", {"question": question, "choice": "Allow"})
        found = await end_of(editor, turn)
        [item] = await editor.command("stet.proposals")
        assert (item["state"], item["old"], item["new"]) == ("conflict", "zwei\n", "2\n")
    [error] = script.answers("fs/write_text_file")
    assert error["message"].startswith("The user has changed the same lines of a.txt since then.")
    assert error["message"].endswith("The user's lines are now:\nzwei\n")
    assert found["failedEdits"] == []


async def test_two_chats_see_only_their_own_hunks(tmp_path: Path, root: Path) -> None:
    path = root / "a.txt"
    path.write_text("one\ntwo\nthree\n")
    script = AcpScript(tmp_path / "agent", [[read(path), write(path, "1\ntwo\nthree\n")]])
    other = AcpScript(tmp_path / "other", [[read(path), write(path, "one\ntwo\n3\n")]])
    settings = script.settings()
    settings["agents"]["servers"]["other"] = other.settings()["agents"]["servers"]["robot"]
    async with FakeEditor.start(root, settings=settings) as editor:
        await run(editor, "Go.", agent="robot", chat="a")
        await run(editor, "You too.", agent="other", chat="b")
        listed = await editor.command("stet.proposals", {"state": "pending"})
        assert sorted((one["author"], one["new"]) for one in listed) == [
            ("other", "3\n"),
            ("robot", "1\n"),
        ]
    assert other.answers("fs/read_text_file") == [{"content": "one\ntwo\nthree\n"}]


def _text(editor: FakeEditor, name: str, path: Path) -> str:
    """Return the text of a file in the editor, or else on the disk; "" if there is none."""
    if editor.uri(name) in editor.documents:
        return editor.text(name)
    return path.read_bytes().decode() if path.exists() else ""
