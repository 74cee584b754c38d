"""The users of a model daemon, without a model."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stet.control.peer import is_same_user, is_supported
from stet.llm.embedded import model_daemon
from stet.llm.embedded.model_daemon import ModelDaemon
from stet.llm.embedded.model_daemons import ModelDaemons
from stet.system.system import System
from tests.support.model_daemons import SECONDS, daemon_folder

pytestmark = pytest.mark.skipif(not is_supported(), reason="needs Unix sockets")
NOBODY = 65534
REPLY = {"port": 4242, "key": "secret"}


class Weights:
    """A file of weights that a test changes."""

    is_unchanged = True


@pytest.fixture
def path() -> Iterator[Path]:
    with daemon_folder() as folder:
        yield folder / "model.sock"


@contextmanager
def serving(path: Path, weights: Weights, idle_seconds: float) -> Iterator[threading.Thread]:
    """Run a daemon in a thread; at the end its weights change, with which it ends."""
    listening = model_daemon._listen(str(path))
    daemon = ModelDaemon(listening, REPLY, lambda: weights.is_unchanged, idle_seconds)
    thread = threading.Thread(target=daemon.serve)
    thread.start()
    try:
        yield thread
    finally:
        weights.is_unchanged = False
        thread.join(SECONDS)
        assert not thread.is_alive()


@contextmanager
def connected(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SECONDS)
        connection.connect(str(path))
        yield connection


def reply_to(connection: socket.socket) -> object:
    """Return what a daemon answers; "" if it refuses."""
    line = connection.makefile().readline()
    return json.loads(line) if line else ""


def test_each_user_gets_the_address_and_the_number_of_others(path: Path) -> None:
    with serving(path, Weights(), 1000), connected(path) as one, connected(path) as two:
        assert [reply_to(one), reply_to(two)] == [{**REPLY, "users": n} for n in (0, 1)]


def test_daemon_without_a_user_ends_after_its_idle_time(path: Path) -> None:
    with serving(path, Weights(), 0.01) as thread:
        thread.join(SECONDS)
        assert not thread.is_alive()


def test_daemon_with_a_user_ends_only_after_that_user(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_daemon, "LOOK_SECONDS", 0.01)
    with serving(path, Weights(), 0.2) as thread:
        with connected(path) as one, connected(path) as two:
            assert reply_to(one) == {**REPLY, "users": 0}
            one.close()
            thread.join(0.5)  # longer than the idle time
            assert thread.is_alive()
            assert reply_to(two) != ""
        thread.join(SECONDS)
        assert not thread.is_alive()


def test_changed_weights_end_the_daemon_and_refuse_new_users(path: Path) -> None:
    weights = Weights()
    with serving(path, weights, 1000) as thread:
        with connected(path) as user:
            assert reply_to(user) != ""
            weights.is_unchanged = False
            with connected(path) as late:
                assert reply_to(late) == ""
            assert thread.is_alive()
        thread.join(SECONDS)
        assert not thread.is_alive()


def test_user_of_this_process_is_the_same_user() -> None:
    one, two = socket.socketpair(socket.AF_UNIX)
    with one, two:
        assert is_same_user(one)
    with socket.socket(socket.AF_UNIX) as unconnected:
        assert not is_same_user(unconnected)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("is_open", [False, True])
def test_another_user_is_refused_by_the_folder_and_by_the_daemon(
    path: Path, *, is_open: bool
) -> None:
    with serving(path, Weights(), 1000):
        if is_open:  # as if the modes were wrong
            path.parent.chmod(0o755)
            path.chmod(0o777)
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            try:
                with connected(path) as connection:
                    answer = str(reply_to(connection)) or "refused"
            except PermissionError:
                answer = "no access"
            os.write(writing, answer.encode())
            os._exit(0)
        os.waitpid(child, 0)
        assert os.read(reading, 100).decode() == ("refused" if is_open else "no access")
        os.close(reading)
        os.close(writing)
        with connected(path) as user:
            assert reply_to(user) == {**REPLY, "users": 0}


def test_runtime_folder_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = System().runtime_folder()
    assert (folder, folder.stat().st_mode & 0o777) == (tmp_path / "stet", 0o700)
    folder.chmod(0o750)
    with pytest.raises(PermissionError):
        System().runtime_folder()
    assert ModelDaemons.of(System()) is None
    folder.rmdir()
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    folder.symlink_to(other)
    with pytest.raises(PermissionError):
        System().runtime_folder()


def test_runtime_folder_is_in_the_cache_where_the_system_names_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert System().runtime_folder() == System().cache_folder() / "run"


def test_each_state_of_the_weights_and_way_to_run_them_has_a_daemon_of_its_own(
    tmp_path: Path,
) -> None:
    weights, daemons = tmp_path / "m.gguf", ModelDaemons(Path("/run"))
    weights.write_bytes(b"junk")
    order = {"model": str(weights), "context": 4096}
    found = daemons.order(order)
    assert found == daemons.order(order)
    assert found is not None
    others = [daemons.order({**order, "context": 8192})]
    weights.write_bytes(b"other")
    others.append(daemons.order(order))
    assert len({str(one["socket"]) for one in (found, *others) if one is not None}) == 3
    assert ModelDaemons(Path("/" + 100 * "x")).order(order) is None
