"""The editors that `FakeEditor` can be: their `initialize` parameters and their behaviour.

The files in `clients/` were recorded from the real editors (VS Code as code-server), except those
of Kakoune, Kate and Sublime Text, which follow the editors' sources.
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
    """The answer of an editor to an edit for an older version."""

    LIES = "applied: true, and nothing done"
    REASON = "applied: false, with a reason"
    BARE = "applied: false"
    ERROR = "a JSON-RPC error"
    UNKNOWN = "it applies it where the ranges lead: it checks no version"


class Taken(Enum):
    """The answer of an editor if a file to create, or a new name, already exists."""

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
        file: The name of its `initialize` parameters, in `clients/` or in pytest-lsp.
        first_version: The version of a newly opened document.
        stale: The answer to a stale edit.
        create_taken: The answer if a file to create already exists.
        rename_taken: The answer if the new name already exists, unless the options decide that.
        full_sync: Whether the editor sends the whole text with every change.
        files_apart: Whether the editor changes closed files on the disk, without opening them, and
            leaves its buffers unchanged when a file is moved or deleted.
        only_within: Seconds after a command within which the editor applies edits; 0: always.
        ends_lines: Whether an empty file counts as one empty line with its line end, as in Neovim.
        edits_unsaid: Whether the editor applies edits without announcing that capability.
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
        """Return its `initialize` parameters as plain JSON."""
        recorded: dict[str, Any] = json.loads(_find(self.file).read_text())
        return recorded

    def params(self) -> lsp.InitializeParams:
        """Return its capabilities and name."""
        params = _converter().structure(self.recorded(), lsp.InitializeParams)
        assert isinstance(params, lsp.InitializeParams)
        return params

    def operations(self) -> frozenset[str]:
        """Return the file operations that it announces."""
        recorded = self.params().capabilities.workspace
        edits = recorded.workspace_edit if recorded else None
        return frozenset(kind.value for kind in (edits and edits.resource_operations) or ())


@cache  # compiling converters for a type takes longer than their use
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
