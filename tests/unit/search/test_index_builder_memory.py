"""Memory that is not needed any more goes back to the system."""

import platform
import re
from pathlib import Path

import pytest

from stet.search import chunk as fields
from stet.search.chunk import words
from stet.search.index_builder import trim_memory


def resident() -> int:
    """Kilobytes of memory of this process."""
    (found,) = re.findall(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found)


def test_terms_are_the_same_after_the_word_cache_is_cleared() -> None:
    before = words("getUserNames über")
    trim_memory()
    assert not fields._known
    assert words("getUserNames über") == before


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="no other library is asked")
def test_freed_memory_is_returned_to_the_system() -> None:
    texts = [bytes(1000) for _ in range(60_000)]
    last = bytes(1000)
    texts.clear()
    before = resident()
    trim_memory()
    assert resident() < before - 30_000
    assert last
