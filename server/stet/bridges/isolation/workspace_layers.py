"""The layers of the workspace folders of one isolated session.

`seed` has what hides the saved files from the beginning: the unsaved text of the editor, and
whiteouts in the place of secret files. `upper` has what the program writes. All functions block on
the disk.
"""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from stet.system.overlay import Overlay
from stet.system.process_id import is_alive
from stet.system.system import FileKind, System
from stet.workspace.names import is_version_control
from stet.workspace.paths import Root
from stet.workspace.privacy_filter import PrivacyFilter

MAX_LISTED = 500_000
"""The most entries of the workspace among which secret files are searched for."""
_LEFT_SECONDS = 7 * 24 * 3600
"""How long the layers stay that a server has left which was killed."""


class LayeredFolder(NamedTuple):
    """A workspace folder and its layers."""

    root: Root
    overlay: Overlay

    def parts_of(self, real: Path) -> tuple[str, ...] | None:
        """Return a real path as its parts below the folder, None if it is not below it."""
        folder = self.overlay.folder
        return real.relative_to(folder).parts if real.is_relative_to(folder) else None


def layers_folder(system: System) -> Path:
    """Return the folder of all layers, without those that were left long ago.

    Raises:
        OSError: If the folder does not exist and can't be created.
    """
    isolated = system.real_path(system.cache_folder()) / "isolated"
    isolated.mkdir(mode=0o700, exist_ok=True)
    for name, status in system.list_real(isolated):
        is_left = not (name.isdecimal() and is_alive(int(name)))
        if is_left and status.mtime < system.now() - _LEFT_SECONDS:
            remove_layers(isolated / name)
    return isolated


def remove_layers(folder: Path) -> None:
    """Remove the layers of a session or of a server; the kernel's folder has no permissions."""
    for layers in ("*", "*/*"):
        for work in folder.glob(f"{layers}/work"):
            with suppress(FileNotFoundError):  # never mounted
                (work / "work").chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def make_layers(base: Path, roots: Sequence[Root], system: System) -> tuple[LayeredFolder, ...]:
    """Create the layers of workspace folders below `base`; a folder within another one has none.

    Raises:
        OSError: If a folder can't be created.
    """
    real = {system.real_path(root.path): root for root in roots}
    found = []
    for number, (folder, root) in enumerate(real.items()):
        if any(folder != other and folder.is_relative_to(other) for other in real):
            continue
        layers = (base / str(number) / name for name in ("seed", "upper", "work"))
        overlay = Overlay(folder, *layers)
        for layer in overlay[1:]:
            layer.mkdir(parents=True, mode=0o700)
        shutil.copymode(folder, overlay.upper)  # the program sees the mode of the uppermost layer
        found.append(LayeredFolder(root, overlay))
    return tuple(found)


def seed_text(overlay: Overlay, parts: tuple[str, ...], text: str) -> None:
    """Show the program a text in the place of a file.

    Raises:
        OSError: If it can't be written.
    """
    place = _seed_place(overlay, parts)
    with open(place, "xb") as file:  # noqa: PTH123 - the mode "x"
        file.write(text.encode("utf-8", "surrogatepass"))
    with suppress(FileNotFoundError):  # the file exists only in the editor
        shutil.copymode(overlay.folder.joinpath(*parts), place)


def seed_whiteout(overlay: Overlay, parts: tuple[str, ...]) -> None:
    """Show the program no file or folder at a path.

    Raises:
        OSError: If it can't be hidden.
    """
    os.mknod(_seed_place(overlay, parts), stat.S_IFCHR, 0)


def hidden_entries(
    layered: LayeredFolder, privacy: PrivacyFilter, system: System
) -> Iterator[tuple[str, ...] | None]:
    """Yield the path of each file and folder that the program may not see, the uppermost first.

    None is yielded at the end if not all entries of the folder were looked at.
    """
    folders: list[tuple[str, ...]] = [()]
    n_listed = 0
    for parts in folders:  # it grows: the upper levels come first
        for name, status in system.list_real(layered.overlay.folder.joinpath(*parts)):
            here = (*parts, name)
            n_listed += 1
            if n_listed > MAX_LISTED:
                yield None
                return
            is_folder = status.kind is FileKind.FOLDER
            if privacy.hides(layered.root, here, is_folder=is_folder):
                yield here
            elif is_folder and not is_version_control(here):
                folders.append(here)


def _seed_place(overlay: Overlay, parts: tuple[str, ...]) -> Path:
    """Return the path of a file in the seed; its folders are created with the modes of theirs."""
    for n_parts in range(1, len(parts)):
        folder = overlay.seed.joinpath(*parts[:n_parts])
        if not folder.exists():
            folder.mkdir()
            with suppress(FileNotFoundError):
                shutil.copymode(overlay.folder.joinpath(*parts[:n_parts]), folder)
    return overlay.seed.joinpath(*parts)
