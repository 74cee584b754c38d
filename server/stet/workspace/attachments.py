"""What the user has attached to their questions: files, folders, and perhaps a scope for them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from stet.settings.values import Scope
from stet.workspace.uris import canonical


@dataclass(frozen=True, slots=True)
class Attachments:
    """What comes with a question beside what its scope brings.

    Attributes:
        files: URIs, in the order in which they were attached, each file once.
        folders: URIs, as `files`.
        scope: In place of `context.scope`; None: that.
        link_depth: In place of `context.linkDepth`; None: that.
        problems: Names of a preset that lead nowhere, with the reason, a sentence each.
    """

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    scope: Scope | None = None
    link_depth: int | None = None
    problems: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return not (self.files or self.folders or self.scope or self.link_depth is not None)

    def with_more(self, files: Iterable[str] = (), folders: Iterable[str] = ()) -> "Attachments":
        """With these too; what is there already stays where it is."""
        return replace(
            self,
            files=_each_once((*self.files, *files)),
            folders=_each_once((*self.folders, *folders)),
        )

    def without(self, uri: str) -> "Attachments":
        """Without a file or folder, and without all in it."""
        gone = canonical(uri)
        return self._mapped(lambda key: None if _is_in(key, gone) else key)

    def renamed(self, uri: str, new_uri: str) -> "Attachments":
        """After a file or folder, with all in it, has got another name."""
        old, new = canonical(uri), canonical(new_uri)
        return self._mapped(lambda key: new + key[len(old) :] if _is_in(key, old) else key)

    def holds(self, uri: str) -> bool:
        """Whether a file or folder is itself among them."""
        key = canonical(uri)
        return any(key == canonical(file) for file in (*self.files, *self.folders))

    def _mapped(self, change: Callable[[str], str | None]) -> "Attachments":
        """With other URIs in place of those that `change` changes, or none for None; by key."""

        def over(uris: tuple[str, ...]) -> tuple[str, ...]:
            found = ((one, change(canonical(one))) for one in uris)
            return _each_once(
                one if key == canonical(one) else key for one, key in found if key is not None
            )

        return replace(self, files=over(self.files), folders=over(self.folders))


def _is_in(key: str, folder: str) -> bool:
    """Whether `key` is `folder` or lies in it; both canonical."""
    return key == folder or key.startswith(f"{folder}/")


def _each_once(uris: Iterable[str]) -> tuple[str, ...]:
    """Return the URIs without repeated names of one document; the first spelling counts."""
    found: dict[str, str] = {}
    for uri in uris:
        found.setdefault(canonical(uri), uri)
    return tuple(found.values())
