"""The free memory, from the files of a kernel that a test writes."""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from stet.system.memory import free_memory

MB = 1_048_576
MEMINFO = "MemTotal:        8000000 kB\nMemFree:  100 kB\nMemAvailable:    2097152 kB\n"
GROUP = "sys/fs/cgroup"
TABLE: dict[str, tuple[Mapping[str, str], int | None]] = {
    "kernel": ({"proc/meminfo": MEMINFO}, 2048 * MB),
    "nothing": ({}, None),
    "old kernel": ({"proc/meminfo": "MemFree: 100 kB\n"}, None),
    "group without a limit": (
        {
            "proc/meminfo": MEMINFO,
            f"{GROUP}/memory.max": "max\n",
            f"{GROUP}/memory.current": f"{MB}\n",
        },
        2048 * MB,
    ),
    "group with a limit": (
        {
            "proc/meminfo": MEMINFO,
            f"{GROUP}/memory.max": f"{1000 * MB}\n",
            f"{GROUP}/memory.current": f"{900 * MB}\n",
            f"{GROUP}/memory.stat": f"anon 1\ninactive_file {300 * MB}\n",
        },
        400 * MB,
    ),
    "group above that of the process": (
        {
            "proc/meminfo": MEMINFO,
            "proc/self/cgroup": "0::/user.slice/editor.scope\n",
            f"{GROUP}/user.slice/memory.max": f"{500 * MB}\n",
            f"{GROUP}/user.slice/memory.current": f"{100 * MB}\n",
            f"{GROUP}/user.slice/editor.scope/memory.max": "max\n",
            f"{GROUP}/user.slice/editor.scope/memory.current": f"{50 * MB}\n",
        },
        400 * MB,
    ),
    "full group": (
        {f"{GROUP}/memory.max": f"{MB}\n", f"{GROUP}/memory.current": f"{2 * MB}\n"},
        0,
    ),
    "group of version 1": (
        {
            "proc/meminfo": MEMINFO,
            f"{GROUP}/memory/memory.limit_in_bytes": f"{1000 * MB}\n",
            f"{GROUP}/memory/memory.usage_in_bytes": f"{900 * MB}\n",
            f"{GROUP}/memory/memory.stat": f"inactive_file 5\ntotal_inactive_file {MB}\n",
        },
        100 * MB + 5,
    ),
}


@pytest.mark.skipif(sys.platform != "linux", reason="reads the files of Linux")
@pytest.mark.parametrize(("files", "free"), TABLE.values(), ids=TABLE.keys())
def test_free_memory_is_the_least_that_any_source_leaves(
    tmp_path: Path, files: Mapping[str, str], free: int | None
) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert free_memory(tmp_path) == free


def test_free_memory_of_this_machine_is_known() -> None:
    free = free_memory()
    assert free is not None
    assert 1_000_000 < free < 10**14
