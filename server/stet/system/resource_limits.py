"""What a process does about its own resources.

A process that reads strangers' texts limits itself first, where the system can do that. A server that
runs for days returns freed memory to the system. This file imports nothing large: a helper process starts
with it.
"""

import contextlib
import sys
from contextlib import suppress


def limit_resources(*, memory: int, cpu_seconds: int) -> None:
    """Limit this process to so many bytes of address space and seconds of processor time, and to
    no written files.
    """
    try:
        import resource  # there is none on Windows
    except ImportError:
        return
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # macOS does not limit address space
            resource.setrlimit(what, (most, most))


LARGE = 128 * 1024
"""Bytes from which on a block is asked of the system itself, and given back to it once it is free."""
_MMAP_THRESHOLD = -3
_ARENA_MAX = -8


def return_freed_memory() -> None:
    """Have what is free go back to the system; to be called in a worker thread, before there are many.

    The allocator of most Linux systems (glibc) gives each thread a heap of its own, and moves what it
    takes for a large block up to 32 MiB once such a one was freed: a text of 1 MB then leaves a hole
    between what stays. Elsewhere nothing is asked.
    """
    if sys.platform != "linux":
        return
    import ctypes  # late: it takes 8 ms

    with suppress(OSError, AttributeError, TypeError):  # another library, or none to be named so
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_ARENA_MAX, 1)
        mallopt(_MMAP_THRESHOLD, LARGE)
