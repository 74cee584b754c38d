"""How the C library keeps memory that was freed, so that a server which runs for days stays small."""

import sys
from contextlib import suppress

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
