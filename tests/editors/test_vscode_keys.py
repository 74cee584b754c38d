"""Keys, palette and badges of the extension in real VS Code."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.editors import scenario as given
from tests.editors.scenario import AMOUNT, EMPTY, LABEL
from tests.editors.vscode import VSCode
from tests.editors.vscode_screen import DEADLINE
from tests.editors.vscode_session import Starts

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

MANIFEST = Path(__file__).parents[2] / "client-configs" / "vscode" / "package.json"
ROWS = ".quick-input-list .monaco-list-row"
ALWAYS = {"Restart Server", "Show Log", "Help"}
DECIDING = {"Accept All Hunks", "Reject All Hunks", "Next Hunk", "Review All as One Diff"}
ON_A_HUNK = {"Accept Hunk", "Reject Hunk"}


KEYS = """
alt+a a       | ask         | editorTextFocus
alt+a e       | askOnly     | editorTextFocus
alt+a r       | rewrite     | editorHasSelection && !editorReadonly
alt+a i       | carryOut    | editorTextFocus && !editorReadonly
alt+a y       | accept      | editorTextFocus && stet.hasHunks
alt+a n       | reject      | editorTextFocus && stet.hasHunks
alt+a shift+y | acceptFile  | editorTextFocus && stet.hasHunks
alt+a shift+n | rejectFile  | editorTextFocus && stet.hasHunks
alt+a down    | next        | stet.hasHunks
alt+a up      | previous    | stet.hasHunks
alt+a c       | resolve     | editorTextFocus && stet.hasHunks
alt+a u       | undo        | editorTextFocus && stet.isRunning
alt+a b       | restore     | editorTextFocus && stet.isRunning
alt+a d       | diff        | editorTextFocus && stet.hasHunks
alt+a p       | preview     | editorTextFocus && stet.hasHunks
alt+a h       | toggle      | stet.hasHunks
alt+a shift+d | review      | stet.hasHunks
alt+a t       | openChat    |
alt+a shift+t | newChat     |
alt+a o       | listChats   | stet.isRunning
alt+a s       | send        | stet.isRunning
alt+a shift+a | chooseAgent | stet.isRunning
alt+a w       | steer       | stet.turnRunning
alt+a q       | answer      | stet.isAsking
alt+a x       | cancel      | stet.turnRunning
alt+a v       | showContext | stet.isRunning
alt+a g       | sendSelection | editorTextFocus && stet.isRunning
alt+a f       | search      | stet.isRunning
alt+a l       | attach      | stet.isRunning
alt+a shift+l | attached    | stet.isRunning
alt+a m       | menu        |
ctrl+enter    | send        | editorTextFocus && stet.inChat
"""
"""All keys that the extension contributes: the key, the command, and when it is active. A key that
begins with the prefix is also inactive in the accessibility help, which has `alt+a` by default.
"""
PREFIX = "alt+a "
IN_HELP = "accessibilityHelpIsShown"
REPLACED_IN_CHATS = {"editor.action.insertLineAfter"}
"""The default commands of `ctrl+enter` that an editor has; in a chat it sends the message."""


def test_every_key_is_listed_with_the_context_in_which_it_is_active() -> None:
    rows = [[part.strip() for part in row.split("|", 2)] for row in KEYS.strip().splitlines()]
    listed = {key: (command, when) for key, command, when in rows}
    own = json.loads(MANIFEST.read_text())["contributes"]["keybindings"]
    assert {key["key"]: key["command"].removeprefix("stet.ui.") for key in own} == {
        key: command for key, (command, _) in listed.items()
    }
    for key in own:
        contexts = [part for part in listed[key["key"]][1].split(" && ") if part]
        if key["key"].startswith(PREFIX):
            contexts.append(f"!{IN_HELP}")
        assert contexts, f"{key['key']} has no context"
        assert key["when"].split(" && ") == contexts
        on_mac = key["key"].replace(PREFIX, "ctrl+cmd+a ").replace("ctrl+enter", "cmd+enter")
        assert key["mac"] == on_mac


def test_no_key_clashes_with_a_default_of_vs_code_in_its_context(vscode: Starts) -> None:
    editor = vscode({"a.py": "a = 1\n"})
    editor.palette("Preferences: Open Default Keyboard Shortcuts (JSON)")
    editor.see('.tab.active:has-text("Default Keybindings")')
    defaults = [one for one in bindings(editor.text()) if not one["command"].startswith("stet.")]
    assert len(defaults) > 500
    own = json.loads(MANIFEST.read_text())["contributes"]["keybindings"]
    for key in own:
        same = [one for one in defaults if one["key"].split(" ")[0] == key["key"].split(" ")[0]]
        clashes = [one for one in same if not excluded(key["when"]) & contexts_of(one)]
        if key["key"] == "ctrl+enter":
            in_editor = [one for one in clashes if "editorTextFocus" in contexts_of(one)]
            assert {one["command"] for one in in_editor} == REPLACED_IN_CHATS
        else:
            assert clashes == [], key


def contexts_of(binding: Any) -> set[str]:
    """Return the contexts that must all be true for a key."""
    return set(binding.get("when", "").split(" && "))


def excluded(when: str) -> set[str]:
    """Return the contexts in which a key is inactive."""
    return {part.removeprefix("!") for part in when.split(" && ") if part.startswith("!")}


def bindings(text: str) -> Any:
    """Parse a page of keyboard shortcuts: JSON with comments on their own lines."""
    start = text.index("[\n")
    lines = text[start : text.index("\n]", start) + 2].splitlines()
    return json.loads("\n".join(line for line in lines if not line.lstrip().startswith("//")))


def test_palette_offers_what_can_be_done_here(vscode: Starts) -> None:
    editor = vscode(dict(given.FILES), script=given.script())
    wait_for_offer(
        editor,
        ALWAYS | {"Ask or Instruct…", "Search…", "Open Chat"},
        without=DECIDING | ON_A_HUNK | {"Cancel Turn", "Answer Question…"},
    )
    editor.stet("a")
    editor.fill(given.TIDY)
    editor.wait_for_status("Stet: 4 hunks")
    editor.click_line("def total(prices):")
    wait_for_offer(editor, DECIDING | {"Accept All Hunks in File"}, without=ON_A_HUNK)
    editor.click_line(LABEL.old)
    wait_for_offer(editor, DECIDING | ON_A_HUNK)
    editor.go_to("stock.py")
    editor.click_line(EMPTY.old)
    editor.stet("Shift+n")
    editor.wait_for_status("Stet: 2 hunks")
    wait_for_offer(editor, DECIDING, without=ON_A_HUNK | {"Accept All Hunks in File"})


def wait_for_offer(
    editor: VSCode, wanted: set[str], *, without: set[str] | frozenset[str] = frozenset()
) -> None:
    """Open the palette until it lists the wanted commands, and none of the others.

    The extension sets context keys a moment after the cursor has moved, and an open palette keeps
    the commands that it listed first.
    """
    until = time.monotonic() + DEADLINE
    while not ((now := offered(editor)) >= wanted and now.isdisjoint(without)):
        assert time.monotonic() < until, f"missing {wanted - now}, too many {now & without}"


def offered(editor: VSCode) -> set[str]:
    """Return the titles of Stet's commands in the palette, here and now."""
    editor.keys("F1")
    editor.do(lambda page: page.wait_for_selector(".quick-input-widget input:focus"))
    editor.type("Stet: ")
    editor.see(f'{ROWS}[aria-setsize]:has-text("Stet: Help")')
    # Without the filter, the palette lists some hundred commands.
    editor.wait(f"() => document.querySelector({ROWS!r})?.ariaSetSize < 100")
    found: dict[str, str] = {}
    n_rows = 1
    while len(found) < n_rows:
        for index, size, text in editor.do(lambda page: page.evaluate(VISIBLE_ROWS, ROWS)):
            found[index], n_rows = text, int(size)
        editor.keys("PageDown")
    editor.keys("Escape")
    names = (re.match(r"Stet: ([^\n]+)", text.strip()) for text in found.values())
    return {name[1] for name in names if name}


VISIBLE_ROWS = """rows => [...document.querySelectorAll(rows)].map(row =>
  [row.dataset.index, row.ariaSetSize, row.innerText.replace(/\\u00a0/g, ' ')])"""


def test_explorer_shows_the_number_of_pending_hunks(vscode: Starts) -> None:
    editor = vscode(dict(given.FILES), script=given.script())
    editor.stet("a")
    editor.fill(given.TIDY)
    editor.wait_for_status("Stet: 4 hunks")
    editor.see(badge("cart.py", "2 pending hunks"))
    editor.see(badge("stock.py", "2 pending hunks"))
    editor.shot("badges")
    editor.click_line(LABEL.old)
    editor.stet("y")
    editor.see(badge("cart.py", "1 pending hunk"))
    editor.click_line(AMOUNT.old)
    editor.stet("y")
    editor.wait_for_status("Stet: 2 hunks")
    editor.wait("row => !document.querySelector(row)", badge("cart.py", "pending"))


def badge(name: str, tooltip: str) -> str:
    """Return the selector of a file in the explorer with this tooltip."""
    row = f'.explorer-folders-view .monaco-list-row[aria-label^="{name}"]'
    return f'{row} [aria-label*="{tooltip}"]'
