"""What an OpenCode session may know of the editor at one moment, through the privacy filter.

Stricter than for a question: that a file has the focus says nothing about whether its user wants it
sent, so a file that is left out by a `.gitignore` is left out here even while they are in it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from stet.context.context_values import EditorLocation, find_current_document
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import path_of

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
    # For the filter nobody is asking about any file.
    world = replace(snapshot, activity=replace(snapshot.activity, active=None), asked=None)
    names, is_focused = _open_files(world, active)
    n_named, room = 0, MAX_NAMES
    for name in names[:MAX_FILES]:
        room -= len(name)
        if room < 0:
            break
        n_named += 1
    return SessionContext(
        tuple(names[:n_named]),
        len(names) - n_named,
        is_focused and n_named > 0,
        None if active is None else _selected(world, active),
        _folders(world, active),
    )


def _open_files(world: Snapshot, active: str | None) -> tuple[list[str], bool]:
    """Names of the files that are open and may be named; whether the first has the focus."""
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
    """As much of `texts` as `left` code points hold."""
    for text in texts:
        if left <= 0:
            return
        yield text[:left]
        left -= len(text)


def _folders(world: Snapshot, active: str | None) -> tuple[str, ...]:
    """Return the root that holds the active file, or the first root. The path is given as written,
    and with links resolved.
    """
    path: Path | None = None if active is None else path_of(active)
    holders = [root.path for root in world.roots if path is not None and root.path in path.parents]
    chosen = max(holders, key=lambda one: len(one.parts), default=None)
    if chosen is None:
        if not world.roots:
            return ()
        chosen = world.roots[0].path
    return tuple(dict.fromkeys((str(chosen), str(world.system.real_path(chosen)))))
