"""The attachments of questions, and presets: attachments that are saved under a name.

The workspace has the attachments (`Workspace.attachments`). Presets come from the user, who saves
them with `stet.context`, and from the settings; a saved preset hides a preset of the settings with
the same name. Attachments and saved presets outlive the server.
"""

import asyncio
import difflib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import get_args

from stet.settings.values import PresetSettings, Scope
from stet.storage.state_store import StateStore
from stet.workspace.attachments import (
    Attachments,
    NotAttachable,
    attachments_of,
    resolve_attachable,
)
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical, is_tracked
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)

MAX_ATTACHED = 200
"""The most attached files and folders together."""
MAX_DEPTH = 3
"""The greatest depth of followed links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextChange:
    """The changes of one call of `stet.context`, in this order; empty or None: no change.

    Attributes:
        clear: Whether to remove all attachments.
        load: The name of a preset whose attachments replace the current ones.
        remove: The names of attachments to remove.
        add: The names of files and folders to attach.
        scope: The scope in place of the setting `context.scope`, until the attachments are cleared.
        link_depth: The depth in place of the setting `context.linkDepth`, until then.
        save: The name under which to save the resulting attachments as a preset.
        delete: The name of a saved preset to delete.
    """

    clear: bool = False
    load: str | None = None
    remove: tuple[str, ...] = ()
    add: tuple[str, ...] = ()
    scope: Scope | None = None
    link_depth: int | None = None
    save: str | None = None
    delete: str | None = None


def to_json(
    value: Attachments | PresetSettings, name_of: Callable[[str], str] = str
) -> dict[str, object]:
    """Return the JSON form of attachments or a preset, for the store and for the editor.

    Args:
        value: Attachments, which name files by URI, or a preset of the settings.
        name_of: A function that returns the name of a file or folder in the result.
    """
    return {
        "files": [name_of(file) for file in value.files],
        "folders": [name_of(folder) for folder in value.folders],
        "scope": value.scope,
        "linkDepth": value.link_depth,
    }


def from_json(fields: str) -> Attachments | None:
    """Return the attachments of a stored JSON form. Return None and log a warning if the value is
    not an object.
    """
    try:
        value = json.loads(fields)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        log.warning("a stored preset was skipped: it is not an object")
        return None
    scope, depth = value.get("scope"), value.get("linkDepth")
    made = Attachments(
        scope=scope if scope in get_args(Scope) else None,
        link_depth=depth if type(depth) is int and 0 <= depth <= MAX_DEPTH else None,
    )
    files, folders = (list(_uris_in(value.get(key)))[:MAX_ATTACHED] for key in ("files", "folders"))
    return made.with_more(files, folders)


def _uris_in(value: object) -> Iterator[str]:
    """Yield the URIs of files in a list."""
    for uri in value if isinstance(value, list) else ():
        if isinstance(uri, str) and is_tracked(uri):
            yield uri


MAX_PRESETS = 500
MAX_NAME = 100
"""The most characters of a preset's name."""


class UnknownPreset(Exception):
    """There is no preset of a name, or the name is ambiguous; the message has the nearest names."""


class ContextChangeRefused(Exception):
    """The attachments, or a preset, can't be changed in this way; the message says why."""


