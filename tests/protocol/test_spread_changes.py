"""A change of a name in all files by a very small model: it is shown one file after the other."""

from pathlib import Path

import pytest

from tests.protocol.test_block_edits import ENV, served, settings_of, wait_for_text
from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import run

USERS = "def fetch_user(n):\n    return n\n"
HELLO = "from users import fetch_user\n\n\ndef hello(n):\n    return fetch_user(n)\n"
BYE = "import users\n\n\ndef bye(n):\n    return users.fetch_user(n)\n"
OTHER = "def fetch_user(n):\n    return -n\n"
LONG = (
    "from users import fetch_user\nfrom sys import path\n\n\n"
    + "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(60))
    + "def last():\n    return fetch_user(1)\n"
)
RENAME = "Rename fetch_user() to load_user()."


def block(text: str) -> api.Scripted:
    """Make an answer of one block of code."""
    return api.say(f"```python\n{text}```")


def renamed(text: str) -> str:
    """Return a text after the change of `RENAME`."""
    return text.replace("fetch_user", "load_user")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace in which two files import a third, and one has a function of that name."""
    folder = tmp_path / "ws"
    folder.mkdir()
    files = {"users.py": USERS, "hello.py": HELLO, "bye.py": BYE, "other.py": OTHER}
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


async def test_rename_asks_for_each_file_that_imports_the_name(root: Path) -> None:
    unsaved = HELLO.replace("hello", "hi")
    async with (
        served(block(renamed(USERS)), block(renamed(BYE)), block(renamed(unsaved))) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        editor.open("hello.py", unsaved)
        turn = await run(editor, RENAME, uri=editor.open("users.py"))
        assert turn["state"] == "completed", turn["error"]
        assert turn["summary"] == "Changed users.py, bye.py, hello.py."
        [first, second, third] = [one.body["messages"] for one in server.requests]
        assert [one["content"] for one in third[1:]] == [
            f"The file users.py:\n\n```py\n{USERS}```\n\n{RENAME}\n\nChange users.py first.",
            f"```\n{renamed(USERS)}```",
            f"The file bye.py:\n\n```py\n{BYE}```\n\nNow change bye.py for the same request.",
            f"```\n{renamed(BYE)}```",
            f"The file hello.py:\n\n```py\n{unsaved}```\n\n"
            "Now change hello.py for the same request.",
        ]
        assert (first, second) == (third[:2], third[:4])  # so the server reads each file once
        await editor.command("stet.accept", {"turn": turn["turn"]})
        await wait_for_text(editor, "users.py", renamed(USERS))
        await wait_for_text(editor, "bye.py", renamed(BYE))
        await wait_for_text(editor, "hello.py", renamed(unsaved))


async def test_change_everywhere_asks_for_each_file_with_the_word(root: Path) -> None:
    answers = [block(renamed(text)) for text in (USERS, BYE, HELLO, OTHER)]
    async with (
        served(*answers) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        turn = await run(editor, f"{RENAME[:-1]} everywhere.", uri=editor.open("users.py"))
        assert turn["state"] == "completed", turn["error"]
        assert len(server.requests) == 4
        hunks = await editor.command("stet.proposals")
        assert {one["uri"] for one in hunks} == {
            editor.uri(name) for name in ("users.py", "bye.py", "hello.py", "other.py")
        }


async def test_long_file_is_shown_where_it_uses_the_name(root: Path) -> None:
    (root / "hello.py").write_text(LONG)
    (root / "bye.py").unlink()
    answer = (
        "```python\nfrom users import load_user\nfrom sys import path\n```\n\n"
        "```python\ndef last():\n    return load_user(1)\n```"
    )
    async with (
        served(block(renamed(USERS)), api.say(answer)) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        turn = await run(editor, RENAME, uri=editor.open("users.py"))
        assert server.requests[1].body["messages"][-1]["content"] == (
            "The file hello.py, lines 1 to 2:\n\n"
            "```py\nfrom users import fetch_user\nfrom sys import path\n```\n\n"
            "The file hello.py, lines 245 to 246:\n\n"
            "```py\ndef last():\n    return fetch_user(1)\n```\n\n"
            "Now change hello.py for the same request."
        )
        await editor.command("stet.accept", {"turn": turn["turn"]})
        await wait_for_text(editor, "hello.py", renamed(LONG))


async def test_files_that_do_not_fit_are_named(root: Path) -> None:
    (root / "hello.py").write_text(HELLO + f"TEXT = fetch_user('{'x' * 4_000}')\n")
    async with (
        served(block(renamed(USERS)), block(renamed(BYE))) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        turn = await run(editor, RENAME, uri=editor.open("users.py"))
        assert turn["notes"] == [
            "Other files use fetch_user and were not changed: hello.py. They are more or longer "
            "than a small model can read. Ask again with one of these files open, or choose a "
            "larger model."
        ]


async def test_unchanged_files_are_passed_over(root: Path) -> None:
    async with (
        served(block(USERS), block(renamed(BYE)), api.say("Nothing to do.")) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        turn = await run(editor, RENAME, uri=editor.open("users.py"))
        assert (turn["state"], turn["summary"]) == ("completed", "Changed bye.py.")
        [hunk] = await editor.command("stet.proposals")
        assert hunk["uri"] == editor.uri("bye.py")


@pytest.mark.parametrize(
    "question", ["fetch_user() is wrong.", "Rename n to number in fetch_user()."]
)
async def test_other_requests_ask_once(root: Path, question: str) -> None:
    async with (
        served(block(USERS.replace("return n", "return n + 1"))) as server,
        FakeEditor.start(root, env=ENV, settings=settings_of(server)) as editor,
    ):
        turn = await run(editor, question, uri=editor.open("users.py"))
        assert turn["state"] == "completed", turn["error"]
        assert len(server.requests) == 1
