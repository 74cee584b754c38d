"""The language servers that ours is measured beside."""

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
    """A language server of somebody else's.

    Attributes:
        name: For people.
        argv: Its command line.
        reports_text: Whether it answers `test/crc`, so that its text can be verified.
        hello: What `initialize` asks it for.
    """

    name: str
    argv: Sequence[str]
    reports_text: bool = True
    hello: dict[str, Any] = field(default_factory=lambda: INITIALIZE)


PYGLS = Peer("bare pygls", BARE)


def peers() -> list[Peer]:
    """All three: pygls, Microsoft's library in Node, GitHub Copilot's server.

    Raises:
        MissingPart: From npm.
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
    """As `peers`; what can't be had is reported and left out."""
    try:
        return peers()
    except MissingPart as missing:
        sys.stderr.write(f"only bare pygls beside ours: {missing}\n")
        return [PYGLS]
