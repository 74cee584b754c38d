"""From a listed command and a model's arguments to what is run."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.settings.values import CommandSettings
from stet.system.command_line import MAX_VALUE, BadCommand, expand, passed_env, placeholders


def command(*argv: str) -> CommandSettings:
    return CommandSettings("it", argv)


def test_an_argument_takes_the_place_of_its_placeholder_within_one_element() -> None:
    grep = command("grep", "-e", "{what}", "--include={glob}", "{}", "{1}", "src")
    assert placeholders(grep) == ("what", "glob")
    assert expand(grep, {"what": "a b; rm -rf {glob} $(x)", "glob": "-*.py"}) == (
        "grep", "-e", "a b; rm -rf {glob} $(x)", "--include=-*.py", "{}", "{1}", "src",
    )  # fmt: skip


@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_no_argument_becomes_another_element_or_an_option(one: str, two: str) -> None:
    shape = command("tool", "--in={one}", "{two}", "pre{one}", "{one}{two}")
    try:
        argv = expand(shape, {"one": one, "two": two})
    except BadCommand:
        return
    assert argv == ("tool", f"--in={one}", two, f"pre{one}", one + two)
    assert not any(part.lstrip().startswith(("-", "+", "@")) for part in argv[2:])
    assert "\0" not in "".join(argv)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "The argument 'file' is missing: 'it' accepts 'file'."),
        ({"file": "a", "x": "b"}, "'it' has no argument 'x': 'it' accepts 'file'."),
        ({"file": " "}, "The argument 'file' is empty."),
        ({"file": "-rf"}, "The argument 'file' may not begin with '-'"),
        ({"file": " --all"}, "may not begin with '-'"),
        ({"file": "@options"}, "may not begin with '@'"),
        ({"file": "+q"}, "may not begin with '+'"),
        ({"file": "a\0b"}, r"holds the control character '\x00'"),
        ({"file": "a\x1b[8m"}, "control character"),
        ({"file": "x" * (MAX_VALUE + 1)}, "has 1001 characters; the maximum is 1000"),
    ],
)
def test_refused_arguments_are_reported_with_a_reason(
    arguments: dict[str, str], message: str
) -> None:
    with pytest.raises(BadCommand, match=re.escape(message)):
        expand(command("rm", "{file}"), arguments)


def test_a_command_without_placeholders_takes_nothing() -> None:
    assert expand(command("make", "test"), {}) == ("make", "test")
    with pytest.raises(BadCommand, match="'it' accepts no arguments"):
        expand(command("make", "test"), {"target": "x"})


@pytest.mark.parametrize(
    "argv",
    [
        (),
        (" ",),
        ("{program}", "x"),
        ("bin/{program}",),
        ("sh", "-c", "grep {text} notes"),
        ("/bin/bash", "-ec", "{text}"),
        ("python3.11", "-I", "-c", "print({text})"),
        ("node", "--eval", "{text}"),
        ("env", "X=1", "bash", "-lc", "ls {text}"),
        ("C:\\Windows\\cmd.exe", "/C", "dir {text}"),
        ("pwsh", "-Command", "{text}"),
        ("env", "-S", "{text}"),
        ("/usr/bin/env", "-S", "python3", "-c", "{text}"),
        ("busybox", "sh", "-c", "{text}"),
        ("/opt/python-3.12/bin/python3.12", "-Ic", "{text}"),
        ("pythonw.exe", "-c", "{text}"),
        ("pypy3", "-c", "{text}"),
        ("nodejs", "-p", "{text}"),
        ("node22", "-pe", "{text}"),
        ("node", "--eval={text}"),
        ("bash", "-c{text}"),
        ("deno", "eval", "{text}"),
        ("bun", "-e", "{text}"),
        ("pwsh-7.exe", "-NoProfile", "-EncodedCommand", "{text}"),
        ("perl5.36", "-ne", "{text}"),
        ("ruby3.2", "-e", "{text}"),
        ("php8.3", "-r", "{text}"),
        ("awk", "{text}", "notes"),
        ("sed", "-n", "{text}", "notes"),
        ("xargs", "{text}"),
        ("sudo", "-u", "me", "{text}"),
        ("timeout", "5s", "{text}"),
        ("env", "A=1", "{text}"),
        ("find", ".", "-exec", "{text}", ";"),
        ("fish", "--init-command", "{text}"),
        ("bash", "-euo", "pipefail", "-c", "grep {text} notes"),
        ("bash", "-o", "pipefail", "-c", "{text}"),
        ("bash", "-O", "extglob", "-c", "{text}"),
        ("bash", "+x", "-c", "{text}"),
        ("bash", "+x", "-c{text}"),
        ("bash", "--rcfile", "x", "-c", "{text}"),
        ("bash", "-c", "-o", "pipefail", "--", "{text}"),
        ("bash", "-ceu", "{text}"),
        ("timeout", "5", "bash", "-o", "pipefail", "-c", "{text}"),
        ("pwsh", "-ExecutionPolicy", "Bypass", "-Command", "{text}"),
        ("cmd", "/c", "dir", "{text}"),
        ("flock", "lock", "-c", "{text}"),
        ("flock", "-w", "5", "lock", "{text}"),
        ("chroot", "/srv", "{text}"),
        ("su", "root", "-c", "{text}"),
        ("su", "root", "--command={text}"),
        ("sqlite3", "db", "{text}"),
        ("psql", "db", "-c", "{text}"),
        ("mysql", "-e{text}"),
        ("git", "-c", "{text}", "status"),
        ("git", "-C", "sub", "-c", "core.pager={text}", "log"),
        ("git", "config", "core.pager", "{text}"),
        ("git", "ls-remote", "--upload-pack={text}", "."),
        ("git", "clone", "--upload-pack", "{text}", "."),
        ("git", "grep", "-O{text}", "x"),
        ("git", "bisect", "run", "{text}"),
        ("ssh", "-o", "ProxyCommand={text}", "host"),
        ("ssh", "-oProxyCommand={text}", "host"),
        ("ssh", "host", "ls", "{text}"),
        ("scp", "-o", "{text}", "a", "b"),
        ("rsync", "-ae", "{text}", "a:b", "."),
        ("tar", "-cf", "x", "--checkpoint-action={text}", "notes"),
        ("tar", "-I", "{text}", "-xf", "x"),
        ("sort", "--compress-program={text}", "notes"),
        ("python3", "-m", "timeit", "{text}"),
        ("python3", "-mtimeit", "-s", "x = 1", "{text}"),
        ("python3", "-m", "{text}"),
        ("ed", "{text}"),
        ("timeout", "5", "ed", "{text}"),
        ("tmux", "new", "-d", "{text}"),
        ("watch", "ls", "{text}"),
        ("setpriv", "--reuid=0", "{text}"),
        ("prlimit", "--nproc=10", "{text}"),
        ("fakeroot", "{text}"),
        ("/lib64/ld-linux-x86-64.so.2", "{text}"),
        ("poetry", "run", "{text}"),
        ("npm", "exec", "--", "{text}"),
        ("nix-shell", "--run", "{text}"),
        ("xargs", "-a", "list", "{text}"),
        ("sudo", "-n", "{text}"),
    ],
)
def test_a_command_that_leaves_the_program_or_a_script_to_the_model_is_not_run(
    argv: tuple[str, ...],
) -> None:
    shape = command(*argv)
    with pytest.raises(BadCommand, match="can't be run"):
        expand(shape, dict.fromkeys(placeholders(shape), "x"))


def test_a_script_may_take_arguments_as_its_own() -> None:
    shape = command("sh", "-c", 'grep -e "$1" notes', "sh", "{text}")
    assert expand(shape, {"text": "$(ls)"})[-1] == "$(ls)"
    for shape in (
        command("python", "-m", "pytest", "-c", "{text}"),
        command("python3.12", "check.py", "{text}"),
        command("npm", "run", "start", "{text}"),
        command("timeout", "5", "grep", "-e", "{text}", "notes"),
        command("sed", "-n", "1p", "{text}"),
        command("env", "A=1", "ls", "{text}"),
        command("make", "-C", "{text}"),
        command("git", "log", "-S", "{text}"),
        command("git", "-c", "core.pager=cat", "log", "{text}"),
        command("git", "switch", "-c", "{text}"),
        command("bash", "-euo", "pipefail", "-c", 'grep -e "$1" notes', "sh", "{text}"),
        command("bash", "-euo", "pipefail", "check.sh", "{text}"),
        command("grep", "-e", "{text}", "ed", "watch"),
        command("poetry", "run", "pytest", "{text}"),
        command("npm", "run", "{text}"),
        command("flock", "lock", "grep", "-e", "{text}", "notes"),
        command("tar", "-xf", "{text}"),
        command("python", "-m", "pytest", "{text}"),
    ):
        assert expand(shape, {"text": "x"}).count("x") == 1


@pytest.mark.parametrize(
    "value", ["X:=$(shell x)", "SHELL=./evil", "$x", "a;b", "a b", "`x`", "a\\b", "a\nb"]
)
@pytest.mark.parametrize(
    "argv",
    [
        ("make", "{v}"),
        ("/usr/bin/gmake", "-s", "{v}"),
        ("timeout", "5", "make", "ARGS={v}"),
        ("mingw32-make.exe", "-C", "{v}"),
    ],
)
def test_make_is_given_names_only(argv: tuple[str, ...], value: str) -> None:
    with pytest.raises(BadCommand, match=r"'v' goes to 'make', .* may hold only letters"):
        expand(command(*argv), {"v": value})
    with pytest.raises(BadCommand, match=r"letters|begin with"):
        expand(command(*argv), {"v": "-n"})
    for name in ("all", "tests/unit/test_a.py::test_b", "build-x86_64", "../a.out"):
        assert any(name in part for part in expand(command(*argv), {"v": name}))


def test_of_the_environment_only_what_is_no_secret_goes_along() -> None:
    known = {
        "PATH": "/usr/bin:.:bin::/bin",
        "HOME": "/home/me",
        "LC_ALL": "C",
        "OPENAI_API_KEY": "sk-1",
        "AWS_SECRET_ACCESS_KEY": "x",
        "SSH_AUTH_SOCK": "/tmp/agent",
        "GITHUB_TOKEN": "x",
        "LD_PRELOAD": "/tmp/x.so",
        "PYTHONPATH": "/ws",
    }
    assert passed_env(known) == {
        "PATH": "/usr/bin:/bin",
        "HOME": "/home/me",
        "LC_ALL": "C",
        "TERM": "dumb",
        "NO_COLOR": "1",
    }
