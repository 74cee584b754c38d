"""The editors that `FakeEditor` can be: what each says at `initialize`, and how it then behaves.

The files in `clients/` were recorded from the real editors; VS Code is pytest-lsp's preset.
"""

import json
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pytest_lsp
from lsprotocol import converters
from lsprotocol import types as lsp


class Stale(Enum):
    """What an editor answers to an edit for an older version; it applies none of them."""

    LIES = "applied: true"
    REASON = "applied: false, with a reason"
    BARE = "applied: false"
    ERROR = "a JSON-RPC error"


class Quirk(Enum):
    """A fault that any editor can have."""

    SILENT = "edits are never answered, and not applied"
    NULL = "edits are answered with null, and not applied"
    REFUSE = "edits are answered with applied: false"
    SLOW = "changes are not sent before `flush` or the next request, as by a timer"


@dataclass(frozen=True, slots=True)
class Profile:
    """One editor.

    Attributes:
        file: Of its recorded `initialize`, in `clients/` or in pytest-lsp.
        first_version: What it gives a document when it opens it.
        stale: How it answers a stale edit.
        create_truncates: Whether creating a file that exists empties it (otherwise: an error).
    """

    file: str
    first_version: int
    stale: Stale
    create_truncates: bool

    def params(self) -> lsp.InitializeParams:
        """Capabilities and name."""
        recorded: dict[str, Any] = json.loads(_find(self.file).read_text())
        params = converters.get_converter().structure(recorded, lsp.InitializeParams)
        assert isinstance(params, lsp.InitializeParams)
        return params


def _find(file: str) -> Path:
    own = Path(__file__).with_name("clients") / f"{file}.json"
    return own if own.exists() else Path(pytest_lsp.__file__).parent / "clients" / f"{file}.json"


PROFILES = {
    "neovim": Profile("neovim_v0.11.4", 0, Stale.LIES, create_truncates=True),
    "neovim-0.12": Profile("neovim_v0.12.4", 0, Stale.LIES, create_truncates=True),
    "helix": Profile("helix_v25.01.1", 0, Stale.REASON, create_truncates=True),
    "helix-master": Profile("helix_v25.07.1", 0, Stale.REASON, create_truncates=True),
    "eglot": Profile("eglot_v1.17.30", 0, Stale.ERROR, create_truncates=True),
    "vscode": Profile("visual_studio_code_v1.65.2", 1, Stale.BARE, create_truncates=False),
}
