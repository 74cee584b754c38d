"""Fixtures of all VS Code tests: one browser, and one folder with our extension installed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import pytest

from tests.parts import chromium, code_server, npm, vscode_extension

if TYPE_CHECKING:
    from pathlib import Path

    # Not imported at run time: only these tests need the driver of the browser.
    from tests.conftest import Part
    from tests.editors.vscode import VSCode
    from tests.editors.vscode_install import Installed
    from tests.editors.vscode_screen import Screen


class Starts(Protocol):
    """A function that starts editors; see `vscode`."""

    def __call__(self, files: dict[str, str], *, status: str = "Stet", **options: object) -> VSCode:
        """Start an editor with the first file open; files with `#!` are made executable."""
        ...


@pytest.fixture(scope="session")
def screen(part: Part) -> Iterator[Screen]:
    """Yield a browser, which stores no state between windows."""
    from tests.editors.vscode_screen import Screen

    made = Screen(part(chromium.ensure))
    yield made
    made.close()


@pytest.fixture(scope="session")
def vscode_installed(part: Part, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Return VS Code with our extension."""
    from tests.editors.vscode_install import install

    node, entry, vsix = part(npm.node), part(code_server.ensure), part(vscode_extension.ensure)
    return install(node, entry, vsix, tmp_path_factory.mktemp("vscode"))


@pytest.fixture
def vscode(screen: Screen, vscode_installed: Installed, tmp_path: Path) -> Iterator[Starts]:
    """Start editors: `vscode(files, script=…)` opens a file in a new workspace and home."""
    from tests.editors.vscode import VSCode
    from tests.editors.vscode_install import Start

    started: list[VSCode] = []

    def begin(files: dict[str, str], *, status: str = "Stet", **options: object) -> VSCode:
        root = tmp_path / "work"
        (root / ".git").mkdir(parents=True)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(text.encode())
            if text.startswith("#!"):
                (root / name).chmod(0o755)
        start = Start(vscode_installed, tmp_path, root, **options)  # type: ignore[arg-type]
        editor = VSCode(screen, start)
        started.append(editor)
        return editor.open(next(iter(files)), status=status)

    yield begin
    for editor in started:
        editor.close()


def record(folder: Path, programs: Path) -> None:
    """Start VS Code for `tests.editors.profiles`."""
    from tests.editors.vscode import VSCode
    from tests.editors.vscode_install import Start, install
    from tests.editors.vscode_screen import Screen

    made = Screen(chromium.ensure())
    try:
        installed = install(npm.node(), code_server.ensure(), vscode_extension.ensure(), folder)
        root = folder / "work"
        root.mkdir()
        (root / "a.py").write_text("a = 1\n")
        path = os.pathsep.join([str(programs), os.environ["PATH"]])
        editor = VSCode(made, Start(installed, folder, root, path=path))
        try:
            editor.open("a.py")
        finally:
            editor.close()
    finally:
        made.close()
