"""Memory that is free goes back to the system, though what stays lies between."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


HOLES = """
import resource, sys, threading
from stet.system.resource_limits import return_freed_memory
if sys.argv[1] == "small":
    return_freed_memory()
def work(kept):
    del [bytearray(4_000_000)][0]
    for _ in range(100):
        texts = [bytearray(300_000) for _ in range(20)]
        kept.append(bytearray(2_000))
kept = []
work(kept)
threads = [threading.Thread(target=work, args=(kept,)) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize())
"""


def resident(how: str) -> int:
    """Return the resident bytes after large blocks between small ones are freed."""
    argv = [sys.executable, "-c", HOLES, how]
    return int(subprocess.run(argv, capture_output=True, check=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator of Linux is meant")
def test_freed_large_blocks_are_returned_to_the_system() -> None:
    assert resident("small") < resident("as it is") - 10_000_000
