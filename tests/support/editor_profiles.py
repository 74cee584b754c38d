"""The editors that `FakeEditor` can be: what each says at `initialize`, and how it then behaves.

The files in `clients/` were recorded from the real editors, VS Code as code-server, but for Kakoune,
Kate and Sublime Text, whose files hold what their sources say.
"""

import json
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import pytest_lsp
from cattrs import Converter
from lsprotocol import converters
from lsprotocol import types as lsp


class Stale(Enum):
    """What an editor does with an edit for an older version."""

    LIES = "applied: true, and nothing done"
    REASON = "applied: false, with a reason"
    BARE = "applied: false"
    ERROR = "a JSON-RPC error"
    UNKNOWN = "it applies it where the ranges lead: it checks no version"


class Taken(Enum):
    """What an editor does when a file that it is to make, or a new name, exists."""

    OVERWRITES = "the file that is there is lost"
    SKIPS = "nothing, and it says that it did"
    BARE = "applied: false"
    ERROR = "a JSON-RPC error"


class Quirk(Enum):
    """A fault that any editor can have."""

    SILENT = "edits are never answered, and not applied"
    NULL = "edits are answered with null, and not applied"
    REFUSE = "edits are answered with applied: false"
    LIE = "edits are answered with applied: true, and not applied"
    PARTIAL = "of the edits of a document only the first is applied, and applied: true"
    HIDDEN = "files that are not open are edited in a buffer that nobody is told of until shown"
    LATE_SETTINGS = "it reports its settings only once `settings_reported` is set"
    SLOW = "changes are not sent before `flush` or the next request, as by a timer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One editor.

    Attributes:
        file: Of its `initialize`, in `clients/` or in pytest-lsp.
        first_version: What it gives a document when it opens it.
        stale: How it answers a stale edit.
        create_taken: What it does when a file that it is to create exists.
        rename_taken: What it does when the new name exists, if the options leave that open.
        full_sync: Whether it sends the whole text with every change.
        files_apart: Whether it changes files that are not open on the disk, without opening them, and
            leaves its buffers as they are when a file is moved or deleted.
        only_within: How many seconds after a command it takes edits; 0: always.
        ends_lines: Whether an empty file is one empty line with its end to it, as to Neovim.
        edits_unsaid: Whether it takes edits that it did not say it takes.
    """

    file: str
    first_version: int = 0
    stale: Stale
    create_taken: Taken = Taken.OVERWRITES
    rename_taken: Taken = Taken.OVERWRITES
    full_sync: bool = False
    files_apart: bool = False
    only_within: float = 0.0
    ends_lines: bool = False
    edits_unsaid: bool = False

    def recorded(self) -> dict[str, Any]:
        """What it says at `initialize`, as plain JSON."""
        recorded: dict[str, Any] = json.loads(_find(self.file).read_text())
        return recorded

    def params(self) -> lsp.InitializeParams:
        """Capabilities and name."""
        params = _converter().structure(self.recorded(), lsp.InitializeParams)
        assert isinstance(params, lsp.InitializeParams)
        return params

    def operations(self) -> frozenset[str]:
        """What it can do to files for a server."""
        recorded = self.params().capabilities.workspace
        edits = recorded.workspace_edit if recorded else None
        return frozenset(kind.value for kind in (edits and edits.resource_operations) or ())


@cache  # what it compiles for a type takes longer than its use
def _converter() -> Converter:
    converter: Converter = converters.get_converter()
    return converter


def _find(file: str) -> Path:
    own = Path(__file__).with_name("clients") / f"{file}.json"
    return own if own.exists() else Path(pytest_lsp.__file__).parent / "clients" / f"{file}.json"


PROFILES = {
    "neovim": Profile(
        file="neovim_v0.11.4", stale=Stale.LIES, rename_taken=Taken.SKIPS, ends_lines=True
    ),
    "neovim-0.12": Profile(
        file="neovim_v0.12.4", stale=Stale.LIES, rename_taken=Taken.SKIPS, ends_lines=True
    ),
    "helix": Profile(file="helix_v25.01.1", stale=Stale.REASON),
    "helix-master": Profile(file="helix_v25.07.1", stale=Stale.REASON),
    "eglot": Profile(file="eglot_v1.17.30", stale=Stale.ERROR),
    "vscode": Profile(
        file="vscode_v1.139",
        first_version=1,
        stale=Stale.BARE,
        create_taken=Taken.BARE,
        rename_taken=Taken.BARE,
    ),
    "kakoune": Profile(
        file="kakoune_lsp_v21", stale=Stale.UNKNOWN, full_sync=True, files_apart=True
    ),
    "kate": Profile(file="kate_v26.08", stale=Stale.UNKNOWN, only_within=2.0, edits_unsaid=True),
    "sublime": Profile(
        file="sublime_lsp_v2.13",
        stale=Stale.BARE,
        create_taken=Taken.ERROR,
        rename_taken=Taken.ERROR,
    ),
}
