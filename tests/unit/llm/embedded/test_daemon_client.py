"""The embedded model in a daemon: the real small model, and daemons that go wrong."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from stet.llm.embedded.embedded_model import EmbeddedModel
from stet.llm.embedded.model_daemons import ModelDaemons, RunningDaemon
from stet.llm.model import Message, ModelError, Request
from stet.llm.weights.local_model import LocalModel
from stet.system.system import System
from tests.support.local_models import small_model
from tests.support.model_daemons import daemon_folder, wait_for_end
from tests.support.model_requests import ModelOutput, question

FRANCE = "What is the capital of France? Answer in one sentence."
OTHER_USER = "Another `stet ask` uses the embedded model; this one may wait for it."

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="waits for processes as Linux can")


@pytest.fixture
def daemons() -> Iterator[ModelDaemons]:
    with daemon_folder() as folder:
        yield ModelDaemons(folder)


@pytest.fixture
def weights(tmp_path: Path) -> LocalModel:
    """Return the small model by a link that a test may remove."""
    local = small_model()
    path = tmp_path / local.path.name
    path.symlink_to(local.path)
    return replace(local, path=path)


@asynccontextmanager
async def asked(
    local: LocalModel, daemons: ModelDaemons
) -> AsyncIterator[tuple[ModelOutput, EmbeddedModel]]:
    """Ask a model as one run of `stet ask` does, and close it at the end."""
    model, output = EmbeddedModel(System(), local, daemons=daemons), ModelOutput()
    try:
        assert "Paris" in (await output.ask(model, question(FRANCE))).text
        yield output, model
    finally:
        await model.close()


def only(daemons: ModelDaemons) -> RunningDaemon:
    [running] = daemons.running()
    return running


@pytest.mark.slow
async def test_second_question_uses_the_daemon_of_the_first(
    weights: LocalModel, daemons: ModelDaemons
) -> None:
    async with asked(weights, daemons) as (output, model):
        assert model._process is None
        assert output.waits == []
    first = only(daemons)
    assert first.model == weights.path
    assert first.memory is not None
    assert 50_000_000 < first.memory < weights.memory
    async with asked(weights, daemons) as (output, _):
        assert output.waits == []
    assert only(daemons).process_id == first.process_id
    assert os.getsid(first.process_id) == first.process_id
    assert os.readlink(f"/proc/{first.process_id}/cwd") == "/"  # noqa: PTH115


@pytest.mark.slow
async def test_daemon_has_no_key_of_the_environment(
    weights: LocalModel, daemons: ModelDaemons, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OMP_PROC_BIND", "false")
    async with asked(weights, daemons):
        environment = Path(f"/proc/{only(daemons).process_id}/environ").read_text()  # noqa: ASYNC240
    assert "OPENAI_API_KEY" not in environment
    assert "OMP_PROC_BIND=false" in environment


@pytest.mark.slow
async def test_daemon_ends_after_its_idle_time(weights: LocalModel, daemons: ModelDaemons) -> None:
    daemons = replace(daemons, idle_seconds=0.1)
    async with asked(weights, daemons):
        process_id = only(daemons).process_id
    await asyncio.to_thread(wait_for_end, process_id)
    assert list(daemons.running()) == []
    assert not list(daemons.folder.glob("*.sock"))
    async with asked(weights, daemons):
        assert only(daemons).process_id != process_id


@pytest.mark.slow
async def test_daemon_ends_when_its_weights_are_removed(
    weights: LocalModel, daemons: ModelDaemons
) -> None:
    async with asked(weights, daemons):
        process_id = only(daemons).process_id
    weights.path.unlink()
    await asyncio.to_thread(wait_for_end, process_id)


@pytest.mark.slow
async def test_two_questions_at_once_share_one_daemon(
    weights: LocalModel, daemons: ModelDaemons
) -> None:
    async with asked(weights, daemons):
        async with asked(weights, daemons) as (output, _):
            assert output.waits == [OTHER_USER]
        only(daemons)

    async def ask() -> int:
        async with asked(weights, daemons):
            return only(daemons).process_id

    os.kill(only(daemons).process_id, signal.SIGKILL)
    one, two = await asyncio.gather(ask(), ask())
    assert one == two


@pytest.mark.slow
async def test_crashed_daemon_is_replaced(weights: LocalModel, daemons: ModelDaemons) -> None:
    async with asked(weights, daemons) as (output, model):
        first = only(daemons).process_id
        os.kill(first, signal.SIGKILL)
        assert "Paris" in (await output.ask(model, question(FRANCE))).text
        assert output.waits == ["The embedded model crashed; restarting it."]
        second = only(daemons).process_id
        assert first != second
    os.kill(second, signal.SIGKILL)  # it leaves its socket
    await asyncio.to_thread(wait_for_end, second)
    async with asked(weights, daemons):
        assert only(daemons).process_id not in {first, second}


WRITING = """
import asyncio, sys
from pathlib import Path
from stet.llm.embedded.embedded_model import EmbeddedModel
from stet.llm.embedded.model_daemons import ModelDaemons
from stet.llm.model import Message, Request
from stet.llm.weights import model_folder
from stet.llm.weights.catalog import SMALL
from stet.llm.weights.local_model import catalog_model
from stet.system.system import System

async def main():
    local = catalog_model(SMALL, Path(sys.argv[1]))
    model = EmbeddedModel(System(), local, daemons=ModelDaemons(Path(sys.argv[2])))
    request = Request((Message("user", "Count."),), grammar="root ::= [0-9]{500}")
    await model.complete(request, lambda _: print("writes", flush=True))
    await model.close()

asyncio.run(main())
"""


def processor_time(process_id: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
async def test_killed_client_leaves_no_work_in_the_daemon(
    weights: LocalModel, daemons: ModelDaemons
) -> None:
    command = [sys.executable, "-c", WRITING, str(weights.path.parent), str(daemons.folder)]
    async with asked(weights, daemons) as (output, model):
        process_id = only(daemons).process_id
        began = processor_time(process_id)
        writing = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
        await writing.communicate()
        whole = processor_time(process_id) - began
        writing = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
        assert writing.stdout is not None
        assert await writing.stdout.readline() == b"writes\n"
        began = processor_time(process_id)
        writing.kill()
        await writing.wait()
        # One question at a time is answered: this one waits for the end of the other.
        await output.ask(model, Request((Message("user", "Hello."),), max_tokens=1))
        assert processor_time(process_id) - began < whole / 2


async def test_weights_that_cannot_be_loaded_are_reported_as_by_a_child(
    tmp_path: Path, daemons: ModelDaemons
) -> None:
    pytest.importorskip("xllamacpp")
    path = tmp_path / "junk.gguf"
    path.write_bytes(b"junk")
    junk = LocalModel("junk", path, 4, 1000, 10**9, 4096, architecture="newfamily")
    reported = "The embedded model could not be started: .* may not know the family 'newfamily'"
    model = EmbeddedModel(System(), junk, daemons=daemons)
    with pytest.raises(ModelError, match=reported):
        await ModelOutput().ask(model)
    assert model._process is None


@pytest.mark.slow
async def test_model_runs_in_a_child_where_no_daemon_can_be_started(
    weights: LocalModel, tmp_path: Path
) -> None:
    async with asked(weights, ModelDaemons(tmp_path / "missing")) as (_, model):
        assert model._process is not None
