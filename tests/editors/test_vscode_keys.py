"""Keys, palette and badges of the extension in real VS Code."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.editors import scenario as given
from tests.editors.scenario import AMOUNT, EMPTY, LABEL
from tests.editors.vscode import VSCode
from tests.editors.vscode_session import Starts

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

MANIFEST = Path(__file__).parents[2] / "client-configs" / "vscode" / "package.json"
ROWS = ".quick-input-list .monaco-list-row"
ALWAYS = {"Restart Server", "Show Log", "Help"}
DECIDING = {"Accept All Hunks", "Reject All Hunks", "Next Hunk", "Review All as One Diff"}
ON_A_HUNK = {"Accept Hunk", "Reject Hunk"}


def test_keys_shadow_no_default_of_vs_code(vscode: Starts) -> None:
    editor = vscode({"a.py": "a = 1\n"})
    editor.palette("Preferences: Open Default Keyboard Shortcuts (JSON)")
    editor.see('.tab.active:has-text("Default Keybindings")')
    defaults = [one for one in bindings(editor.text()) if not one["command"].startswith("stet.")]
    assert len(defaults) > 500
    own = json.loads(MANIFEST.read_text())["contributes"]["keybindings"]
    for key in (one for one in own if "stet.inChat" not in one["when"]):
        for other in defaults:
            if other["key"].split(" ")[0] == key["key"].split(" ")[0]:
                assert set(other["when"].split(" && ")) & excluded(key["when"]), (key, other)


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
    before = offered(editor)
    assert before >= ALWAYS | {"Ask or Instruct…", "Search…", "Open Chat"}
    assert before.isdisjoint(DECIDING | ON_A_HUNK | {"Cancel Turn", "Answer Question…"})
    editor.stet("a")
    editor.fill(given.TIDY)
    editor.wait_for_status("Stet: 4 hunks")
    editor.click_line("def total(prices):")
    on_no_hunk = offered(editor)
    assert on_no_hunk >= DECIDING | {"Accept All Hunks in File"}
    assert on_no_hunk.isdisjoint(ON_A_HUNK)
    editor.click_line(LABEL.old)
    assert offered(editor) >= DECIDING | ON_A_HUNK
    editor.go_to("stock.py")
    editor.click_line(EMPTY.old)
    editor.stet("Shift+n")
    editor.wait_for_status("Stet: 2 hunks")
    assert offered(editor).isdisjoint(ON_A_HUNK | {"Accept All Hunks in File"})


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
