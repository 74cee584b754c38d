"""The user's attachments to their questions: files, folders, and optionally a scope for them.

A file or folder is named by a URI (`file:` or `untitled:`), a path relative to a root, or an
absolute path in a root. A file is refused if it is outside the roots and not open, if the privacy
filter hides it, or if it does not exist. Whether a file contains text is checked when it is read.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from stet.settings.values import PresetSettings, Scope
from stet.system.system import FileKind
from stet.workspace.paths import Located, PathRefused
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical, is_tracked, path_of, scheme_of


@dataclass(frozen=True, slots=True)
class Attachments:
    """The attachments of a question, in addition to its scope.

    Attributes:
        files: The files' URIs, in the order of attaching, each file once.
        folders: The folders' URIs, as `files`.
        scope: The scope; None for `context.scope`.
        link_depth: The link depth; None for `context.linkDepth`.
        problems: One sentence for each name in a preset that can't be attached, with the reason.
    """

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    scope: Scope | None = None
    link_depth: int | None = None
    problems: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there are no attachments and no overridden settings."""
        return not (self.files or self.folders or self.scope or self.link_depth is not None)

    def with_more(self, files: Iterable[str] = (), folders: Iterable[str] = ()) -> "Attachments":
        """Return the attachments with these added; existing ones keep their places."""
        more_files = _each_once((*self.files, *files))
        return replace(self, files=more_files, folders=_each_once((*self.folders, *folders)))

    def without(self, uri: str) -> "Attachments":
        """Return the attachments without a file or folder and everything in it."""
        gone = canonical(uri)
        return self._mapped(lambda key: None if _is_in(key, gone) else key)

    def renamed(self, uri: str, new_uri: str) -> "Attachments":
        """Return the attachments after a file or folder was renamed, with everything in it."""
        old, new = canonical(uri), canonical(new_uri)
        return self._mapped(lambda key: new + key[len(old) :] if _is_in(key, old) else key)

    def holds(self, uri: str) -> bool:
        """Return whether a file or folder is itself attached."""
        key = canonical(uri)
        return any(key == canonical(file) for file in (*self.files, *self.folders))

    def _mapped(self, change: Callable[[str], str | None]) -> "Attachments":
        """Return the attachments with each canonical URI mapped by `change`; None removes a URI."""

        def over(uris: tuple[str, ...]) -> tuple[str, ...]:
            found = ((one, change(canonical(one))) for one in uris)
            return _each_once(
                one if key == canonical(one) else key for one, key in found if key is not None
            )

        return replace(self, files=over(self.files), folders=over(self.folders))


def _is_in(key: str, folder: str) -> bool:
    """Return whether `key` is `folder` or is in it; both canonical."""
    return key == folder or key.startswith(f"{folder}/")


def _each_once(uris: Iterable[str]) -> tuple[str, ...]:
    """Return the URIs without repeated names of one document; the first spelling counts."""
    found: dict[str, str] = {}
    for uri in uris:
        found.setdefault(canonical(uri), uri)
    return tuple(found.values())


class NotAttachable(Exception):
    """The named file or folder can't be attached; the message has the name and the reason."""


@dataclass(frozen=True, slots=True)
class Attachable:
    """A file or folder that exists and may be shown.

    Attributes:
        uri: The URI of the file or folder.
        is_folder: Whether it is a folder.
    """

    uri: str
    is_folder: bool


def resolve_attachable(snapshot: Snapshot, name: str) -> Attachable:
    """Return the file or folder that `name` means. Accesses the disk a few times.

    Raises:
        NotAttachable: If it can't be attached.
    """
    if not name.strip("/ "):
        raise NotAttachable(f"{name!r} is not a valid file or folder name; a root is '.'")
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
    """Return the attachments of a preset of the settings. A name that can't be attached is a
    problem of the preset.
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
        NotAttachable: If the URI is neither a file's nor an untitled document's.
        PathRefused: If the path is not in the workspace.
    """
    is_uri = is_tracked(name) or "://" in name
    if not is_uri or scheme_of(name) == "untitled":
        return snapshot.locate(name)
    path = path_of(name)
    if path is None:
        raise NotAttachable(f"{name!r} is neither a local file nor untitled.")
    return snapshot.locate(path.as_posix())
