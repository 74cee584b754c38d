"""The whole window of VS Code as rows of text with colours, in the form of the terminal screens.

Sections begin with a title in brackets: the explorer, each group of editors by the name of its
active tab, messages, the status bar. A row of an editor has the sign beside the line, the number of
the line and the text as it is drawn, with inserted text where it is shown. A row that begins with
`@` says how the row above it is painted, as in `tests.editors.painted`, with these letters:

- `d`: removed line or sentence; `D`: removed word, struck through; `a`: inserted text;
  `c`: conflict; `p`: the name of a file with pending hunks; `x`: a removed word that is not struck
- `d*`: the whole width of the row
- `top`, `bottom`: a dashed line at this edge of the row, where text is inserted

The title of the group with the focus ends with `*`, that of an unsaved file has `(unsaved)`.
"""

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Frame, Page

from tests.editors.vscode import VSCode

SCRIPT = Path(__file__).with_suffix(".js").read_text()
INDENT = " " * 6
"""The columns of the sign and the number of a line."""
CHAT = re.compile(r"^chat-[0-9a-f]+-")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
TOKENS = re.compile(r"[\d,]+ tokens in(?:, [\d,]+ of them cached)?, [\d,]+ out")
USAGE = re.compile(r" \(\d+ rounds?,[^)]*\)")


def painted_window(editor: VSCode) -> list[str]:
    """Return the window in the form of the files."""
    return editor.do(_rows)


def _rows(page: Page) -> list[str]:
    shown = page.evaluate(SCRIPT)
    rows = ["[explorer]"]
    for file in shown["files"]:
        rows.append(f"{file['name']} {file['badge']}".rstrip())
        if file["letter"]:
            rows.append(f"@ {file['letter']}0-{len(file['name'])}")
    for group in shown["groups"]:
        rows += _group(group, page)
    for toast in shown["toasts"]:
        buttons = "".join(f" <{button}>" for button in toast["buttons"])
        rows += ["[message]", *f"{USAGE.sub('', toast['text'])}{buttons}".split("\n")]
    status = ", ".join(filter(None, (shown["status"], shown["cursor"])))
    return [*rows, "[status]", status]


def _group(group: Any, page: Page) -> list[str]:
    unsaved, focus = " (unsaved)" if group["isDirty"] else "", "*" if group["hasFocus"] else ""
    rows = [f"[{CHAT.sub('chat-', group['tab'])}{unsaved}]{focus}"]
    if not group["editors"]:
        return [*rows, *_web_page(page)]
    for row in (row for editor in group["editors"] for row in editor):
        if "lens" in row:
            rows.append(f"{INDENT}{row['lens']}")
            continue
        text = _masked("".join(text for text, _ in row["cells"]))
        rows.append(f"{row['sign']}{row['number']:>4} {text}".rstrip())
        letters = INDENT + "".join((letter or " ") * len(text) for text, letter in row["cells"])
        runs = [f"{letter}*" for letter in sorted(set(row["whole"]))]
        covered = "".join(sorted(set(row["whole"])))
        runs += _runs(letters[: len(rows[-1])], covered)
        runs += sorted(set(row["edges"]))
        if runs:
            rows.append(f"@ {' '.join(runs)}")
    while not rows[-1].strip():
        rows.pop()
    return rows


def _runs(letters: str, covered: str) -> list[str]:
    """Return the runs of one letter, without those of the whole row."""
    found = re.finditer(r"(\S)\1*", letters)
    return [f"{run[1]}{run.start()}-{run.end()}" for run in found if run[1] not in covered]


def _web_page(page: Page) -> list[str]:
    """Return the text of the page beside the code: the preview of a chat."""
    for frame in reversed(page.frames):
        if (text := _text_of(frame)) is not None:
            return text
    return []


def _text_of(frame: Frame) -> list[str] | None:
    try:
        found = frame.evaluate(BLOCKS)
    except PlaywrightError:
        return None  # the page is being loaded
    return None if found is None else [_masked(line) for line in found]


def _masked(text: str) -> str:
    """Return a text without what differs in each run: times and numbers of tokens."""
    return TOKENS.sub("N tokens in, N out", TIME.sub("0000-00-00T00:00:00Z", text))


BLOCKS = """() => {
  const main = document.querySelector('main');
  const marks = { H1: '# ', H2: '## ', H3: '### ', LI: '- ', BLOCKQUOTE: '> ' };
  return main && [...main.querySelectorAll('h1, h2, h3, p, li, pre')].filter((block) => {
    const { top, bottom } = block.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  }).map((block) => {
    const mark = marks[block.tagName] ?? marks[block.parentElement.tagName] ?? '';
    return `${mark}${block.innerText.replace(/\\s+/g, ' ').trim()}`;
  });
}"""
"""A function of the page that returns its visible blocks as Markdown; null for other pages."""
