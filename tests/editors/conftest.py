"""Real Neovim, one per test: an empty home, our configuration, a scripted model."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.editors.neovim import Neovim, Start, start

NVIM = Path(sys.executable).with_name("nvim")


@pytest.fixture
def nvim_binary() -> Path:
    """The editor's program; without it, a skip on somebody's machine and a failure in CI."""
    if not NVIM.is_file():
        reason = f"there is no Neovim at {str(NVIM)!r}: install the `test` extra"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return NVIM


@pytest.fixture
def neovim(nvim_binary: Path, tmp_path: Path) -> Iterator[Callable[..., Neovim]]:
    """Starts editors: `neovim(files, script)` gives one with the first file open and Stet attached."""
    started: list[Neovim] = []

    def begin(files: dict[str, str], script: list[object], **options: str) -> Neovim:
        editor = start(Start(nvim_binary, tmp_path, files, script, **options))
        started.append(editor)
        return editor.open(next(iter(files)))

    yield begin
    for editor in started:
        editor.close()
