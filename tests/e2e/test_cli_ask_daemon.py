"""`stet ask` with the real small model, which stays loaded for the next question."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stet.llm.embedded.model_daemons import ModelDaemons, RunningDaemon
from tests.support.local_models import small_model
from tests.support.model_daemons import daemon_folder, wait_for_end
from tests.support.shell import STET, Shell

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="waits for processes as Linux can"),
]
TEXT = "The new parser are faster than the old one, and it use less memory.\n"
CORRECTED = "The new parser is faster than the old one, and it uses less memory.\n"
ASK = ("ask", "Correct the grammar.", "--file", "a.md", "--mode", "rewrite", "--accept", "all")


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """Make a shell whose user has installed a copy of the small model."""
    local = small_model()
    shell = Shell.at(tmp_path)
    models = Path(shell.env["XDG_DATA_HOME"], "stet", "models")
    models.mkdir(parents=True)
    (models / local.path.name).symlink_to(local.path)
    shell.write("a.md", TEXT)
    with daemon_folder() as runtime:
        shell.env["XDG_RUNTIME_DIR"] = str(runtime)
        (runtime / "stet").mkdir(mode=0o700)
        yield shell
        for one in daemons(shell):
            os.kill(one.process_id, signal.SIGKILL)
            wait_for_end(one.process_id)


def daemons(shell: Shell) -> list[RunningDaemon]:
    return list(ModelDaemons(Path(shell.env["XDG_RUNTIME_DIR"], "stet")).running())


def corrected(shell: Shell) -> int:
    """Ask for a correction; return the id of the process that has the model."""
    path = shell.write("a.md", TEXT)
    done = shell.run(*ASK)
    assert (done.returncode, path.read_text()) == (0, CORRECTED), done.stderr
    [running] = daemons(shell)
    return running.process_id


def test_second_question_does_not_load_the_model_again(shell: Shell) -> None:
    first = corrected(shell)
    assert corrected(shell) == first
    listed = shell.run("model", "list").stdout
    assert f"loaded for the next `stet ask` (process {first}, " in listed.replace("\n", " ")
    found = " ".join(shell.run("doctor").stdout.split())
    assert f"loaded for the next `stet ask` (process {first}, " in found
    [running] = daemons(shell)
    assert running.process_id == first
    assert shell.left_running() == []


def test_removed_model_is_unloaded(shell: Shell) -> None:
    process_id = corrected(shell)
    assert shell.run("model", "remove", "small").returncode == 0
    wait_for_end(process_id)
    assert daemons(shell) == []


def test_killed_question_leaves_the_model_for_the_next_one(shell: Shell) -> None:
    first = corrected(shell)
    shell.write("a.md", TEXT)
    with subprocess.Popen(
        [*STET, *ASK], cwd=shell.folder, env=shell.env, stderr=subprocess.PIPE, text=True
    ) as asking:
        assert asking.stderr is not None
        while "round 1" not in asking.stderr.readline():
            pass
        asking.kill()
    assert corrected(shell) == first
