"""Memory that is not needed any more goes back to the system."""

import platform
import re
from pathlib import Path

import pytest

from stet.index.search import fields
from stet.index.search.fields import words
from stet.index.search.spare import let_go


def resident() -> int:
    """Kilobytes of memory of this process."""
    (found,) = re.findall(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found)


def test_words_are_read_alike_once_they_are_forgotten() -> None:
    before = words("getUserNames über")
    let_go()
    assert not fields._known
    assert words("getUserNames über") == before


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="no other library is asked")
def test_what_was_freed_between_other_things_is_given_back() -> None:
    texts = [bytes(1000) for _ in range(60_000)]
    last = bytes(1000)
    texts.clear()
    before = resident()
    let_go()
    assert resident() < before - 30_000
    assert last
