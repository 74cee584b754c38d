"""The twelve steps of a review in real Helix, each on a screen written by hand."""

import json
from pathlib import Path

import pytest

from tests.conftest import Part
from tests.editors import steps
from tests.editors.helix import Start
from tests.editors.helix_screen import HelixScreen, prepare
from tests.parts import helix

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
MAY_DELETE = "[language-server.stet.config.stet]\nagent = { disabledTools = [] }\n"


def test_the_twelve_steps_of_a_review(part: Part, tmp_path: Path) -> None:
    begin = Start(part(lambda: helix.ensure("25.07")), tmp_path, "config.toml")
    held = tmp_path / "go on"
    prepare(begin, steps.TEXTS, json.dumps(steps.script(str(held))), MAY_DELETE)
    screen = HelixScreen(begin, "pet.txt")
    try:
        propose(screen)
        propose_files(screen)
        decide(screen)
        talk(screen, held)
        quit_helix(screen)
    finally:
        screen.close()
    again = HelixScreen(begin, "many.txt")
    try:
        again.check("12_reopened")
    finally:
        again.close()


def propose(screen: HelixScreen) -> None:
    screen.go(2)
    screen.ask(steps.RENAME)
    screen.check("01_rename")
    screen.open("wind.md")
    screen.go(3)
    screen.ask(steps.CALM)
    screen.check("02_calm")
    screen.open("old.txt")
    screen.ask(steps.SHORTEN)
    screen.terminal.wait_for("1 hunk to review.")
    screen.terminal.keys("]")
    screen.terminal.wait_for("stet.next")
    screen.terminal.keys("h")
    screen.check("03_shorten")
    screen.open("many.txt")
    screen.ask(steps.CAPITALS)
    screen.check("04_capitals")


def propose_files(screen: HelixScreen) -> None:
    screen.ask(steps.FILES)
    screen.terminal.wait_for("Delete gone.txt? nobody reads it")
    screen.terminal.keys("Enter")
    screen.terminal.wait_for("Tidied the files.")
    screen.key("l")
    screen.terminal.wait_for("│ ")
    screen.terminal.paste("txt")
    screen.terminal.wait_for("2/35")
    screen.terminal.keys("Down")
    screen.check("05_files")
    screen.terminal.keys("C-c")
    screen.terminal.wait_until_gone("│ ")


def decide(screen: HelixScreen) -> None:
    screen.open("pet.txt")
    screen.go(2)
    screen.key("y")
    screen.check("06_accepted")
    screen.open("wind.md")
    screen.go(3)
    screen.key("n")
    screen.check("07_rejected")
    screen.open("pet.txt")
    screen.terminal.keys("u")
    screen.check("08_undone")
    screen.go(2)
    screen.terminal.keys("w", "w", "c")
    screen.terminal.wait_for(" INS ")
    screen.terminal.paste("cow ")
    screen.terminal.wait_for("The cow sat")
    screen.terminal.keys("Escape")
    screen.check("09_conflict")


def talk(screen: HelixScreen, held: Path) -> None:
    screen.ask(steps.EXPLAIN)
    screen.check("10_answer")
    screen.key("t")
    screen.terminal.wait_for("main.md")
    write_in_chat(screen, steps.GO_ON)
    screen.terminal.wait_for("round 1 of 10*")
    write_in_chat(screen, steps.SHORTER)
    screen.terminal.wait_for("## Stet (t7)")
    screen.terminal.keys("z", "t")
    held.touch()
    screen.check("11_chat")


def write_in_chat(screen: HelixScreen, text: str) -> None:
    screen.terminal.keys("g", "e")
    screen.insert("A", text)
    screen.key("s")


def quit_helix(screen: HelixScreen) -> None:
    screen.command("write-all")
    screen.terminal.wait_until_gone("[+]")
    screen.command("quit-all!")
    screen.wait_for_end()
