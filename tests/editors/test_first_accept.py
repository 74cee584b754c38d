"""The first accept without documentation: the screen of each step names the next key or command."""

import json
import re
import sys
from pathlib import Path
from time import monotonic

import pytest

from tests.conftest import Part
from tests.editors.conftest import ensure_neovim
from tests.editors.first_minutes import Stranger, config_command
from tests.editors.scripts import GREET, GREET_FILE, greet_script
from tests.editors.terminal import Terminal

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
SECONDS = 60
"""The most time from the start of Neovim to the accept, on a loaded machine."""


class Steps:
    """The steps so far, each with its seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = monotonic()

    def done(self, name: str) -> None:
        """Note the end of a step, and print it."""
        now = monotonic()
        self.seconds[name], self._last = now - self._last, now
        _ = sys.stdout.write(f"{name}: {self.seconds[name]:.1f} s\n")


@pytest.fixture
def stranger(tmp_path: Path, stet: Path) -> Stranger:
    """Make a user who has Stet, a project and an empty home."""
    met = Stranger(tmp_path, stet)
    met.begin({"a.py": GREET})
    return met


def test_each_step_to_the_first_accept_names_the_next_one(stranger: Stranger, part: Part) -> None:
    program = stranger.has("nvim", [part(ensure_neovim)])
    script = stranger.base / "script.json"
    script.write_text(json.dumps(greet_script()))
    steps = Steps()
    # The README names the command, and its output the key that asks.
    message = stranger.runs(config_command("Neovim"))
    steps.done("install the plugin")
    assert "Restart Neovim and open a file." in message
    [ask] = re.findall(r"<leader>\w+(?= asks)", message)
    typed = ask.replace("<leader>", "\\")
    environment = stranger.environment(script) | {"TERM": "xterm-256color"}
    terminal = Terminal([program, "a.py"], environment, stranger.root)
    try:
        terminal.wait_for(f"Stet: {typed} asks, ]v goes to the next hunk, :help stet")
        steps.done("start Neovim")
        terminal.type(typed)
        terminal.wait(lambda rows: rows[-1] == "Stet:", "the command line asks for the question")
        terminal.type("use f-strings")
        terminal.keys("Enter")
        shown = terminal.wait_for("2 hunks to review. ]v next, \\ky accept, \\kn reject")
        assert shown[-1].startswith("Stet: It is done.")
        steps.done("ask")
        terminal.type("]v")
        terminal.wait(lambda rows: "Hunk 1/2" in rows[-1], "the hunk and its number")
        terminal.type("\\ky")
        terminal.wait(_is_accepted, "the new line, and not the old one")
        steps.done("accept")
    finally:
        terminal.close()
    assert (stranger.root / "a.py").read_text() == GREET, "nothing is saved unasked"
    assert sum(steps.seconds.values()) - steps.seconds["install the plugin"] < SECONDS, (
        steps.seconds
    )


def _is_accepted(rows: list[str]) -> bool:
    text = "\n".join(rows)
    return GREET_FILE.first[4] in text and GREET_FILE.before[4] not in text
