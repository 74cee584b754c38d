"""`stet ask` with a real process, a real server and a scripted model."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.acp_scripts import AcpScript, say, write
from tests.support.shell import Screen, Shell

BEFORE = "def f(x):\n    return x + 1\n"
AFTER = 'def f(x):\n    """Add one."""\n    return x + 1\n'
REWRITE = {"text": f"```python\n{AFTER}```\n"}
DIFF = """\
--- f.py
+++ f.py
@@ -1,2 +1,3 @@
 def f(x):
+    \"\"\"Add one.\"\"\"
     return x + 1
"""
PROMPT = "Accept this hunk? [y,n,a,q,e,?] "
ASK = ("ask", "Add a docstring.", "--file", "f.py", "--mode", "rewrite")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell.at(tmp_path)
    shell.write("f.py", BEFORE)
    shell.script(REWRITE)
    return shell


def text(shell: Shell, name: str = "f.py") -> str:
    return (shell.folder / name).read_bytes().decode()


def test_by_default_a_script_is_shown_the_proposal_and_nothing_is_written(shell: Shell) -> None:
    done = shell.run(*ASK)
    assert (done.returncode, text(shell)) == (0, BEFORE)
    assert done.stdout.endswith(DIFF)
    assert "\x1b" not in done.stdout + done.stderr


def test_what_is_accepted_is_written(shell: Shell) -> None:
    done = shell.run(*ASK, "--accept", "all")
    assert (done.returncode, text(shell)) == (0, AFTER)
    assert "Saved f.py\n" in done.stderr


def test_json_is_one_object_with_all_a_script_needs(shell: Shell) -> None:
    done = shell.run(*ASK, "--accept", "all", "--json")
    reported = json.loads(done.stdout)
    assert done.returncode == 0
    assert {key: reported[key] for key in ("state", "answer", "error", "refused", "files")} == {
        "state": "completed",
        "answer": "",
        "error": None,
        "refused": [],
        "files": [str(shell.folder / "f.py")],
    }
    assert [item["hunk"] for item in reported["proposals"]] == reported["accepted"]
    assert reported["model"]["provider"] == "scripted"
    assert reported["usage"]["totalTokens"] > 0
    assert (reported["cost"], reported["priceSource"]) == (None, None)


def test_json_holds_the_source_of_the_price(shell: Shell) -> None:
    config = shell.folder.parent / "CONFIG" / "stet" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[model.price]\ninput = 1.0\noutput = 2.0\n")
    reported = json.loads(shell.run(*ASK, "--json").stdout)
    assert reported["cost"] > 0
    assert reported["priceSource"] == "settings"


def test_only_the_lines_asked_for_are_rewritten(shell: Shell) -> None:
    shell.write("note.md", "One line.\nTwo line.\nThree line.\n")
    shell.script({"text": "```\nTwo lines.\n```"})
    shell.run("ask", "Mend it.", "--file", "note.md:2", "--mode", "rewrite", "--accept", "all")
    assert text(shell, "note.md") == "One line.\nTwo lines.\nThree line.\n"


def test_an_agent_edits_with_its_tools(shell: Shell) -> None:
    edit = {"file": "f.py", "old_text": "x + 1", "new_text": "x + 2"}
    shell.script(
        {"tool_calls": [{"name": "edit_file", "arguments": edit}]},
        {"tool_calls": [{"name": "done", "arguments": {"summary": "Counted on."}}]},
    )
    done = shell.run("ask", "Add two.", "--file", "f.py", "--accept", "all")
    assert (done.returncode, text(shell)) == (0, BEFORE.replace("x + 1", "x + 2"))


def test_an_agent_makes_a_new_file(shell: Shell) -> None:
    new = {"file": "sub/new.txt", "content": "hello\n"}
    shell.script(
        {"tool_calls": [{"name": "create_file", "arguments": new}]},
        {"tool_calls": [{"name": "done", "arguments": {"summary": "Made it."}}]},
    )
    done = shell.run("ask", "Make a file.", "--accept", "all")
    assert done.returncode == 0, done.stderr
    assert text(shell, "sub/new.txt") == "hello\n"


def test_a_question_is_answered_on_stdout(shell: Shell) -> None:
    shell.script({"text": "It adds one. \x1b[8mHidden.\x1b[0m"})
    done = shell.run("ask", "What does it do?", "--file", "f.py", "--mode", "ask")
    assert (done.returncode, done.stdout) == (0, "It adds one. \\x1b[8mHidden.\\x1b[0m\n")


@pytest.mark.parametrize("mode", ["agent", "ask"])
def test_text_answer_is_printed_once_and_completes_the_turn(shell: Shell, mode: str) -> None:
    shell.script({"text": "It adds one.\n\nNo more."})
    done = shell.run("ask", "What does it do?", "--file", "f.py", "--mode", mode)
    assert (done.returncode, done.stdout) == (0, "It adds one.\n\nNo more.\n")
    assert "limit" not in done.stderr


def test_summary_of_done_is_printed_after_other_text(shell: Shell) -> None:
    read = {"name": "read_file", "arguments": {"file": "f.py"}}
    end = {"name": "done", "arguments": {"summary": "It adds one."}}
    shell.script({"text": "I look.", "tool_calls": [read]}, {"tool_calls": [end]})
    done = shell.run("ask", "What does it do?", "--file", "f.py")
    assert (done.returncode, done.stdout) == (0, "I look.\n\nIt adds one.\n")


def test_a_failed_turn_is_one_sentence_and_exit_code_one(shell: Shell) -> None:
    shell.script({"error": "The provider is on fire."})
    done = shell.run(*ASK)
    assert (done.returncode, done.stdout, text(shell)) == (1, "", BEFORE)
    assert done.stderr.count("The provider is on fire.") == 1
    assert "Traceback" not in done.stderr


def test_line_ends_and_a_missing_last_one_are_kept(shell: Shell) -> None:
    shell.write("dos.txt", "one\r\ntow\r\nthree")
    edit = {"file": "dos.txt", "old_text": "tow", "new_text": "two"}
    shell.script(
        {"tool_calls": [{"name": "edit_file", "arguments": edit}]},
        {"tool_calls": [{"name": "done", "arguments": {"summary": "Mended."}}]},
    )
    done = shell.run("ask", "Mend it.", "--file", "dos.txt", "--accept", "all")
    assert done.returncode == 0, done.stderr
    assert text(shell, "dos.txt") == "one\r\ntwo\r\nthree"


@pytest.mark.parametrize("asked_from", ["dos.txt", "f.py"])
@pytest.mark.parametrize(
    ("edit", "after"),
    [
        ({"position": "start", "content": "zero"}, "zero\none\ntwo\n"),
        ({"position": "delete:1"}, "two\n"),
        ({"position": "replace:1", "content": "ONE"}, "ONE\ntwo\n"),
        ({"old_text": "one", "new_text": "ONE"}, "ONE\ntwo\n"),
    ],
)
def test_a_byte_order_mark_is_kept(
    shell: Shell, edit: dict[str, str], after: str, asked_from: str
) -> None:
    shell.write("dos.txt", "\ufeffone\ntwo\n")
    calls = [
        {"name": "read_file", "arguments": {"file": "dos.txt"}},
        {"name": "edit_file", "arguments": {"file": "dos.txt", **edit}},
        {"name": "done", "arguments": {"summary": "Done."}},
    ]
    shell.script(*({"tool_calls": [call]} for call in calls))
    done = shell.run("ask", "Change dos.txt.", "--file", asked_from, "--accept", "all")
    assert done.returncode == 0, done.stderr
    assert text(shell, "dos.txt") == f"\ufeff{after}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--file", "nope.py"), "stet: no such file: 'nope.py'\n"),
        (("--file", "f.py:9"), "has only 2 lines\n"),
        (("--root", "nope"), "stet: no such folder: 'nope'\n"),
        (("--json", "--accept", "review"), "--json can't ask you"),
        (("--mode", "shout"), "shout"),
    ],
)
def test_a_usage_error_is_exit_code_two(
    shell: Shell, arguments: tuple[str, ...], message: str
) -> None:
    done = shell.run("ask", "x", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_no_text_is_refused(shell: Shell) -> None:
    (shell.folder / "bin").write_bytes(b"\xff\xfe\x00")
    done = shell.run("ask", "x", "--file", "bin")
    assert (done.returncode, done.stderr) == (
        1,
        f"stet: {shell.folder / 'bin'} is not UTF-8 text\n",
    )


def test_hunks_are_reviewed_one_by_one(shell: Shell) -> None:
    shell.write("l.txt", "".join(f"line {number}\n" for number in range(1, 31)))
    edits = [
        {"file": "l.txt", "old_text": f"line {number}\n", "new_text": f"LINE {number}\n"}
        for number in (2, 15, 28)
    ]
    shell.script(
        {"tool_calls": [{"name": "edit_file", "arguments": edit} for edit in edits]},
        {"tool_calls": [{"name": "done", "arguments": {"summary": "Louder."}}]},
    )
    typed = "y\nn\ny\n"
    done = shell.run("ask", "Louder.", "--file", "l.txt", "--accept", "review", typed=typed)
    assert done.returncode == 0, done.stderr
    after = text(shell, "l.txt")
    assert [number for number in range(1, 31) if f"LINE {number}\n" in after] == [2, 28]


def test_at_the_end_of_the_answers_the_rest_stays(shell: Shell) -> None:
    done = shell.run(*ASK, "--accept", "review", typed="")
    assert (done.returncode, text(shell)) == (0, BEFORE)
    assert "1 hunk left pending" in done.stderr


def test_in_a_terminal_progress_is_live_and_the_review_asks(shell: Shell) -> None:
    screen = Screen(shell, ASK)
    screen.wait_for(PROMPT)
    assert "\x1b[32m+" in screen.shown  # green
    screen.type("y\n")
    assert screen.ended() == 0
    assert text(shell) == AFTER


def test_no_colour_where_none_is_wanted(shell: Shell) -> None:
    shell.env["NO_COLOR"] = "1"
    screen = Screen(shell, ASK)
    screen.wait_for(PROMPT)
    assert "\x1b[32m" not in screen.shown
    screen.type("q\n")
    assert screen.ended() == 0


def test_ctrl_c_cancels_the_turn_and_leaves_no_process(shell: Shell) -> None:
    shell.script({"text": "never said", "hold": str(shell.folder / "never")})
    screen = Screen(shell, ASK)
    screen.wait_for("round 1")
    screen.interrupt()
    assert screen.ended() == 130
    assert "stet: cancelled" in screen.shown
    assert "Traceback" not in screen.shown
    assert text(shell) == BEFORE
    assert shell.left_running() == []


def test_ctrl_c_at_the_review_ends_it_at_once(shell: Shell) -> None:
    screen = Screen(shell, ASK)
    screen.wait_for(PROMPT)
    screen.interrupt()
    assert screen.ended() == 130
    assert "Traceback" not in screen.shown
    assert "Fatal" not in screen.shown
    assert text(shell) == BEFORE
    assert shell.left_running() == []


def test_a_file_that_changed_on_the_disk_meanwhile_is_not_written_over(shell: Shell) -> None:
    screen = Screen(shell, ASK)
    screen.wait_for(PROMPT)
    shell.write("f.py", "somebody else's\n")
    screen.type("y\n")
    assert screen.ended() == 3
    assert "has changed on disk since it was opened" in screen.shown
    assert text(shell) == "somebody else's\n"


def test_accept_all_leaves_protected_files_out(shell: Shell) -> None:
    new = {"file": ".vscode/settings.json", "content": "{}\n"}
    shell.script(
        {"tool_calls": [{"name": "create_file", "arguments": new}]},
        {"tool_calls": [{"name": "done", "arguments": {"summary": "Made it."}}]},
    )
    done = shell.run("ask", "Set it up.", "--accept", "all")
    assert done.returncode == 3
    assert "Not accepted: " in done.stderr
    assert not (shell.folder / ".vscode").exists()


def test_pending_hunk_is_accepted_when_it_is_proposed_again(shell: Shell) -> None:
    call = {"file": "f.py", "old_text": "return x + 1", "new_text": "return x + 2"}
    new = {"file": "g.py", "content": "g = 1\n"}
    shell.script(
        {"tool_calls": [{"name": "edit_file", "arguments": call}]},
        {"tool_calls": [{"name": "create_file", "arguments": new}]},
        {"tool_calls": [{"name": "done", "arguments": {"summary": "Two."}}]},
    )
    shell.run("ask", "Two.", "--file", "f.py")
    assert text(shell) == BEFORE
    done = shell.run("ask", "Two.", "--file", "f.py", "--accept", "all")
    assert (done.returncode, text(shell)) == (0, BEFORE.replace("1", "2"))
    assert text(shell, "g.py") == "g = 1\n"
    assert "left pending" not in done.stderr


def test_accept_all_reports_hunks_of_earlier_questions(shell: Shell) -> None:
    shell.run(*ASK)
    shell.script({"tool_calls": [{"name": "done", "arguments": {"summary": "Looked."}}]})
    done = shell.run("ask", "Look.", "--file", "f.py", "--accept", "all")
    assert (done.returncode, text(shell)) == (0, BEFORE)
    assert "1 hunk left pending" in done.stderr


def test_a_turn_whose_edits_all_failed_is_reported_and_has_exit_code_one(shell: Shell) -> None:
    edit = {"file": "f.py", "old_text": "lost", "new_text": "y"}
    shell.script(
        {"tool_calls": [{"name": "edit_file", "arguments": edit}]},
        {"tool_calls": [{"name": "done", "arguments": {"summary": "Changed it."}}]},
    )
    done = shell.run("ask", "Change it.", "--file", "f.py", "--accept", "all")
    assert (done.returncode, text(shell)) == (1, BEFORE)
    assert "Edit of f.py failed: " in done.stderr


def test_superseded_refused_and_failed_edits_are_reported_as_text_and_json(
    shell: Shell,
) -> None:
    two = {"file": "f.py", "old_text": "return x + 1", "new_text": "return x + 2"}
    shell.script({"tool_calls": [{"name": "edit_file", "arguments": two}]}, {"text": "Two."})
    shell.run("ask", "Two.", "--file", "f.py")
    lost = {"file": "f.py", "old_text": "lost", "new_text": "y"}
    other = {"file": "f.py", "old_text": "return x + 1", "new_text": "return x + 3"}
    hook = {"file": ".git/hooks/pre-commit", "content": "ls\n"}
    shell.script(
        {"tool_calls": [{"name": "edit_file", "arguments": lost}]},
        {"tool_calls": [{"name": "create_file", "arguments": hook}]},
        {"tool_calls": [{"name": "edit_file", "arguments": other}]},
        {"tool_calls": [{"name": "done", "arguments": {"summary": "Changed it."}}]},
    )
    shown = shell.run("ask", "Change it.", "--file", "f.py", "--accept", "none")
    assert "Replaced 1 pending hunk" in shown.stderr
    reported = json.loads(shell.run("ask", "Change it.", "--file", "f.py", "--json").stdout)
    assert [edit["file"] for edit in reported["failedEdits"]] == ["f.py"]
    assert [edit["file"] for edit in reported["rejectedEdits"]] == [".git/hooks/pre-commit"]
    assert (reported["success"], reported["notes"], len(reported["replaced"])) == (True, [], 1)


@pytest.mark.parametrize(
    ("settings", "reason", "who"),
    [
        ("", "No model is available.", "no model"),
        ('provider = "openai"', "openai requires an API key", "no model"),
        (
            'baseUrl = "http://127.0.0.1:9/v1"\nname = "m"',
            "could not be reached",
            "m (openai-compatible)",
        ),
    ],
    ids=["none", "no key", "unreachable"],
)
def test_missing_model_is_reported_once(shell: Shell, settings: str, reason: str, who: str) -> None:
    del shell.env["STET_SCRIPTED_MODEL"]
    config = shell.folder.parent / "CONFIG" / "stet" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"[model]\n{settings}\n")
    # Beside each other: each waits for seconds between its attempts.
    with ThreadPoolExecutor(2) as threads:
        runs = [
            threads.submit(shell.run, "ask", "Hello", *options, env={"no_proxy": "*"})
            for options in ((), ("--json",))
        ]
    done, as_json = (run.result() for run in runs)
    lines = [line for line in done.stderr.splitlines() if reason in line]
    waits = [line for line in lines if re.search(r"Retrying: |Waiting \d+ s: ", line)]
    assert (done.returncode, len(lines) - len(waits)) == (1, 1)
    assert len(waits) == (who != "no model")
    assert done.stderr.endswith(f"{who} · 0 tokens in, 0 out\n")
    reported = json.loads(as_json.stdout)
    assert (reported["state"], reported["model"]["why"]) == ("failed", reported["error"])


def test_another_agent_answers(shell: Shell, tmp_path: Path) -> None:
    script = AcpScript(tmp_path / "agent", [[write(shell.folder / "f.py", AFTER), say("Added.")]])
    server = script.settings()["agents"]["servers"]["robot"]
    command = json.dumps(server["command"])
    config = Path(shell.env["XDG_CONFIG_HOME"], "stet", "config.toml")
    config.parent.mkdir(parents=True)
    config.write_text(
        f'[agents.servers.robot]\nprofile = "qwen"\ncommand = {command}\n'
        f'env = {{ PYTHONPATH = "{server["env"]["PYTHONPATH"]}" }}\n'
    )
    done = shell.run("ask", "Add a docstring.", "--agent", "robot", "--accept", "all")
    assert (done.returncode, text(shell)) == (0, AFTER)
    assert "Added.\n" in done.stdout
    assert "robot, an agent of its own · 0 tokens in" in done.stderr
