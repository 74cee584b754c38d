"""Record the `initialize` parameters of real editors, for the fake editors of tests.

    python -m tests.editors.profiles [EDITOR…]

starts all editors, or the named ones, with a stand-in for `stet` that records the first message and
then becomes the real server. The files in `tests/support/clients/` are rewritten.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tests.editors import emacs, helix, neovim, vscode_session
from tests.support.editor_profiles import PROFILES

CLIENTS = Path(__file__).parents[1] / "support" / "clients"
BIN = Path(sys.executable).parent
KEYS = ("clientInfo", "capabilities")
"""The parameters of the editor; the others belong to the workspace."""

STAND_IN = """#!{python}
import os, subprocess, sys

def first(stream):
    head = b""
    while not head.endswith(b"\\r\\n\\r\\n"):
        head += os.read(stream, 1)
    length = int(head.lower().split(b"content-length:")[1].split(b"\\r\\n")[0])
    body = b""
    while len(body) < length:
        body += os.read(stream, length - len(body))
    return head, body

if "serve" not in sys.argv:
    os.execv({real!r}, [{real!r}, *sys.argv[1:]])
head, body = first(0)
with open({recorded!r} + ".part", "wb") as file:
    file.write(body)
os.rename({recorded!r} + ".part", {recorded!r})
server = subprocess.Popen([{real!r}, *sys.argv[1:]], stdin=subprocess.PIPE, bufsize=0)
piece = head + body
while piece:
    server.stdin.write(piece)
    piece = os.read(0, 65536)
server.stdin.close()
sys.exit(server.wait())
"""


def record_neovim(folder: Path, programs: Path) -> None:
    """Start the Neovim of this Python."""
    begin = neovim.Start(BIN / "nvim", folder, {"a.py": "a = 1\n"}, [], programs=programs)
    editor = neovim.start(begin)
    try:
        editor.open("a.py")
    finally:
        editor.close()


RECORDERS: Mapping[str, Callable[[Path, Path], None]] = MappingProxyType(
    {
        "neovim": record_neovim,
        "helix": partial(helix.record, "25.01"),
        "helix-master": partial(helix.record, "25.07"),
        "eglot": emacs.record,
        "vscode": vscode_session.record,
    }
)
"""Functions by the editor's name in `PROFILES`: each starts the editor in an empty folder with the
`stet` of the second folder first on the PATH, opens a file, and returns when Stet serves it."""

CONFIGURED = {"stet": {"drawsHunks": True}}
"""The experimental capabilities that our plugin adds to those of Neovim; its fake is without it."""


def recorded(editor: str) -> dict[str, Any]:
    """Return the parameters that this editor sends now."""
    # A server may write a last line while the folder is being removed.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder, programs = Path(name, "editor"), Path(name, "bin")
        folder.mkdir()
        programs.mkdir()
        message, stet = Path(name, "initialize.json"), programs / "stet"
        stand_in = STAND_IN.format(
            python=sys.executable, real=str(BIN / "stet"), recorded=str(message)
        )
        stet.write_text(stand_in)
        stet.chmod(0o755)
        RECORDERS[editor](folder, programs)
        shown_text = json.loads(message.read_bytes())["params"]
    if editor == "neovim":
        added = shown_text["capabilities"].pop("experimental", None)
        assert added == CONFIGURED, f"our plugin declares {added}"
    return {key: shown_text[key] for key in KEYS if key in shown_text}


def main(editors: list[str]) -> int:
    """Record these editors, or all; return the exit code."""
    if unknown := set(editors) - set(RECORDERS):
        sys.stdout.write(
            f"no editor: {', '.join(sorted(unknown))}; there are {', '.join(RECORDERS)}\n"
        )
        return 2
    for editor in editors or RECORDERS:
        file = CLIENTS / f"{PROFILES[editor].file}.json"
        before = json.loads(file.read_text()) if file.exists() else None
        now = recorded(editor)
        if now != before:
            file.write_text(json.dumps(now, indent=1) + "\n")
        sys.stdout.write(f"{editor}: {file.name} {'as it was' if now == before else 'is new'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
