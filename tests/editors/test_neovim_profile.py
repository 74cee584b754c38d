"""The `initialize` parameters of real Neovim equal those of its fake in other tests."""

import json
from pathlib import Path

import pytest

from tests.editors.profiles import CLIENTS, recorded
from tests.support.editor_profiles import PROFILES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


def test_neovim_declares_the_recorded_capabilities(nvim_binary: Path) -> None:
    assert nvim_binary.is_file()
    written = json.loads((CLIENTS / f"{PROFILES['neovim'].file}.json").read_text())
    assert recorded("neovim") == written, "python -m tests.editors.profiles neovim"
