"""An argument that selects the program to run is distinguished from one that is only data."""

import pytest

from stet.settings.values import CommandSettings
from stet.system.command_line import selector_argument

CHOOSE = (
    "bash {file}", "sh ./{file}", "bash -x {file}", "python3 {file}", "python3 -I {file} x", "node {file}",
    "env A=1 bash {file}", "timeout 5 python {file}", "git {sub}", "git -C x {sub}", "git --no-pager {sub} {x}",
    "git config {name} {value}", "git bisect {x}", "npm {sub}", "npm run {script}", "npm --prefix {dir} test", "cargo {sub}",
    "go run {file}", "docker {sub}", "docker exec {x}", "uv run {x}", "poetry run python {file}", "pip {sub} x",
    "/usr/bin/git {sub}", "ruby {file}", "perl -w {file}",
)  # fmt: skip
WORK_ON = (
    "grep -e {text} notes", "ls {folder}", "git log {ref} --", "git -C {dir} status", "git show {ref}:a.md", "git status",
    "bash run.sh {x}", "python3 tool.py {file}", "python3 -m pytest {file}", "node a.js {x}", "pytest {file}", "cargo test {name}",
    "go test {package}", "npm view {name}", "docker logs {x}", "cat {file}", "make {target}", "ruff check {file}",
    "sh -c 'grep -e \"$1\" notes' sh {text}",
)  # fmt: skip


def command(line: str) -> CommandSettings:
    import shlex

    return CommandSettings("c", tuple(shlex.split(line)))


@pytest.mark.parametrize("line", CHOOSE)
def test_selector_chooses_what_runs(line: str) -> None:
    assert "{" in selector_argument(command(line))


@pytest.mark.parametrize("line", WORK_ON)
def test_argument_is_data_only(line: str) -> None:
    assert selector_argument(command(line)) == ""