class PresetController:
    """The attachments and the presets of one server; used on the event loop only."""

    def __init__(self, workspace: Workspace, store: StateStore) -> None:
        """Start without saved presets; `restore` reads them."""
        self._workspace = workspace
        self._store = store
        self._saved: dict[str, Attachments] = {}
        self._changed: set[str] = set()
        """The names of presets that were saved or deleted in this run."""
        self._has_attached = False
        """Whether the attachments were changed in this run."""

    async def restore(self) -> None:
        """Restore the stored attachments and presets, except those that this run has changed."""
        presets, attached = await asyncio.to_thread(self._store.load_presets)
        for name, fields in presets.items():
            if name not in self._changed and (attachments := from_json(fields)) is not None:
                self._saved[name] = attachments
        if not self._has_attached:
            before = None if attached is None else from_json(attached)
            self._workspace.attachments = before or Attachments()

    @property
    def _now(self) -> Attachments:
        """The current attachments."""
        return self._workspace.attachments or Attachments()

    def change(self, requested: ContextChange) -> None:
        """Make all requested changes, or none.

        Raises:
            UnknownPreset: If there is no such preset.
            ContextChangeRefused: If the change is not possible for another reason.
        """
        after = self._attached(requested, Attachments() if requested.clear else self._now)
        presets: dict[str, Attachments | None] = {}
        if requested.save is not None:
            presets[_checked_name(requested.save)] = replace(after, problems=())
            if after.is_empty:
                raise ContextChangeRefused("nothing is attached: `add` files or folders first")
            if len(self._saved.keys() | presets.keys()) > MAX_PRESETS:
                raise ContextChangeRefused(
                    f"the maximum is {MAX_PRESETS} presets: `delete` one first"
                )
        if requested.delete is not None:
            presets[self._find_deletable(requested.delete)] = None
        self._workspace.attachments = after
        self._save(presets)

    def preset_attachments(self, name: str) -> Attachments:
        """Return the attachments of the preset with this name.

        Raises:
            UnknownPreset: If there is no such preset, or the name is ambiguous.
        """
        known = {one.name: one for one in reversed(self._workspace.settings.context.presets)}
        preset = self._match_name(name, (*self._saved, *known))
        if preset in self._saved:
            return self._saved[preset]
        return attachments_of(known[preset], self._workspace.snapshot())

    def state(self) -> dict[str, object]:
        """Return the attachments, a sentence for each attachment that would not be sent, and the
        presets, sorted by name.
        """
        snapshot, now = self._workspace.snapshot(), self._now

        def name_of(uri: str) -> str:
            return snapshot.name_of(uri) or "."

        problems = list(now.problems)
        for name in map(name_of, (*now.files, *now.folders)):
            try:
                resolve_attachable(snapshot, name)
            except NotAttachable as refused:
                problems.append(f"{name}: {refused}")
        presets = {
            one.name: {**to_json(one), "from": "project" if one.project else "settings"}
            for one in self._workspace.settings.context.presets
        }
        presets |= {
            name: {**to_json(one, name_of), "from": "saved"} for name, one in self._saved.items()
        }
        names = sorted(presets, key=lambda name: (name.casefold(), name))
        return {
            **to_json(now, name_of),
            "problems": problems,
            "presets": [{"name": name, **presets[name]} for name in names],
        }

    def renamed(self, uri: str, new_uri: str) -> None:
        """Update attachments and presets after a file or folder was renamed; it stays attached."""
        self._change_all(lambda one: one.renamed(uri, new_uri))

    def deleted(self, uri: str) -> None:
        """Detach a file or folder after its deletion by the user."""
        self._change_all(lambda one: one.without(uri))

    def _change_all(self, change: Callable[[Attachments], Attachments]) -> None:
        after = change(self._now)
        changed: dict[str, Attachments | None] = {
            name: new for name, old in self._saved.items() if (new := change(old)) != old
        }
        if changed or after != self._now:
            self._workspace.attachments = after
            self._save(changed)

    def _attached(self, change: ContextChange, now: Attachments) -> Attachments:
        """Return the attachments after `change` is applied to `now`.

        Raises:
            UnknownPreset, ContextChangeRefused: As in `change`.
        """
        after = now if change.load is None else self.preset_attachments(change.load)
        snapshot = self._workspace.snapshot()
        for name in change.remove:
            gone = _attachment_key(name, after, snapshot)
            after = replace(
                after,
                files=tuple(one for one in after.files if canonical(one) != gone),
                folders=tuple(one for one in after.folders if canonical(one) != gone),
            )
        for name in change.add:
            try:
                found = resolve_attachable(snapshot, name)
            except NotAttachable as refused:
                raise ContextChangeRefused(str(refused)) from refused
            more = (found.uri,)
            after = after.with_more(folders=more) if found.is_folder else after.with_more(more)
        n_attached = len(after.files) + len(after.folders)
        if n_attached > MAX_ATTACHED:
            raise ContextChangeRefused(
                f"that would attach {n_attached} files and folders; the maximum is {MAX_ATTACHED}"
            )
        return replace(
            after,
            scope=change.scope or after.scope,
            link_depth=after.link_depth if change.link_depth is None else change.link_depth,
        )

    def _find_deletable(self, name: str) -> str:
        """Return the name of the saved preset that `name` means.

        Raises:
            UnknownPreset: If there is no such preset.
            ContextChangeRefused: If the preset is one of the settings.
        """
        known = [one.name for one in self._workspace.settings.context.presets]
        found = self._match_name(name, (*self._saved, *known))
        if found not in self._saved:
            raise ContextChangeRefused(
                f"the preset {found!r} is defined in the settings: remove it there"
            )
        return found

    def _match_name(self, name: str, known: Iterable[str]) -> str:
        """Return the name in `known` that equals `name`, ignoring case if the match is unambiguous.

        Raises:
            UnknownPreset: If there is no match, or there are several.
        """
        names = list(dict.fromkeys(known))
        if name in names:
            return name
        alike = [
            candidate for candidate in names if candidate.casefold() == name.strip().casefold()
        ]
        if len(alike) == 1:
            return alike[0]
        if alike:
            raise UnknownPreset(
                f"{name!r} could be {' or '.join(map(repr, alike))}: be more specific"
            )
        folded = {one.casefold(): one for one in names}
        near = difflib.get_close_matches(name.casefold(), folded, n=3)
        if near:
            hint = f"; did you mean {' or '.join(repr(folded[one]) for one in near)}?"
        elif names:
            hint = f"; there are {', '.join(map(repr, sorted(names)[:10]))}"
        else:
            hint = ": none has been saved yet (use `stet.context` with `save`)"
        raise UnknownPreset(f"there is no preset {name!r}{hint}")

    def _save(self, presets: Mapping[str, Attachments | None]) -> None:
        """Change saved presets (None deletes one), and store them and the attachments."""
        self._changed |= presets.keys()
        self._has_attached = True
        after: dict[str, Attachments | None] = {**self._saved, **presets}
        self._saved = {name: one for name, one in after.items() if one is not None}
        rows = {
            name: None if one is None else json.dumps(to_json(one)) for name, one in presets.items()
        }
        self._store.persist_presets(rows, json.dumps(to_json(self._now)))


def _attachment_key(name: str, attached: Attachments, snapshot: Snapshot) -> str:
    """Return the canonical URI of the attachment with the name `name`; the file need not exist.

    Raises:
        ContextChangeRefused: If no attachment has this name.
    """
    names = {snapshot.name_of(uri) or ".": uri for uri in (*attached.files, *attached.folders)}
    wanted_name = name.rstrip("/") or name
    for shown, uri in names.items():
        if wanted_name == shown or canonical(wanted_name) == canonical(uri):
            return canonical(uri)
    try:
        found = resolve_attachable(snapshot, name).uri
    except NotAttachable:
        found = ""
    if found and attached.holds(found):
        return canonical(found)
    near = difflib.get_close_matches(wanted_name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ContextChangeRefused(f"{name!r} is not attached{hint}")


def _checked_name(name: str) -> str:
    """Return `name` as the name of a preset, without surrounding blanks.

    Raises:
        ContextChangeRefused: If `name` is not a valid name.
    """
    name = name.strip()
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise ContextChangeRefused(
            f"a preset name must be one line of at most {MAX_NAME} characters, not {name!r}"
        )
    return name
