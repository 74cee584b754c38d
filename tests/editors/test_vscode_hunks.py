"""Hunks drawn into the text by the extension in real VS Code, as read from its page."""

import json
from typing import Any

import pytest

from tests.editors.scripts import edit
from tests.editors.vscode import VSCode
from tests.editors.vscode_session import Starts

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

PROSE = (
    "Retries are counted in the scheduler, which knows when a request was sent for the first time. "
    "It waits for two seconds after the first failure, and for twice as long after each further one. "
    "After the fifth failure it gives up."
)
TEXT = f"""\
price: float

label = "Item: " + name

one = 1
two = 2

last = 3

{PROSE}
"""
REPLACED = {
    "price: float\n": "price: Decimal\n",
    'label = "Item: " + name\n': 'label = f"Item: {name}"\n',
    "one = 1\ntwo = 2\n": "",
    "last = 3\n": "last = 3\nnew = 4\nmore = 5\n",
    f"{PROSE}\n": f"{PROSE.replace('for two', 'two')}\n",
}


def proposed(vscode: Starts, **settings: object) -> VSCode:
    """Start an editor with a hunk for each of `REPLACED`."""
    edits = [edit("notes.txt", old, new, "Change") for old, new in REPLACED.items()]
    replies = [
        {"tool_calls": edits},
        {"tool_calls": [{"name": "done", "arguments": {"summary": "Changed."}}]},
    ]
    editor = vscode({"notes.txt": TEXT}, script=json.dumps(replies), settings=settings)
    editor.stet("a")
    editor.fill("Change it")
    editor.wait_for_status("Stet: 5 hunks")
    return editor


def test_hunks_are_drawn_into_the_text(vscode: Starts) -> None:
    editor = proposed(vscode)
    editor.wait(f"() => ({DRAWN})().signs === 5")
    editor.shot("hunks")
    drawn = read_drawn(editor)
    assert drawn["ghosts"] == [
        ["price: float", "Decimal"],
        ['label = "Item: " + name', '→ label = f"Item: {name}"'],
        ["", "↑ + new = 4  ⋯ 1 more line"],
    ]
    assert drawn["struck"][:2] == ["float", '" +']
    assert "for" in drawn["struck"][2]
    assert drawn["removed"] == ["price: float", 'label = "Item: " + name', "one = 1", "two = 2"]
    assert drawn["sentences"] == [PROSE]
    assert drawn["insertions"] == [""]
    editor.click_line("price: float")
    editor.keys("Control+k", "Control+i")
    hover = editor.see(".monaco-hover:not(.hidden)").replace("\u00a0", " ")
    assert hover.count("+price: Decimal") == 1


def test_drawn_hunks_follow_decisions_undo_and_the_toggle(vscode: Starts) -> None:
    editor = proposed(vscode)
    editor.wait(f"() => ({DRAWN})().signs === 5")
    editor.click_line("price: float")
    editor.stet("y")
    editor.wait(f"() => ({DRAWN})().signs === 4 && !({DRAWN})().removed.includes('price: float')")
    editor.keys("Control+z")
    editor.wait(f"() => ({DRAWN})().signs === 5 && ({DRAWN})().removed.includes('price: float')")
    editor.stet("h")
    editor.wait(f"() => ({DRAWN})().removed.length === 0 && ({DRAWN})().ghosts.length === 0")
    assert read_drawn(editor)["signs"] == 5
    editor.stet("h")
    editor.wait(f"() => ({DRAWN})().removed.length === 4")


def test_hunks_differ_by_shape_in_high_contrast(vscode: Starts) -> None:
    theme = {"workbench.colorTheme": "Default High Contrast"}
    editor = proposed(vscode, **theme)
    editor.wait(f"() => ({DRAWN})().signs === 5")
    editor.shot("high-contrast")
    borders = editor.do(lambda page: page.evaluate(f"({BORDERS})()"))
    assert len(borders["ghosts"]) == 3
    assert set(borders["ghosts"]) == {"solid"}
    assert set(borders["words"]) == {"solid"}
    shapes = editor.do(lambda page: page.evaluate(f"({DRAWN})().shapes"))
    assert len(set(shapes)) == 3


def read_drawn(editor: VSCode) -> Any:
    return editor.do(lambda page: page.evaluate(f"({DRAWN})()"))


DRAWN = r"""() => {
  const editor = document.querySelector('.editor-instance .monaco-editor');
  const color = (name) => {
    const probe = editor.appendChild(document.createElement('i'));
    probe.style.color = `var(--vscode-${name})`;
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  const plain = (text) => text.replace(/\u00a0/g, ' ');
  const lines = [...editor.querySelectorAll('.view-line')]
    .sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top));
  const ghosts = [];
  const struck = [];
  for (const line of lines) {
    for (const part of line.querySelectorAll('span')) {
      const content = getComputedStyle(part, '::after').content;
      if (content !== 'none' && content !== 'normal') {
        ghosts.push([plain(line.textContent), plain(JSON.parse(content))]);
      }
      const isStruck = getComputedStyle(part).textDecorationLine.includes('line-through');
      if (isStruck && part.textContent) struck.push(plain(part.textContent));
    }
  }
  const at = (element) => {
    const { top } = element.getBoundingClientRect();
    const near = lines.find((line) => Math.abs(line.getBoundingClientRect().top - top) < 3);
    return near ? plain(near.textContent) : null;
  };
  const removed = [];
  const sentences = [];
  const insertions = [];
  for (const part of editor.querySelectorAll('.view-overlays .cdr')) {
    const style = getComputedStyle(part);
    if (style.backgroundColor === color('diffEditor-removedLineBackground')) {
      const isWhole = part.offsetWidth >= part.parentElement.offsetWidth;
      (isWhole ? removed : sentences).push(at(part));
    }
    if (style.borderTopStyle === 'dashed' && parseFloat(style.borderTopWidth)) {
      insertions.push(at(part));
    }
  }
  const shapes = [...editor.querySelectorAll('.glyph-margin-widgets .cgmr')]
    .map((sign) => getComputedStyle(sign).backgroundImage).filter((image) => image !== 'none');
  return { ghosts, struck, removed, sentences, insertions, signs: shapes.length, shapes };
}"""
"""A function of the page: what is drawn, from the top to the bottom."""
BORDERS = r"""() => {
  const editor = document.querySelector('.editor-instance .monaco-editor');
  const parts = [...editor.querySelectorAll('.view-line span')];
  const ghosts = parts.map((part) => getComputedStyle(part, '::after'))
    .filter(({ content }) => content !== 'none' && content !== 'normal');
  const words = [...editor.querySelectorAll('.view-overlays .cdr')].map((part) =>
    getComputedStyle(part)).filter(({ borderTopStyle }) => borderTopStyle === 'solid');
  return {
    ghosts: ghosts.map((style) => style.borderTopStyle),
    words: words.map((style) => style.borderTopStyle),
  };
}"""
