"""The context that an OpenCode session is sent: what it may contain, and its text.

`collect_context` reads the editor's state through the privacy filter. The filter is stricter than for a
question: the focus of a file does not say that its user wants the file sent, so a file that a
`.gitignore` excludes is left out here even while it has the focus.

`render_context` returns the text:

    <system-reminder>
    Currently open files in the editor, the one in focus first:
    - src/app.py
    - notes.md

    Selected text (from src/app.py):
    ... between two lines of three double quotes
    </system-reminder>

Other people wrote the names and the selected text. In a tag that OpenCode's model or ours reads as an
instruction, `<` is written `&lt;`. Three or more double quotes in a row, which would end the quotation,
are each written after a backslash. Control characters in names are written as their escapes, and control
tokens of a model's template are broken.
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
        text: The whole of it; "" for none.
        folders: Of the session, in every spelling; the first is the one to ask by.
        pinned: The session's id; "": the most recently updated one of `folders`.
    """

    text: str
    folders: tuple[str, ...]
    pinned: str = ""


MAX_FILES = 50
"""How many open files are named."""
MAX_NAMES = 8000
"""How long their names may be in all, in code points."""


@dataclass(frozen=True, slots=True)
class SelectedText:
    """What is selected.

    Attributes:
        source: What the file is called.
        texts: One for each selected range, in the order of the text, cut at the limit.
        n_cut: How many code points were cut.
    """

    source: str
    texts: tuple[str, ...]
    n_cut: int = 0


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What may be told.

    Attributes:
        files: Names of the open files, the one with the focus first.
        n_more: How many more are open.
        is_focused: Whether the first of them has the focus.
        selected: None where nothing is, or nothing that may be told.
        folders: The workspace folder that the user is in, in every spelling it has; none where there
            is no folder.
    """

    files: tuple[str, ...] = ()
    n_more: int = 0
    is_focused: bool = False
    selected: SelectedText | None = None
    folders: tuple[str, ...] = ()


def collect_context(snapshot: Snapshot) -> SessionContext:
    """Return what may be sent at this moment. Blocking: the filter reads the disk."""
    active = snapshot.activity.active
    # For the filter, no question about a file is active.
    world = replace(snapshot, activity=replace(snapshot.activity, active=None), asked=None)
    names, is_focused = _open_files(world, active)
    lengths = accumulate(map(len, names[:MAX_FILES]))
    n_named = sum(length <= MAX_NAMES for length in lengths)
    return SessionContext(
        tuple(names[:n_named]),
        len(names) - n_named,
        is_focused and n_named > 0,
        None if active is None else _selected(world, active),
        _folders(world, active),
    )


def _open_files(world: Snapshot, active: str | None) -> tuple[list[str], bool]:
    """Return names of the files that are open and may be named; whether the first has the focus."""
    privacy = world.privacy()

    def may_be_named(uri: str) -> bool:
        return path_of(uri) is not None and privacy.check(uri) is None

    others = (uri for uri in world.activity.recent if uri != active)
    names = sorted(world.name_of(uri) for uri in others if may_be_named(uri))
    if active is None or not may_be_named(active):
        return names, False
    return [world.name_of(active), *names], True


def _selected(world: Snapshot, active: str) -> SelectedText | None:
    """Return the selected text of the active file, as far as the text may be shown."""
    current = find_current_document(world, EditorLocation(active))
    if current is None or not current.selected:
        return None
    if world.settings.privacy.redact_secrets:  # whole: a selection may hold part of a key
        for range_ in current.selected if current.document.is_large else ():
            world.learn_around(current.document, range_.start.line, range_.last_line + 1)
        if not current.document.is_large:
            world.redactor.learn(current.document.text)
    texts = [current.document.text_in(range_) for range_ in current.selected]
    left = world.settings.context.selection_limit
    selected_texts = tuple(_take_code_points(texts, left))
    return SelectedText(
        current.name, selected_texts, sum(map(len, texts)) - sum(map(len, selected_texts))
    )


def _take_code_points(texts: list[str], left: int) -> Iterator[str]:
    """Yield as much of `texts` as `left` code points hold."""
    for text in texts:
        if left <= 0:
            return
        yield text[:left]
        left -= len(text)


def _folders(world: Snapshot, active: str | None) -> tuple[str, ...]:
    """Return the root that contains the active file, or the first root.

    The path is returned as written, and with links resolved.
    """
    path: Path | None = None if active is None else path_of(active)
    roots = [root.path for root in world.roots]
    if not roots:
        return ()
    holders = [root for root in roots if path is not None and root in path.parents]
    chosen = max(holders, key=lambda root: len(root.parts), default=roots[0])
    return tuple(dict.fromkeys((str(chosen), str(world.system.real_path(chosen)))))


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
    return "\n".join(lines)


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
