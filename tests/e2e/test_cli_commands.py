"""The other commands of the shell, as real processes."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from stet import __version__
from stet.cli.demo import NOTE, STATS, WORDS
from tests.support import openai_server as api
from tests.support.http_server import HttpRequest
from tests.support.local_models import medium_only, small_model, small_only
from tests.support.openai_server import OpenAIServer, Reply
from tests.support.shell import SECONDS, STET, Screen, Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell.at(tmp_path)


def block(text: str) -> dict[str, str]:
    return {"text": f"```\n{text}```\n"}


def scripted_demo(shell: Shell) -> None:
    head, rest = STATS.split("\n", 1)
    documented = f'{head}\n    """Average."""\n{rest}'
    sentence = NOTE.splitlines()[2]
    fixed = WORDS.replace("text.split", "text.lower().split")
    shell.script(block(documented), block(fixed), block(sentence.replace("are", "is") + "\n"))


def test_the_version_is_reported(shell: Shell) -> None:
    assert shell.run("--version").stdout == f"stet {__version__}\n"


@pytest.mark.parametrize("arguments", [("nope",), ("ask",), ("serve", "--tcp"), ("model", "x")])
def test_a_usage_error_is_exit_code_two_and_no_traceback(
    shell: Shell, arguments: tuple[str, ...]
) -> None:
    done = shell.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_the_help_names_every_command(shell: Shell) -> None:
    shown = shell.run("--help").stdout
    for name in ("serve", "ask", "search", "index", "demo", "doctor", "model", "config"):
        assert f" {name} " in shown
    assert "--log-level" in shell.run("serve", "--help").stdout


def test_the_demo_does_its_jobs_and_shows_each_step(shell: Shell) -> None:
    scripted_demo(shell)
    done = shell.run("demo")
    assert (done.returncode, done.stderr) == (0, "")
    steps = [line.split()[0] for line in done.stdout.splitlines() if line[2:3].strip()]
    expected = [
        "opened",
        "selected",
        "asked",
        "answered",
        "proposed",
        "untouched",
        "accepted",
        "saved",
    ]
    assert [step for step in steps if step in expected] == expected * 3
    tests = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("  test ")]
    assert tests == [["test_words.py", "fails"], ["test_words.py", "passes"]]
    assert '+    """Average."""' in done.stdout
    assert "model      " in done.stdout
    assert "\x1b" not in done.stdout


def test_the_demo_is_side_by_side_where_that_fits(shell: Shell) -> None:
    scripted_demo(shell)
    shell.env["COLUMNS"] = "160"
    shown = shell.run("demo").stdout
    assert any(line.split() == ["before", "after"] for line in shown.splitlines())


def test_demo_removes_its_files(shell: Shell, tmp_path: Path) -> None:
    scripted_demo(shell)
    shell.env["TMPDIR"] = str(tmp_path / "temporary")
    (tmp_path / "temporary").mkdir()
    assert shell.run("demo").returncode == 0
    assert list((tmp_path / "temporary").iterdir()) == []


def test_the_demo_in_a_terminal_can_be_stopped(shell: Shell) -> None:
    shell.script({"text": "never said", "hold": str(shell.folder / "never")})
    screen = Screen(shell, ["demo"])
    screen.wait_for("round 1")
    screen.interrupt()
    assert screen.ended() == 130
    assert "Traceback" not in screen.shown


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("demo",), 1), (("model", "list"), 0), (("doctor",), 1), (("ask", "x"), 1)],
    ids=str,
)
def test_without_any_model_the_user_reads_how_to_get_one(
    shell: Shell, arguments: tuple[str, ...], code: int
) -> None:
    done = shell.run(*arguments)
    assert done.returncode == code
    assert "stet model install" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_the_models_and_the_one_that_would_be_used_are_listed(shell: Shell) -> None:
    done = shell.run("model", "list", env={"OPENAI_API_KEY": "sk-very-secret"})
    assert done.returncode == 0
    assert "OPENAI_API_KEY is set" in done.stdout
    assert "in use: " in done.stdout
    assert "sk-very-secret" not in done.stdout + done.stderr


def test_the_doctor_reports_settings_model_editors_and_folders(shell: Shell) -> None:
    config = Path(shell.env["XDG_CONFIG_HOME"]) / "stet" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[agent]\nmaxIteration = 7\n")
    tools = shell.folder.parent / "bin"
    tools.mkdir()
    for name, version in (("nvim", "NVIM v0.9.5"), ("hx", "helix 25.07.1 (a05c151b)")):
        (tools / name).write_text(f"#!/bin/sh\necho '{version}'\n")
        (tools / name).chmod(0o755)
    shell.env["PATH"] = f"{tools}:{shell.env['PATH']}"
    shell.script({"text": "yes"})
    done = shell.run("doctor")
    assert (done.returncode, done.stderr) == (1, "")
    found = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert f"ok settings {config}" in found
    assert any("did you mean 'agent.maxIterations'?" in line for line in found)
    assert "note Neovim 0.9.5 is too old" in found
    assert "ok Helix 25.07.1" in found
    assert any(line.startswith("ok reply in ") for line in found)
    config.write_text("")
    assert shell.run("doctor").returncode == 0


def test_in_a_hostile_folder_only_our_own_code_is_run(shell: Shell) -> None:
    """Run in a stranger's repository with packages and modules of our names."""
    planted = "open('ran', 'w').close()\nraise SystemExit('planted')\n"
    for name in ("stet", "pygls", "rich"):
        (shell.folder / name).mkdir()
        shell.write(f"{name}/__init__.py", planted)
    shell.write("asyncio.py", planted)
    shell.script({"text": "fine"})
    done = shell.run("ask", "x", "--mode", "ask")
    assert (done.returncode, done.stdout) == (0, "fine\n")
    assert not (shell.folder / "ran").exists()


