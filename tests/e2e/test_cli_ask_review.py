"""The review of `stet ask`: its layout, its keys and its counts, with a real server."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.support.openai_server import OpenAIServer, say
from tests.support.shell import Screen, Shell

PROMPT = "Accept this hunk? [y,n,a,q,e,?] "
ASK = ("ask", "Louder.", "--file", "l.txt", "--accept", "review")
LINES = "".join(f"line {number}\n" for number in range(1, 31))
EDITOR = """\
#!/bin/sh
n=$(cat "$0.count" 2>/dev/null || echo 1)
echo $((n + 1)) > "$0.count"
cp "$1" "$0.seen"
cp "$0.$n" "$1"
"""
"""A program that puts a prepared text in the place of the one that it opens: `.1`, then `.2`."""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Make a shell whose model proposes three hunks in one file."""
    shell = Shell.at(tmp_path)
    shell.write("l.txt", LINES)
    edits = [
        {"file": "l.txt", "old_text": f"line {number}\n", "new_text": f"LINE {number}\n"}
        for number in (2, 15, 28)
    ]
    shell.script(
        {"tool_calls": [{"name": "edit_file", "arguments": edit} for edit in edits]},
        {"tool_calls": [{"name": "done", "arguments": {"summary": "Louder."}}]},
    )
    return shell


def accepted(shell: Shell) -> list[int]:
    text = (shell.folder / "l.txt").read_text()
    return [number for number in range(1, 31) if f"LINE {number}\n" in text]


def prepare_editor(shell: Shell, *texts: str) -> Path:
    """Let $EDITOR save these texts, one at each start; return the path of the program."""
    program = shell.folder.parent / "editor"
    program.write_text(EDITOR)
    program.chmod(0o755)
    for number, text in enumerate(texts, start=1):
        Path(f"{program}.{number}").write_text(text)
    shell.env["EDITOR"] = str(program)
    return program


def test_review_shows_file_number_summary_diff_and_question(shell: Shell) -> None:
    screen = Screen(shell, ASK)
    screen.wait_for(PROMPT)
    lines = screen.shown.replace("\r", "").split("\n")
    begin = next(n for n, line in enumerate(lines) if "l.txt: hunk 1 of 3" in line)
    assert lines[begin + 2].startswith("\x1b[36m@@ -1,5 +1,5 @@")
    assert "\x1b[31m-line 2" in screen.shown
    assert "\x1b[32m+LINE 2" in screen.shown
    assert lines[-1].endswith(PROMPT)
    screen.type("q\n")
    assert screen.ended() == 0
    assert "Accepted 0 of 3 hunks" in screen.shown
    assert "3 hunks left pending" in screen.shown


@pytest.mark.parametrize(
    ("typed", "expected", "counts"),
    [
        ("y\nn\ny\n", [2, 28], ("Accepted 2 of 3 hunks",)),
        ("n\na\n", [15, 28], ("Accepted 2 of 3 hunks",)),
        ("a\n", [2, 15, 28], ("Accepted 3 of 3 hunks",)),
        ("y\nq\n", [2], ("Accepted 1 of 3 hunks", "2 hunks left pending")),
        ("", [], ("Accepted 0 of 3 hunks", "3 hunks left pending")),
        ("?\nwhat\nq\n", [], ("e - edit this hunk, then accept it", "3 hunks left pending")),
    ],
    ids=repr,
)
def test_review_keys_decide_as_in_git_add(
    shell: Shell, typed: str, expected: list[int], counts: tuple[str, ...]
) -> None:
    done = shell.run(*ASK, typed=typed)
    assert (done.returncode, accepted(shell)) == (0, expected), done.stderr
    assert [count for count in counts if count not in done.stderr] == []


def test_review_edits_a_hunk_in_the_editor_and_asks_again_after_a_wrong_edit(shell: Shell) -> None:
    wrong, right = "-line 3\n+LINE 2\n", "-line 2\n+Line two\n+and a half\n"
    program = prepare_editor(shell, wrong, right)
    done = shell.run(*ASK, typed="e\ny\nq\n")
    assert done.returncode == 0, done.stderr
    assert "This hunk can't be used: the lines with ' ' and '-' differ from" in done.stderr
    assert Path(f"{program}.seen").read_text() == wrong
    text = (shell.folder / "l.txt").read_text()
    assert text == LINES.replace("line 2\n", "Line two\nand a half\n")
    assert "Accepted 1 of 3 hunks" in done.stderr


def test_review_leaves_a_hunk_pending_whose_edit_is_given_up(shell: Shell) -> None:
    prepare_editor(shell, "", "no mark\n")
    done = shell.run(*ASK, typed="e\ne\nn\nq\n")
    assert (done.returncode, accepted(shell)) == (0, [])
    assert "3 hunks left pending" in done.stderr


def test_accept_all_counts_hunks_and_exits_with_3_if_one_is_refused(shell: Shell) -> None:
    new = {"file": ".vscode/settings.json", "content": "{}\n"}
    edit = {"file": "l.txt", "old_text": "line 2\n", "new_text": "LINE 2\n"}
    shell.script(
        {"tool_calls": [{"name": "create_file", "arguments": new}]},
        {"tool_calls": [{"name": "edit_file", "arguments": edit}]},
        {"tool_calls": [{"name": "done", "arguments": {"summary": "Both."}}]},
    )
    done = shell.run("ask", "Both.", "--file", "l.txt", "--accept", "all")
    assert (done.returncode, accepted(shell)) == (3, [2])
    assert "Accepted 1 of 2 hunks" in done.stderr
    assert "Not accepted: .vscode/settings.json: protected file; use --accept review" in done.stderr


async def test_ask_begins_a_new_conversation_by_default(shell: Shell) -> None:
    asked = ["First apple.", "Second pear.", "Third plum.", "Fourth fig."]
    async with OpenAIServer([say("An answer.")] * 4) as server:
        del shell.env["STET_SCRIPTED_MODEL"]
        shell.env |= {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.base_url, "no_proxy": "*"}
        first = await asyncio.to_thread(shell.run, "ask", asked[0], "--json")
        await asyncio.to_thread(shell.run, "ask", asked[1])
        await asyncio.to_thread(shell.run, "ask", asked[2], "--continue")
        chat = json.loads(first.stdout)["chat"]
        await asyncio.to_thread(shell.run, "ask", asked[3], "--chat", chat)
    sent = [json.dumps(request.body["messages"]) for request in server.requests]
    assert [[prompt for prompt in asked if prompt in text] for text in sent] == [
        asked[:1],
        asked[1:2],
        asked[1:3],
        [asked[0], asked[3]],
    ]


def test_ask_takes_continue_or_a_chat_but_not_both(shell: Shell) -> None:
    done = shell.run("ask", "x", "--continue", "--chat", "c1")
    assert (done.returncode, done.stderr) == (2, "stet: use --continue or --chat, not both\n")
