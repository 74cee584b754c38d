"""`stet search` and `stet index` with a real process, a real server and a real index."""

import json
from pathlib import Path

import pytest

from tests.support.shell import Screen, Shell

GARDEN = "# Garden\n\n## Tomatoes\n\nWater the \x1b[31mtomatoes\x1b[0m in the evening.\n"
APP = 'def retry_request(url):\n    """Ask a server again when it does not answer."""\n'


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell.at(tmp_path)
    (shell.folder / "notes").mkdir()
    shell.write("notes/garden.md", GARDEN)
    shell.write("app.py", APP)
    return shell


def test_what_is_found_is_shown_with_its_place_title_and_reason(shell: Shell) -> None:
    done = shell.run("search", "when do I water tomatoes?", "--limit", "1")
    assert (done.returncode, done.stderr) == (0, "")
    *excerpt, why = done.stdout.splitlines()
    assert excerpt == [
        "notes/garden.md:3: ## Tomatoes",
        "notes/garden.md:5: Water the \\x1b[31mtomatoes\\x1b[0m in the evening.",
    ]
    assert "named: " in why
    assert shell.left_running() == []


def test_search_highlights_the_words_of_the_query_on_a_terminal(shell: Shell) -> None:
    screen = Screen(shell, ["search", "when do I water tomatoes?", "--limit", "1"])
    assert screen.ended() == 0
    assert "\x1b[1;31mTomatoes\x1b[0m" in screen.shown
    assert "\x1b[1;31mWater\x1b[0m" in screen.shown
    assert "\x1b[35mnotes/garden.md\x1b[0m:\x1b[32m5\x1b[0m: " in screen.shown


def test_search_has_no_colour_with_no_color(shell: Shell) -> None:
    shell.env["NO_COLOR"] = "1"
    screen = Screen(shell, ["search", "tomatoes", "--limit", "1"])
    assert screen.ended() == 0
    assert "notes/garden.md:5: Water the" in screen.shown
    assert not any(f"\x1b[{code}" in screen.shown for code in ("1;31m", "31m", "35m", "32m"))


def test_json_is_one_array_and_a_folder_narrows_it(shell: Shell) -> None:
    done = shell.run("search", "ask a server", "--json", "--folder", "notes", "--root", ".")
    hits = json.loads(done.stdout)
    assert done.returncode == int(not hits)
    assert {hit["uri"] for hit in hits} <= {(shell.folder / "notes/garden.md").as_uri()}


def test_with_nothing_to_find_the_code_is_one(shell: Shell, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = shell.run("search", "tomatoes", "--root", str(empty))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "No results for 'tomatoes'.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("search",),
        ("search", " "),
        ("search", "x", "--limit", "0"),
        ("search", "x", "--folder", "nope"),
        ("search", "x", "--root", "nope"),
        ("index", "--root", "nope"),
    ],
    ids=" ".join,
)
def test_a_usage_error_is_code_two_and_one_sentence(
    shell: Shell, arguments: tuple[str, ...]
) -> None:
    done = shell.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_on_a_terminal_the_index_grows_in_sight_and_the_doctor_knows_it(shell: Shell) -> None:
    screen = Screen(shell, ["index", "--rebuild"])
    screen.wait_for("indexing")
    assert screen.ended() == 0
    assert "2 files, " in screen.shown
    reported = shell.run("doctor").stdout
    assert "index     2 files, " in reported
    assert "search    by words and by meaning" in reported
    again = shell.run("index")
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.startswith(f"{shell.folder}: 2 files, ")
