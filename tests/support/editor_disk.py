"""The files of `FakeEditor`'s workspace, and which changes the editor has made."""

from pathlib import Path

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support.editor_documents import to_path
from tests.support.editor_profiles import Profile, Taken

Operation = lsp.CreateFile | lsp.RenameFile | lsp.DeleteFile


class NotApplied(Exception):
    """An edit that the editor answers with `applied: false`."""


class EditorDisk:
    """The files below the root, as the editor left them."""

    def __init__(self, root: Path | None, profile: Profile) -> None:
        self._root = root
        self._profile = profile
        self._known = _tree(root)

    def write(self, path: Path, text: str) -> None:
        """Write a file, which the server must then leave unchanged."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        self._known[path] = text.encode()

    def take_over(self, path: Path) -> None:
        """Accept the current state of a file as the server's wanted change."""
        if path.exists():
            self._known[path] = path.read_bytes()
        else:
            self._known.pop(path, None)

    def operate(self, change: Operation) -> bool:
        """Create, rename or delete a file, with the profile's faults; return success."""
        if change.kind not in self._profile.operations():
            raise JsonRpcException(f"this editor can't {change.kind} files")
        match change:
            case lsp.CreateFile(uri=uri):
                return self._create(_path(uri), self._profile.create_taken)
            case lsp.RenameFile(old_uri=old, new_uri=new, options=options):
                keeps = options is not None and options.ignore_if_exists is True
                taken = Taken.SKIPS if keeps else self._profile.rename_taken
                return self._rename(_path(old), _path(new), taken)
            case lsp.DeleteFile(uri=uri):
                return self._delete(_path(uri))

    def rename(self, uri: str, new_uri: str) -> None:
        """Rename a file as the user."""
        self._rename(_path(uri), _path(new_uri), Taken.ERROR)

    def check(self) -> None:
        """Check that only the editor has changed files below the root."""
        now = _tree(self._root)
        changed = {
            path for path in now.keys() | self._known if now.get(path) != self._known.get(path)
        }
        assert not changed, f"changed behind the editor: {sorted(map(str, changed))}"

    def _create(self, path: Path, taken: Taken) -> bool:
        if path.exists():
            _refuse(path, taken)
        self.write(path, "")
        return True

    def _rename(self, path: Path, new: Path, taken: Taken) -> bool:
        if new.exists():
            _refuse(new, taken)
            if taken is Taken.SKIPS:
                return False
        new.parent.mkdir(parents=True, exist_ok=True)
        path.rename(new)
        self._known[new] = self._known.pop(path)
        return True

    def _delete(self, path: Path) -> bool:
        path.unlink()
        del self._known[path]
        return True


def _refuse(path: Path, taken: Taken) -> None:
    """Refuse an existing name, if and as the editor does.

    Raises:
        NotApplied: If the editor answers `applied: false`.
        JsonRpcException: If the editor answers with an error.
    """
    if taken is Taken.BARE:
        raise NotApplied(str(path))
    if taken is Taken.ERROR:
        raise JsonRpcException(f"{path} exists")


def _path(uri: str) -> Path:
    path = to_path(uri)
    assert path is not None, uri
    return path


def _tree(root: Path | None) -> dict[Path, bytes]:
    """Return every file below the root with its bytes."""
    paths = [] if root is None else root.rglob("*")
    return {path: path.read_bytes() for path in paths if path.is_file()}
