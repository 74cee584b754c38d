"""What processes hold, as Linux tells it: for tests and benchmarks, which skip elsewhere."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """What a process and all below it hold.

    Attributes:
        megabytes: Memory, each page that several share counted in parts (PSS).
        n_descriptors: Open files, pipes and sockets, of the first process.
        n_threads: Of the first process.
        n_processes: How many they are.
    """

    megabytes: float
    n_descriptors: int
    n_threads: int
    n_processes: int


def usage_of(pid: int) -> ProcessUsage:
    """What the process and all below it hold now."""
    pids = [pid, *_below(pid)]
    return ProcessUsage(
        megabytes=sum(map(_megabytes, pids)),
        n_descriptors=len(list((PROC / str(pid) / "fd").iterdir())),
        n_threads=len(list((PROC / str(pid) / "task").iterdir())),
        n_processes=len(pids),
    )


def processor_seconds(pid: int) -> float:
    """What a process has had of the processor, all its threads together, to a hundredth."""
    fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _below(pid: int) -> Iterator[int]:
    """The processes that it has started, and those that these have."""
    for task in (PROC / str(pid) / "task").iterdir():
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue  # the thread has ended since
        for child in map(int, children):
            yield child
            yield from _below(child) if (PROC / str(child)).exists() else ()


def _megabytes(pid: int) -> float:
    try:
        rollup = (PROC / str(pid) / "smaps_rollup").read_text()
    except OSError:
        return 0.0  # it has ended since
    (kilobytes,) = (line.split()[1] for line in rollup.splitlines() if line.startswith("Pss:"))
    return int(kilobytes) / 1000
