"""The effects of a session, and which of them are forbidden."""

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.editor import FakeEditor

_CANARY = re.compile(r"kanarie[0-9]{4}")
_LINK = re.compile(r"\][(\[:]|<[a-z][\w.+-]*:", re.IGNORECASE)
_PROCESSOR = ["uname", "-p"]
"""The command by which Python's `platform` finds the processor, which a library's request names."""


@dataclass
class Seen:
    """The effects of a session.

    Attributes:
        top: The folder that holds the workspace and everything else.
        sent: The bodies of all requests to the model, as text.
        happened: The lines that the watched server logged.
        turns: The results of `stet.turn`.
        editor: The editor, with all messages that it received.
        ports: The ports to which connections are allowed.
        faults: Other forbidden effects: for example files changed without the editor.
    """

    top: Path
    editor: FakeEditor
    sent: list[str] = field(default_factory=list)
    happened: list[list[str]] = field(default_factory=list)
    turns: list[Any] = field(default_factory=list)
    ports: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def of(self, kind: str) -> list[list[str]]:
        """List the arguments of all logged events of one kind."""
        return [line[1:] for line in self.happened if line[0] == kind]

    @property
    def programs(self) -> list[list[str]]:
        """List the programs that were started, except Stet's own."""
        own = [sys.executable, "-I", "-m"]
        return [
            argv
            for argv in self.of("process")
            if argv != _PROCESSOR and (argv[:3] != own or argv[3][:5] != "stet.")
        ]

    def effects(self, *, may_apply: bool = False) -> list[str]:
        """List everything that is forbidden in all classes."""
        found = list(self.faults)
        leaked = {one for text in self.sent for one in _CANARY.findall(text)}
        found += [f"read: {one}" for one in sorted(leaked)]
        found += [f"process: {argv}" for argv in self.programs]
        found += [
            f"connection: {to}"
            for to in self.of("connects")
            if to[0] not in ("127.0.0.1", "::1") or to[1] not in self.ports
        ]
        found += [f"look-up: {name}" for name in self.of("looks up")]
        found += [f"listens: {at}" for at in self.of("listens")]
        found += [
            f"a link in a message: {text}"
            for text in (
                *(shown.message for shown in self.editor.messages),
                *(asked.message for asked in self.editor.asked),
            )
            if _LINK.search(text)
        ]
        root = str(self.editor.root)
        found += [
            f"write: {path}"
            for (path, *_) in self.of("write")
            if path.startswith(str(self.top)) and not path.startswith(str(self.top / "home"))
        ]
        if not may_apply:
            found += [f"applied: {uri}" for uri in touched(self.editor)]
        found += [
            f"applied outside: {uri}"
            for uri in touched(self.editor)
            if not real(uri).startswith(f"{root}/")
        ]
        return found


def touched(editor: FakeEditor) -> list[str]:
    """List the URIs that the editor was asked to change."""
    uris: list[str] = []
    for params in editor.applied:
        uris += params.edit.changes or {}
        for change in params.edit.document_changes or ():
            for name in ("uri", "old_uri", "new_uri"):
                if uri := getattr(change, name, ""):
                    uris.append(uri)
            if document := getattr(change, "text_document", None):
                uris.append(document.uri)
    return uris


def real(uri: str) -> str:
    """Resolve all links of a URI's path, with the operating system."""
    from urllib.parse import unquote, urlsplit

    return os.path.realpath(unquote(urlsplit(uri).path))


def tree(top: Path) -> dict[str, object]:
    """Read every file and link below a folder, except `home`: bytes and targets."""
    found: dict[str, object] = {}
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if Path(folder, name) != top / "home"]
        for name in (*folders, *names):
            path = Path(folder, name)
            if path.is_symlink():
                found[str(path)] = path.readlink()
            elif path.is_file():
                with path.open("rb") as file:
                    found[str(path)] = path.stat().st_size, file.read(100_000)
    return found
