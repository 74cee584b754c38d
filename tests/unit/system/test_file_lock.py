"""A lock lives as long as the process that took it."""

import subprocess
import sys
from pathlib import Path

import pytest

from stet.system.file_lock import FileLock

HOLD = """
import sys
from pathlib import Path
from stet.system.file_lock import FileLock
print(FileLock.acquire(Path(sys.argv[1])) is not None, flush=True)
sys.stdin.read()
"""


def test_a_lock_is_held_by_one_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = FileLock.acquire(path)
    assert lock is not None
    assert FileLock.acquire(path) is None
    lock.release()
    again = FileLock.acquire(path)
    assert again is not None
    assert path.stat().st_mode & 0o777 == 0o600
    again.release(remove=True)
    assert not path.exists()


def test_the_lock_of_a_process_that_is_killed_is_free(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-I", "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"True\n"
        assert FileLock.acquire(path) is None
        holder.kill()
    lock = FileLock.acquire(path)
    assert lock is not None
    lock.release()


def test_a_place_where_there_can_be_no_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FileLock.acquire(tmp_path / "missing" / "lock")
    with pytest.raises(IsADirectoryError):
        FileLock.acquire(tmp_path)
