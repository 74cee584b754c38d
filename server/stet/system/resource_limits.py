"""Limits of a process's own resources.

A process that parses untrusted texts limits itself first, if the system can do that. A server that
runs for days returns freed memory to the system. This module imports nothing large, because helper
processes start with it.
"""

import sys
from contextlib import suppress


def limit_resources(*, memory: int, cpu_seconds: int) -> None:
    """Limit the address space (bytes) and processor time (seconds); forbid writing to files."""
    try:
        import resource  # not on Windows
    except ImportError:
        return
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, 0),
    ):
        with suppress(ValueError, OSError):  # macOS does not limit address space
            resource.setrlimit(what, (most, most))


LARGE = 128 * 1024
"""Bytes; the allocator maps blocks of at least this size, and unmaps them when freed."""
_MMAP_THRESHOLD = -3
_ARENA_MAX = -8


def return_freed_memory() -> None:
    """Return freed memory to the system; call it in a worker thread, before there are many threads.

    The allocator of most Linux systems (glibc) gives each thread its own heap, and raises the size
    of blocks that come from the heap up to 32 MiB when a large block is freed: a text of 1 MB then
    leaves a hole in the heap. On other systems this does nothing.
    """
    if sys.platform != "linux":
        return
    import ctypes  # late: it takes 8 ms

    with suppress(OSError, AttributeError, TypeError):  # another C library without `mallopt`
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_ARENA_MAX, 1)
        mallopt(_MMAP_THRESHOLD, LARGE)
