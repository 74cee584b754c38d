"""From what a person calls a file or folder to what can be attached to a question.

Accepted are a URI (`file:` or `untitled:`), a path relative to a root, and an absolute path in one.
Refused is what lies outside the roots and is not open, what the privacy filter hides, and what is
not there. Whether a file holds text is seen when it is read.
"""

from dataclasses import dataclass

from stet.settings.values import PresetSettings
from stet.system.system import FileKind
from stet.workspace.attachments import Attachments
from stet.workspace.paths import Located, PathRefused
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import is_tracked, path_of, scheme_of


class NotAttachable(Exception):
    """What was named can't be attached; the message names it and says why."""


@dataclass(frozen=True, slots=True)
class Attachable:
    """A file or folder that is there and may be shown.

    Attributes:
        uri: Of it.
        is_folder: Which of the two.
    """

    uri: str
    is_folder: bool


def resolve_attachable(snapshot: Snapshot, name: str) -> Attachable:
    """Return the file or folder that `name` means. Accesses the disk a few times.

    Raises:
        NotAttachable: If it can't be attached.
    """
    if not name.strip("/ "):
        raise NotAttachable(f"{name!r} is no name of a file or folder; a root is called '.'")
    try:
        located = _located(snapshot, name)
    except PathRefused as refused:
        raise NotAttachable(refused.message) from refused
    privacy = snapshot.privacy()
    if located.path is None or snapshot.document(located.uri) is not None:
        refusal, is_folder = privacy.check(located.uri), False
    else:
        stat = snapshot.system.stat(snapshot.system.real_path(located.path))
        if stat is None:
            raise NotAttachable(f"There is no file or folder {name!r}.")
        if stat.kind not in (FileKind.FILE, FileKind.FOLDER):
            raise NotAttachable(f"{name!r} is neither a file nor a folder.")
        is_folder = stat.kind is FileKind.FOLDER
        refusal = privacy.check_folder(located.path) if is_folder else privacy.check(located.uri)
    if refusal is not None:
        raise NotAttachable(refusal.message)
    return Attachable(located.uri, is_folder)


def attachments_of(preset: PresetSettings, snapshot: Snapshot) -> Attachments:
    """Return what a preset of the settings attaches now. A name that leads nowhere is a problem of
    the preset.
    """
    files: list[str] = []
    folders: list[str] = []
    problems: list[str] = []
    for name in (*preset.files, *preset.folders):
        try:
            found = resolve_attachable(snapshot, name)
        except NotAttachable as refused:
            problems.append(f"preset {preset.name!r}: {refused}")
            continue
        (folders if found.is_folder else files).append(found.uri)
    made = Attachments(scope=preset.scope, link_depth=preset.link_depth, problems=tuple(problems))
    return made.with_more(files, folders)


def _located(snapshot: Snapshot, name: str) -> Located:
    """Return the place that a URI or a path means.

    Raises:
        NotAttachable: If it is a URI of something else.
        PathRefused: If it is no place in the workspace.
    """
    is_uri = is_tracked(name) or "://" in name
    if not is_uri or scheme_of(name) == "untitled":
        return snapshot.locate(name)
    path = path_of(name)
    if path is None:
        raise NotAttachable(f"{name!r} is neither a file of this machine nor untitled.")
    return snapshot.locate(path.as_posix())
