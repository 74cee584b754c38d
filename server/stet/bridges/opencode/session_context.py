"""The context that is sent to an OpenCode session: what it may contain, and its text.

`collect_context` reads the editor's state through the privacy filter. The filter is stricter than
for a question: a file that a `.gitignore` excludes is left out even while it has the focus, because
the focus is not a request to send the file.

`render_context` returns the text:

    <system-reminder>
    Currently open files in the editor, the one in focus first:
    - src/app.py
    - notes.md

    Selected text (from src/app.py):
    ... between two lines of three double quotes
    </system-reminder>

The names and the selected text are untrusted. In a tag that a model may read as an instruction, `<`
is written `&lt;`. Three or more double quotes in a row, which would end the quotation, are each
written after a backslash. Control characters in names are escaped, and control tokens of a model's
template are broken.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from stet.context.context_values import (
    EditorLocation,
    escape_tags,
    find_current_document,
    single_line,
)
from stet.text.spoofing import escape_special_tokens
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import path_of


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One live context part.

    Attributes:
        text: The text of the part; "" for no part.
        folders: The spellings of the session's folder; requests name the first.
        pinned: The session's id; "" for the most recently updated session of `folders`.
    """

    text: str
    folders: tuple[str, ...]
    pinned: str = ""


MAX_FILES = 50
"""The most open files that are named."""
MAX_NAMES = 8000
"""The limit for all names together, in code points."""


@dataclass(frozen=True, slots=True)
class SelectedText:
    """The selected text of one file.

    Attributes:
        source: The name of the file.
        texts: The text of each selected range, in order of position, cut at the limit.
        n_cut: The number of code points that were cut.
    """

    source: str
    texts: tuple[str, ...]
    n_cut: int = 0


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The state of the editor that may be sent.

    Attributes:
        files: Names of the open files, the file with the focus first.
        n_more: The number of further open files.
        is_focused: Whether the first file has the focus.
        selected: The selected text; None if there is none that may be sent.
        folders: The spellings of the user's workspace folder; empty without a folder.
    """

    files: tuple[str, ...] = ()
    n_more: int = 0
    is_focused: bool = False
    selected: SelectedText | None = None
    folders: tuple[str, ...] = ()


def collect_context(snapshot: Snapshot) -> SessionContext:
    """Return the state that may be sent now. Blocking: the filter reads the disk."""
    active = snapshot.activity.active
    # For the filter, no question about a file is active.
    snapshot = replace(
        snapshot, activity=replace(snapshot.activity, active=None), question_uri=None
    )
    names, is_focused = _open_files(snapshot, active)
    lengths = accumulate(map(len, names[:MAX_FILES]))
    n_named = sum(length <= MAX_NAMES for length in lengths)
    return SessionContext(
        tuple(names[:n_named]),
        len(names) - n_named,
        is_focused and n_named > 0,
        None if active is None else _selected(snapshot, active),
        _folders(snapshot, active),
    )


def _open_files(snapshot: Snapshot, active: str | None) -> tuple[list[str], bool]:
    """Return the names of open files that may be sent, and whether the first has the focus."""
    privacy = snapshot.privacy()

    def may_be_named(uri: str) -> bool:
        return path_of(uri) is not None and privacy.check(uri) is None

    others = (uri for uri in snapshot.activity.recent if uri != active)
    names = sorted(snapshot.name_of(uri) for uri in others if may_be_named(uri))
    if active is None or not may_be_named(active):
        return names, False
    return [snapshot.name_of(active), *names], True


def _selected(snapshot: Snapshot, active: str) -> SelectedText | None:
    """Return the selected text of the active file, as far as the text may be shown."""
    current = find_current_document(snapshot, EditorLocation(active))
    if current is None or not current.selected:
        return None
    if snapshot.settings.privacy.redact_secrets:  # the whole text: a selection may cut a key
        for range_ in current.selected if current.document.is_large else ():
            snapshot.learn_around(current.document, range_.start.line, range_.last_line + 1)
        if not current.document.is_large:
            snapshot.redactor.learn(current.document.text)
    texts = [current.document.text_in(range_) for range_ in current.selected]
    left = snapshot.settings.context.selection_limit
    selected_texts = tuple(_take_code_points(texts, left))
    return SelectedText(
        current.name, selected_texts, sum(map(len, texts)) - sum(map(len, selected_texts))
    )


def _take_code_points(texts: list[str], left: int) -> Iterator[str]:
    """Yield the beginning of `texts`, at most `left` code points in all."""
    for text in texts:
        if left <= 0:
            return
        yield text[:left]
        left -= len(text)


def _folders(snapshot: Snapshot, active: str | None) -> tuple[str, ...]:
    """Return the root that contains the active file, or the first root.

    The path is returned as written, and with links resolved.
    """
    path: Path | None = None if active is None else path_of(active)
    roots = [root.path for root in snapshot.roots]
    if not roots:
        return ()
    holders = [root for root in roots if path is not None and root in path.parents]
    chosen = max(holders, key=lambda root: len(root.parts), default=roots[0])
    return tuple(dict.fromkeys((str(chosen), str(snapshot.system.real_path(chosen)))))


_TAG = re.compile(r"<(?=\s*+/?+\s*+system(?:[-_\s]*+reminder|(?![\w-])))", re.IGNORECASE)
_QUOTES = '"' * 3
_QUOTATION = re.compile(r'"{3,}')


def render_context(context: SessionContext) -> str:
    """Return the whole part, or "" if there is nothing to report."""
    parts = [part for part in (_files(context), _selection(context.selected)) if part]
    if not parts:
        return ""
    inside = "\n\n".join(parts)
    return f"<system-reminder>\n{inside}\n</system-reminder>"


def _files(context: SessionContext) -> str:
    if not context.files:
        return ""
    focus = ", the one in focus first" if context.is_focused else ""
    lines = [f"Currently open files in the editor{focus}:"]
    lines += [f"- {_name(name)}" for name in context.files]
    if context.n_more:
        lines.append(f"(and {context.n_more} more)")
    # A tag may begin in one name and end in the next.
    return _TAG.sub("&lt;", "\n".join(lines))


def _selection(selected: SelectedText | None) -> str:
    if selected is None or not selected.texts:
        return ""
    # The ranges are separate; each begins on a new line. They are joined first, because a tag may
    # begin in one range and end in the next.
    text = _escape_markup(escape_tags("\n".join(selected.texts)))
    quoted = text if text.endswith("\n") else f"{text}\n"
    cut = f"(cut: {selected.n_cut} more characters are selected)\n" if selected.n_cut else ""
    return f"Selected text (from {_name(selected.source)}):\n{_QUOTES}\n{quoted}{_QUOTES}\n{cut}".rstrip(
        "\n"
    )


def _name(text: str) -> str:
    return _escape_markup(single_line(text))


def _escape_markup(text: str) -> str:
    text = _TAG.sub("&lt;", escape_special_tokens(text))
    return _QUOTATION.sub(lambda found: r"\"" * len(found[0]), text)
