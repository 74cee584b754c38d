"""The language servers that ours is compared with."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.process import BARE, INITIALIZE
from tests.parts.kept import MissingPart
from tests.parts.language_servers import copilot, library
from tests.parts.npm import node

NODE_SERVER = Path(__file__).with_name("node_server.cjs")


@dataclass(frozen=True, slots=True)
class Peer:
    """A language server of another project.

    Attributes:
        name: The name for display.
        argv: The command line.
        reports_text: Whether the server answers `test/crc`, so that its text can be verified.
        hello: The parameters of `initialize`.
    """

    name: str
    argv: Sequence[str]
    reports_text: bool = True
    hello: dict[str, Any] = field(default_factory=lambda: INITIALIZE)


PYGLS = Peer("bare pygls", BARE)


def peers() -> list[Peer]:
    """Return all three: pygls, Microsoft's library in Node, GitHub Copilot's server.

    Raises:
        MissingPart: If a package can't be installed from npm.
    """
    program = str(node())
    who = {"name": "stet-bench", "version": "1"}
    options = {"editorInfo": who, "editorPluginInfo": who}
    return [
        PYGLS,
        Peer("Node", [program, str(NODE_SERVER), str(library()), "--stdio"]),
        Peer(
            "Copilot",
            [program, str(copilot()), "--stdio"],
            reports_text=False,
            hello={**INITIALIZE, "initializationOptions": options},
        ),
    ]


def peers_here() -> list[Peer]:
    """Return the peers that can be installed; report the others."""
    try:
        return peers()
    except MissingPart as missing:
        sys.stderr.write(f"only bare pygls beside ours: {missing}\n")
        return [PYGLS]
