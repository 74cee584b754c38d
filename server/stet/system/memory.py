"""How much memory a new process may use before the system runs out of it."""

import ctypes
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_UNLIMITED = 2**60
"""A limit of a control group from which on there is none."""


def free_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes that a new process may use, or None if that is not known. It may block.

    On Linux this is what the kernel estimates, or less in a control group with a limit; caches
    that the system can drop count as free.

    Args:
        root: The folder above `proc` and `sys`.
    """
    if sys.platform == "win32":
        return _windows()
    if sys.platform == "darwin":
        return _macos()
    found = [_available(root), *_left_in_groups(root), _left_in_old_group(root)]
    known = [n_bytes for n_bytes in found if n_bytes is not None]
    return max(0, min(known)) if known else None


def _available(root: Path) -> int | None:
    """Return `MemAvailable` of `/proc/meminfo`."""
    found = re.search(r"^MemAvailable: +(\d+) kB$", _read(root / "proc/meminfo"), re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _left_in_groups(root: Path) -> Iterator[int | None]:
    """Yield what the limits of this process's control groups leave (version 2), the inner first."""
    base = root / "sys/fs/cgroup"
    found = re.search(r"^0::/(.*)$", _read(root / "proc/self/cgroup"), re.MULTILINE)
    inner = base / found[1] if found and ".." not in found[1] else base
    for group in (inner, *inner.parents):
        yield _left(group / "memory.max", group / "memory.current", group / "memory.stat")
        if group == base:
            return


def _left_in_old_group(root: Path) -> int | None:
    """Return what the limit of a control group leaves (version 1)."""
    group = root / "sys/fs/cgroup/memory"
    used = group / "memory.usage_in_bytes"
    return _left(group / "memory.limit_in_bytes", used, group / "memory.stat")


def _left(limit: Path, used: Path, details: Path) -> int | None:
    most, now = _read(limit).strip(), _read(used).strip()
    if not (most.isdigit() and now.isdigit()) or int(most) >= _UNLIMITED:
        return None
    cached = re.search(r"^(?:total_)?inactive_file (\d+)$", _read(details), re.MULTILINE)
    return int(most) - int(now) + (int(cached[1]) if cached else 0)


def _read(path: Path) -> str:
    """Return the text of a file of the kernel; "" if there is none."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _windows() -> int | None:
    class _MemoryStatus(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            ("total", ctypes.c_ulonglong),
            ("available", ctypes.c_ulonglong),
            ("more", ctypes.c_ulonglong * 5),
        )

    status = _MemoryStatus()
    status.length = ctypes.sizeof(status)
    with suppress(AttributeError, OSError):
        kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined, unused-ignore]
        if kernel.GlobalMemoryStatusEx(ctypes.byref(status)):
            return int(status.available)
    return None


def _macos() -> int | None:
    """Return free, purgeable and file-backed pages, in bytes."""
    with suppress(AttributeError, OSError):
        library = ctypes.CDLL("libc.dylib")
        counts = [
            _sysctl(library, name)
            for name in (
                b"vm.page_free_count",
                b"vm.page_purgeable_count",
                b"vm.page_pageable_external_count",
            )
        ]
        size = _sysctl(library, b"hw.pagesize")
        if counts[0] is not None and size:
            return sum(count or 0 for count in counts) * size
    return None


def _sysctl(library: ctypes.CDLL, name: bytes) -> int | None:
    value, length = ctypes.c_uint64(0), ctypes.c_size_t(8)
    failed = library.sysctlbyname(name, ctypes.byref(value), ctypes.byref(length), None, 0)
    return None if failed else value.value
