"""What `stet.context` is told and tells, and presets as the store keeps them. All values."""

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from stet.settings.values import PresetSettings, Scope
from stet.workspace.attachments import Attachments
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import is_tracked

log = logging.getLogger(__name__)

MAX_ATTACHED = 200
"""Files and folders together."""
MAX_DEPTH = 3
"""Of links."""

Origin = Literal["saved", "settings", "project"]


@dataclass(frozen=True, slots=True)
class AttachmentPreset:
    """A preset as it is told.

    Attributes:
        name: What the user calls it.
        files: Names of files.
        folders: Names of folders.
        scope: Used instead of the setting; None: the setting's.
        link_depth: Used instead of the setting; None: the setting's.
        origin: Where it comes from.
    """

    name: str
    files: tuple[str, ...]
    folders: tuple[str, ...]
    scope: Scope | None
    link_depth: int | None
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextChange:
    """What `stet.context` is told to do, in this order; empty or None: nothing.

    Attributes:
        clear: Attach nothing any more.
        load: Attach what a preset says, in place of what is attached.
        remove: Names of what is no longer to be attached.
        add: Names of what is to be attached too.
        scope: In place of `context.scope`, until it is cleared.
        link_depth: In place of `context.linkDepth`.
        save: Save what is attached then, under this name.
        delete: Forget the saved preset of this name.
    """

    clear: bool = False
    load: str | None = None
    remove: tuple[str, ...] = ()
    add: tuple[str, ...] = ()
    scope: Scope | None = None
    link_depth: int | None = None
    save: str | None = None
    delete: str | None = None


def to_preset(name: str, attachments: Attachments, snapshot: Snapshot) -> AttachmentPreset:
    """Return a preset of what is attached or was saved, with the names of files and folders."""
    files, folders = (
        tuple(snapshot.name_of(uri) or "." for uri in uris)
        for uris in (attachments.files, attachments.folders)
    )
    return AttachmentPreset(
        name, files, folders, attachments.scope, attachments.link_depth, "saved"
    )


def from_settings(settings: PresetSettings) -> AttachmentPreset:
    """Return the preset that an entry in the settings defines."""
    origin: Origin = "project" if settings.project else "settings"
    return AttachmentPreset(
        settings.name, settings.files, settings.folders, settings.scope, settings.link_depth, origin
    )


def to_json(attachments: Attachments) -> str:
    """One JSON object, as the store keeps it."""
    return json.dumps(
        {
            "files": attachments.files,
            "folders": attachments.folders,
            "scope": attachments.scope,
            "linkDepth": attachments.link_depth,
        }
    )


def from_json(fields: str) -> Attachments | None:
    """Return the attachments that `to_json` has written. Return None and log a warning if the value
    is no object.
    """
    try:
        value = json.loads(fields)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        log.warning("a kept preset is left out: it is no object")
        return None
    scope, depth = value.get("scope"), value.get("linkDepth")
    made = Attachments(
        scope=scope if scope in get_args(Scope) else None,
        link_depth=depth if type(depth) is int and 0 <= depth <= MAX_DEPTH else None,
    )
    files, folders = (list(_uris_in(value.get(key)))[:MAX_ATTACHED] for key in ("files", "folders"))
    return made.with_more(files, folders)


def _uris_in(value: object) -> Iterator[str]:
    """Yield the URIs of documents in a list."""
    for uri in value if isinstance(value, list) else ():
        if isinstance(uri, str) and is_tracked(uri):
            yield uri