def test_a_reader_that_leaves_early_is_no_error_message(shell: Shell) -> None:
    command = f"'{sys.executable}' -I -m stet.cli.main --help | true"
    done = subprocess.run(
        ["/bin/sh", "-c", command], env=shell.env, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_demo_works_with_the_embedded_model(shell: Shell) -> None:
    small_model()
    shell.env |= small_only()
    done = shell.run("demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "135 million parameters" in done.stdout
    assert "Fix a bug" not in done.stdout


def test_demo_says_that_a_fix_is_wrong(shell: Shell) -> None:
    head, rest = STATS.split("\n", 1)
    documented = f'{head}\n    """Average."""\n{rest}'
    wrong = WORDS.replace("text.split", "text.upper().split")
    shell.script(block(documented), block(wrong), block("The new parser is faster.\n"))
    done = shell.run("demo")
    assert done.returncode == 0
    assert "test       test_words.py still fails: the fix is wrong" in done.stdout


@pytest.mark.slow
@pytest.mark.long
def test_demo_fixes_a_bug_with_the_medium_model(shell: Shell) -> None:
    shell.env |= medium_only()
    done = shell.run("demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "test       test_words.py passes" in done.stdout


def obliging(asked: HttpRequest) -> Reply:
    """Answer as a provider's model that does both jobs of the demo well."""
    text = asked.body["messages"][-1]["content"]
    request, _, block = text.partition("\n\n```")
    lines = block.split("\n")[1:-1]
    if "docstring" in request:
        lines.insert(1, '    """Average over a moving window."""')
        return api.say("```\n" + "\n".join(lines) + "\n```")
    if "ignore case" in request:
        return api.say("```\n" + WORDS.replace("text.split", "text.lower().split") + "```")
    return api.say("```\nThe new parser is faster than the old one, and it uses less memory.\n```")


async def test_demo_uses_and_names_a_configured_provider(shell: Shell) -> None:
    async with OpenAIServer([obliging] * 3) as server:
        env = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.base_url, "no_proxy": "*"}
        done = await asyncio.to_thread(shell.run, "demo", env=env)
    assert done.returncode == 0, done.stderr
    assert "OPENAI_API_KEY" in done.stdout
    assert '    """Average over a moving window."""\n' in done.stdout
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "xx_YY.nowhere", "PYTHONIOENCODING": "ascii"},
        {
            "HOME": "/nowhere/at/all",
            "XDG_CONFIG_HOME": "",
            "XDG_STATE_HOME": "",
            "XDG_CACHE_HOME": "",
        },
        {"HOME": "/proc/1", "XDG_STATE_HOME": "/dev/null", "XDG_CACHE_HOME": "/proc/nothing"},
        {"HOME": "relative", "TMPDIR": "/nowhere"},
    ],
    ids=["plain locale", "unknown locale", "no home", "unwritable home", "relative home"],
)
def test_the_doctor_never_breaks_wherever_it_is(shell: Shell, env: dict[str, str]) -> None:
    shell.script({"text": "yes"})
    odd = shell.folder / "né\u200b ✓"
    odd.mkdir()
    (odd / ".stet.toml").write_text("[model]\nnäme = '✓'\n")
    done = subprocess.run(
        [*STET, "doctor"],
        cwd=odd,
        env=shell.env | env,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stdout + done.stderr
    assert b"problem" in done.stdout


def test_the_doctor_works_in_a_folder_that_is_gone(shell: Shell) -> None:
    shell.script({"text": "yes"})
    code = f"import os, subprocess, sys; os.rmdir(os.getcwd()); sys.exit(subprocess.call({[*STET, 'doctor']!r}))"
    gone = shell.folder / "gone"
    gone.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=gone,
        env=shell.env,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert "the current folder no longer exists" in done.stdout
    assert "Traceback" not in done.stderr


def test_serve_in_a_terminal_says_what_it_is(shell: Shell) -> None:
    screen = Screen(shell, ["serve"])
    assert screen.ended() == 2
    assert screen.shown.splitlines()[0] == (
        "This is a language server: an editor starts it and talks to it on stdin and stdout."
    )
    assert "stet config neovim --write" in screen.shown


def test_serve_with_stdio_in_a_terminal_waits_for_an_editor(shell: Shell) -> None:
    screen = Screen(shell, ["serve", "--stdio"])
    screen.type("Content-Length: 0\r\n\r\n\x04")
    screen.ended()
    assert "This is a language server" not in screen.shown


def test_doctor_prints_its_findings_as_json(shell: Shell) -> None:
    done = shell.run("doctor", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, done.stderr, report["version"]) == (1, "", __version__)
    assert [finding for finding in report["findings"] if finding["about"] == "model"] == [
        {"mark": "problem", "about": "model", "found": "none", "fix": report["findings"][1]["fix"]}
    ]
    assert {tuple(finding) for finding in report["findings"]} == {("mark", "about", "found", "fix")}


def test_demo_ends_with_the_next_step(shell: Shell) -> None:
    scripted_demo(shell)
    assert shell.run("demo").stdout.splitlines()[-1] == (
        "Next: stet config neovim --write (or vscode, helix, emacs)"
    )


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_is_installed_for_the_shell_that_runs(shell: Shell, name: str) -> None:
    env = {"SHELL": f"/bin/{name}", "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = shell.run("--install-completion", name, env=env)
    assert done.returncode == 0, done.stderr
    files = [path for path in (shell.folder.parent / "home").rglob("*") if path.is_file()]
    assert any("_STET_COMPLETE" in path.read_text() for path in files)
