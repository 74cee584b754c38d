"""Model daemons of tests: a folder whose path is short enough for sockets, and their ends."""

import os
import select
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stet.llm.embedded.model_daemons import ModelDaemons

SECONDS = 60.0
"""Seconds until a daemon counts as hanging."""


@contextmanager
def daemon_folder() -> Iterator[Path]:
    """Make a folder for the files of daemons; kill those that run at the end."""
    with tempfile.TemporaryDirectory(prefix="stet-") as folder:
        path = Path(folder)
        try:
            yield path
        finally:
            for daemon in ModelDaemons(path).running():
                os.kill(daemon.process_id, 9)
                wait_for_end(daemon.process_id)


def wait_for_end(process_id: int) -> None:
    """Wait until a process has ended (Linux only); it need not be a child of this one."""
    try:
        watched = os.pidfd_open(process_id)
    except ProcessLookupError:
        return
    try:
        ended, _, _ = select.select([watched], [], [], SECONDS)
    finally:
        os.close(watched)
    assert ended, f"process {process_id} still runs"
