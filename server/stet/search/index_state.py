"""How far the search index is, as a value."""

from dataclasses import dataclass
from enum import StrEnum

STORM = 2_000
"""When so many files have changed at once, all are looked at instead."""
DISK_REFUSES = "the disk takes nothing"
"""How the last words of a process begin that a full disk has ended."""


class Stage(StrEnum):
    """What the index is doing."""

    OFF = "off"
    """Nothing was asked of it yet, or there is no folder to index."""
    STARTING = "starting"
    BUILDING = "building"
    """It answers, from what it has read so far."""
    READY = "ready"
    FAILED = "failed"
    """It is given up; searches read the files themselves."""


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far it is.

    Attributes:
        stage: What it is doing.
        files: In the index.
        total: That there are, as far as they are counted.
        chunks: Passages in the index.
        unread: Texts whose meaning is not known yet.
        message: Why it failed, for people; else empty.
    """

    stage: Stage = Stage.OFF
    files: int = 0
    total: int = 0
    chunks: int = 0
    unread: int = 0
    message: str = ""
