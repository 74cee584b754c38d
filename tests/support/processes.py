"""Resource usage of processes on Linux, for tests and benchmarks, which skip on other systems."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """The resource usage of a process and its descendants.

    Attributes:
        megabytes: Memory; a shared page counts in proportion (PSS).
        n_descriptors: Open files, pipes and sockets of the first process.
        n_threads: Threads of the first process.
        n_processes: The number of processes.
    """

    megabytes: float
    n_descriptors: int
    n_threads: int
    n_processes: int


def usage_of(pid: int) -> ProcessUsage:
    """Measure the current usage of a process and its descendants."""
    pids = [pid, *_below(pid)]
    return ProcessUsage(
        megabytes=sum(map(_megabytes, pids)),
        n_descriptors=len(list((PROC / str(pid) / "fd").iterdir())),
        n_threads=len(list((PROC / str(pid) / "task").iterdir())),
        n_processes=len(pids),
    )


def processor_seconds(pid: int) -> float:
    """Return the processor seconds of a process with all its threads, to a hundredth."""
    fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _below(pid: int) -> Iterator[int]:
    """Yield the descendants of a process."""
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
        return 0.0  # the process has ended since
    (kilobytes,) = (line.split()[1] for line in rollup.splitlines() if line.startswith("Pss:"))
    return int(kilobytes) / 1000
