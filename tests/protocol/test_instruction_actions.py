"""Code actions are offered for instructions in comments, and not for text that looks like one."""

import asyncio
from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.live_turns import done, end_of, scripted

DO, ANSWER = "Stet: Run comment instruction", "Stet: Answer comment"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


NO_COMMENTS = [
    ("a.py", "python", "s = '# do it AI!'"),
    ("a.py", "python", 's = """\n# do it AI!\n"""'),
    ("a.js", "javascript", "f(`// do it AI!`);"),
    ("a.js", "javascript", "f(`\n// do it AI?\n`);"),
    ("a.lua", "lua", "local s = [[\n-- do it AI!\n]]"),
    ("a.sh", "shellscript", "cat <<X\n# do it AI!\nX"),
    ("a.md", "markdown", "```python\n# do it AI!\n```"),
    ("a.md", "markdown", "~~~\n<!-- do it AI! -->\n~~~"),
    ("a.html", "html", "<p>// do it AI?</p>"),
]


@pytest.mark.parametrize(("name", "language", "text"), NO_COMMENTS)
async def test_what_only_reads_like_a_comment_is_not_offered(
    root: Path, name: str, language: str, text: str
) -> None:
    true = {"html": "<!-- so AI! -->", "markdown": "<!-- so AI! -->", "lua": "-- so AI!"}.get(
        language, "// so AI!" if language == "javascript" else "# so AI!"
    )
    (root / name).write_text("")
    async with FakeEditor.start(root, env=scripted(root.parent, done())) as editor:
        uri = editor.open(name, f"{text}\n\n{true}\n", language)
        false = next(line for line in text.splitlines() if "do it AI" in line)

        async def offered(needle: str) -> set[str]:
            return {one.title for one in await editor.actions(uri, needle)} & {DO, ANSWER}

        assert await offered(false) == set()
        assert await offered(true) == {DO}
        # The action is for the real comment only; and after a change, for the current one.
        turn = (await editor.choose(uri, f"{text}\n\n{true}", DO))["turn"]
        assert (await end_of(editor, turn))["prompt"] == "so"
        editor.change(uri, f"{text}\n\n{true}\n", f"{true}\n")
        assert await offered(true) == {DO}


async def changed(editor: FakeEditor, uri: str) -> None:
    """Delete the first line as the user."""
    editor.change(uri, "s = '# do it AI!'\n", "")


async def test_other_messages_are_taken_while_a_comment_is_looked_for(root: Path) -> None:
    (root / "a.py").write_text("")
    async with FakeEditor.start(root, env=scripted(root.parent)) as editor:
        uri = editor.open("a.py", "s = '# do it AI!'\n# so AI!\nx = 1\n", "python")
        async with asyncio.TaskGroup() as group:
            asked = [
                group.create_task(editor.actions(uri, needle))
                for needle in ("# do it AI!", "# so AI!", "x = 1")
            ]
            group.create_task(changed(editor, uri))
        found = [{one.title for one in answer.result()} & {DO, ANSWER} for answer in asked]
        assert found == [set(), {DO}, set()]
        assert {one.title for one in await editor.actions(uri, "# so AI!")} >= {DO}
