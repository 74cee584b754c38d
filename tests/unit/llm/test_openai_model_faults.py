"""Every way a model server fails, over real HTTP: nothing hangs, nothing passes for success.

M-numbers are those of the list of faults that the project keeps.
"""

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from stet.llm.model import (
    ContextOverflow,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    StreamInterrupted,
    ToolsUnsupported,
)
from stet.llm.model_endpoint import ModelEndpoint, Timeouts
from stet.llm.openai_model import OpenAIModel
from stet.llm.retry import RetryPolicy
from stet.system.system import System
from tests.support.model_requests import KEY, QUICK, ModelOutput, model_at, question
from tests.support.openai_server import End, OpenAIServer, Reply, delta, error, piece, say, usage

pytestmark = pytest.mark.slow


HELLO = [delta(role="assistant", content=""), delta(content="Hel"), delta(content="lo")]
HALF_A_CALL = [delta(tool_calls=[piece(0, id="a", name="edit_file", arguments='{"path": "a')])]
END = delta(finish="stop")


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as server:
        yield server


@pytest.fixture
async def model(server: OpenAIServer) -> AsyncIterator[OpenAIModel]:
    model = model_at(server)
    yield model
    await model.close()


@pytest.fixture
def output() -> ModelOutput:
    return ModelOutput()


async def failure_of(model: OpenAIModel, output: ModelOutput) -> ModelError:
    """The error of one round; no key in it or in what was said while it was tried again."""
    with pytest.raises(ModelError) as caught:
        await output.ask(model)
    assert KEY not in str(caught.value) + "".join(output.waits)
    assert "\n" not in str(caught.value)
    return caught.value


async def test_m1_retry_after_is_obeyed_and_reported(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(error(429, "Slow down.", retry_after="0.3"), say("ok"))
    started = time.perf_counter()
    assert (await output.ask(model)).text == "ok"
    assert time.perf_counter() - started >= 0.3
    (waited,) = output.waits
    host = model.endpoint.host
    limits = f"openai ({host}) rate limit exceeded (HTTP 429): Slow down."
    assert waited == f"Retrying: {limits} Attempt 2 of 3."


async def test_m1_retry_after_may_be_a_date(server: OpenAIServer, output: ModelOutput) -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    server.add(error(429, "Slow down.", retry_after=when))
    model = model_at(server, retry=RetryPolicy(longest_wait=60))
    failure = await failure_of(model, output)
    await model.close()
    assert isinstance(failure, ModelUnavailable)
    assert re.match(r"Wait (8[7-9]|9[0-3]) s and try again at ", str(failure))


async def test_m2_a_long_retry_after_fails_at_once_and_reports_the_time(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(error(429, "Slow down.", retry_after="120"))
    failure = await failure_of(model, output)
    assert isinstance(failure, ModelUnavailable)
    assert str(failure).startswith("Wait 120 s and try again at ")
    assert (len(server.requests), output.waits) == (1, [])


async def test_m2_the_list_of_models_may_ask_to_wait_too(output: ModelOutput) -> None:
    pages = {"/v1/models": error(429, "Slow down.", retry_after="120")}
    async with OpenAIServer(pages=pages) as server:
        model = model_at(server, name="")
        failure = await failure_of(model, output)
        await model.close()
    assert str(failure).startswith("Wait 120 s and try again at ")
    assert (len(server.others), output.waits) == (1, [])


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
async def test_m3_temporary_errors_are_retried(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput, status: int
) -> None:
    server.add(error(status, "busy"), error(status, "busy"), say("ok"))
    assert (await output.ask(model)).text == "ok"
    assert (len(server.requests), len(output.waits)) == (3, 2)


async def test_m3_retries_are_limited(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(*[error(503, "overloaded")] * 9)
    failure = await failure_of(model, output)
    assert str(failure) == f"openai ({model.endpoint.host}) failed (HTTP 503): overloaded."
    assert isinstance(failure, ModelUnavailable)
    assert len(server.requests) == QUICK.tries


async def test_m3_a_connection_dropped_before_the_answer_is_tried_again(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(Reply(drop=True), Reply(drop=True), say("ok"))
    assert (await output.ask(model)).text == "ok"


async def test_waiting_for_another_try_is_cancelled_at_once(server: OpenAIServer) -> None:
    server.add(error(429, "Slow down.", retry_after="50"))
    model = model_at(server, retry=RetryPolicy())
    waiting = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(
            model.complete(question(), lambda _: None, lambda _: waiting.set())
        )
        await waiting.wait()
        started = time.perf_counter()
        asking.cancel()
    assert time.perf_counter() - started < 0.2
    assert len(server.requests) == 1
    await model.close()


CUT_STREAMS: dict[str, Reply] = {
    "M4 end of file in text": Reply(HELLO, End.EOF),
    "M4 cut in text": Reply(HELLO, End.CUT),
    "M5 end of file in arguments": Reply(HALF_A_CALL, End.EOF),
    "M5 cut in arguments": Reply(HALF_A_CALL, End.CUT),
    "M5 closing mark inside arguments": Reply(HALF_A_CALL, End.DONE),
    "M6 reset in text": Reply(HELLO, End.RESET),
    "M6 reset in arguments": Reply(HALF_A_CALL, End.RESET),
    "M8 broken JSON": Reply([*HELLO, 'data: {"choices": [{"del\n\n'], End.DONE),
    "M8 JSON that is no object": Reply([*HELLO, "data: [1, 2]\n\n"], End.DONE),
    "M9 an error of no known kind": Reply([*HELLO, {"error": {"message": "Boom."}}], End.EOF),
    "M9 an error event": Reply([*HELLO, 'event: error\ndata: {"message": "Boom."}\n\n'], End.EOF),
    "M12 nothing at all": Reply([], End.EOF),
    "M12 only the closing mark": Reply([], End.DONE),
    "M12 empty choices": Reply([{"choices": []}, usage(1, 0)], End.DONE),
    "M33 the provider says it failed": Reply([*HELLO, delta(finish="error")], End.DONE),
}


@pytest.mark.parametrize("reply", CUT_STREAMS.values(), ids=CUT_STREAMS.keys())
async def test_a_stream_cut_short_is_asked_for_once_more_from_the_start(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput, reply: Reply
) -> None:
    server.add(reply, say("Whole now."))
    completion = await output.ask(model)
    assert (completion.text, completion.tool_calls) == ("Whole now.", ())
    assert output.text == "Whole now."
    assert len(output.waits) == 1
    assert server.requests[0].body == server.requests[1].body


@pytest.mark.parametrize("reply", CUT_STREAMS.values(), ids=CUT_STREAMS.keys())
async def test_a_stream_cut_twice_is_an_error(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput, reply: Reply
) -> None:
    server.add(reply, reply, say("never asked for"))
    failure = await failure_of(model, output)
    assert isinstance(failure, (StreamInterrupted, ModelUnavailable))
    assert f"openai ({model.endpoint.host})" in str(failure)
    assert len(server.requests) == 2


async def test_truncated_answer_keeps_its_text(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(Reply(HELLO, End.CUT), Reply(HELLO, End.CUT))
    failure = await failure_of(model, output)
    assert isinstance(failure, StreamInterrupted)
    assert failure.text == "Hello"


async def test_m7_arguments_that_are_no_json_are_handed_on_as_they_are(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(Reply([*HALF_A_CALL, delta(finish="tool_calls")]))
    (called,) = (await output.ask(model)).tool_calls
    assert called.arguments == '{"path": "a'


async def test_m9_an_overload_inside_a_stream_is_tried_again(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    overloaded = Reply([{"error": {"message": "Overloaded.", "type": "overloaded_error"}}], End.EOF)
    server.add(overloaded, overloaded, say("ok"))
    assert (await output.ask(model)).text == "ok"


@pytest.mark.parametrize("kind", ["text/html", "text/html; charset=utf-8", "text/plain"])
async def test_m10_a_web_page_is_no_answer(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput, kind: str
) -> None:
    server.add(Reply(body="<!doctype html><html>Log in</html>", content_type=kind))
    failure = await failure_of(model, output)
    assert isinstance(failure, ModelRefused)
    assert "check model.baseUrl" in str(failure)
    assert len(server.requests) == 1


REFUSALS: list[tuple[str, Reply, type[ModelError], str]] = [
    ("401", error(401, f"bad key {KEY}"), ModelRefused, "rejected the key in OPENAI_API_KEY"),
    ("403", error(403, "no access"), ModelRefused, "has no access to 'gpt-test'"),
    ("404", error(404, "no such model"), ModelRefused, "check model.name"),
    ("400", error(400, "bad\x1b[8m\nthing"), ModelRefused, "(HTTP 400): bad [8m thing."),
    ("M16 413", error(413, "too large"), ContextOverflow, "start a new chat"),
    (
        "M12 context length",
        error(400, "This model's maximum context length is 8192 tokens."),
        ContextOverflow,
        "context window of 'gpt-test'",
    ),
    (
        "no credit left",
        error(429, "You exceeded your quota.", code="insufficient_quota"),
        ModelRefused,
        "no credit left",
    ),
    (
        "no tool calls",
        error(400, "gemma does not support tools"),
        ToolsUnsupported,
        'set model.toolCalls to "text"',
    ),
    ("M20 proxy", error(407, "login"), ModelRefused, "HTTPS_PROXY"),
    ("an HTML 404", Reply(status=404, body="<html>x</html>"), ModelRefused, "HTTP 404: a web page"),
    ("a list", Reply(status=400, body=[{"error": {"message": "Nope."}}]), ModelRefused, "Nope."),
]


@pytest.mark.parametrize(
    ("reply", "kind", "words"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS]
)
async def test_refusal_is_not_retried_and_is_reported_with_a_remedy(
    server: OpenAIServer,
    model: OpenAIModel,
    output: ModelOutput,
    reply: Reply,
    kind: type[ModelError],
    words: str,
) -> None:
    server.add(reply)
    failure = await failure_of(model, output)
    assert type(failure) is kind
    assert words in str(failure)
    assert f"openai ({model.endpoint.host})" in str(failure)
    assert (len(server.requests), output.waits) == (1, [])


async def test_without_a_key_a_401_names_the_variable(
    server: OpenAIServer, output: ModelOutput
) -> None:
    server.add(error(401, "no key"))
    model = OpenAIModel(
        ModelEndpoint("groq", server.base_url, "m", key_env="GROQ_API_KEY"), System()
    )
    assert "set GROQ_API_KEY in the editor" in str(await failure_of(model, output))
    await model.close()
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("hint", ["Start it with `ollama serve`.", ""])
async def test_closed_port_is_reported(output: ModelOutput, hint: str) -> None:
    async with OpenAIServer() as gone:
        url = gone.base_url
    model = OpenAIModel(ModelEndpoint("ollama", url, "m", hint=hint), System(), retry=QUICK)
    failure = await failure_of(model, output)
    await model.close()
    assert isinstance(failure, ModelUnavailable)
    assert "is the server running?" in str(failure)
    assert str(failure).endswith(hint or "?")
    assert len(output.waits) == QUICK.tries - 1


async def test_m12_silence_in_an_answer_is_ended(server: OpenAIServer, output: ModelOutput) -> None:
    server.add(Reply(HELLO, End.HANG), Reply(HELLO, End.HANG))
    model = model_at(server, timeouts=Timeouts(first=2, idle=0.1, total=5))
    failure = await failure_of(model, output)
    await model.close()
    assert isinstance(failure, ModelTimeout)
    assert "stopped responding for 0.1 s" in str(failure)
    assert len(server.requests) == 2


async def test_silence_before_an_answer_is_ended(server: OpenAIServer, output: ModelOutput) -> None:
    server.add(Reply([], End.HANG))
    model = model_at(server, timeouts=Timeouts(first=0.1, idle=2, total=5))
    failure = await failure_of(model, output)
    await model.close()
    assert isinstance(failure, ModelTimeout)
    assert "did not respond within 0.1 s" in str(failure)


async def test_m21_a_slow_drip_is_ended(server: OpenAIServer, output: ModelOutput) -> None:
    drip = Reply([delta(content="x")] * 1000, End.HANG, slice=1, pause=0.002)
    server.add(drip)
    model = model_at(server, timeouts=Timeouts(first=2, idle=2, total=0.3))
    failure = await failure_of(model, output)
    await model.close()
    assert isinstance(failure, ModelTimeout)
    assert "did not finish its answer within 0.3 s" in str(failure)


@pytest.mark.parametrize("event", [{"choices": []}, ": keep-alive\n\n", delta(content="")])
async def test_m37_empty_chunks_do_not_reset_the_timeout(
    server: OpenAIServer, output: ModelOutput, event: Any
) -> None:
    server.add(Reply([event] * 2000, End.HANG, pause=0.001))
    model = model_at(server, timeouts=Timeouts(first=0.2, idle=0.2, total=5))
    assert isinstance(await failure_of(model, output), ModelTimeout)
    await model.close()


async def test_m22_an_endless_line_is_refused(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stet.llm.completion_stream.MAX_EVENT_BYTES", 10_000)
    server.add(*[Reply(["data: " + "x" * 50_000])] * 2)
    assert isinstance(await failure_of(model, output), StreamInterrupted)


async def test_invalid_base_url_is_refused(output: ModelOutput) -> None:
    for url in ("http://", "ftp://example.org/v1", "nonsense", "http://x:y@[::1"):
        model = OpenAIModel(ModelEndpoint("openai-compatible", url, "m"), System(), retry=QUICK)
        assert "model.baseUrl" in str(await failure_of(model, output))
        await model.close()


async def test_no_key_and_no_prompt_is_logged(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.add(error(401, f"bad key {KEY}"))
    await failure_of(model, output)
    assert KEY not in caplog.text
    assert "Hello?" not in caplog.text


@pytest.mark.parametrize("events", [[*HELLO, END, END], [*HELLO, END, delta(finish="tool_calls")]])
async def test_m33_two_finish_reasons_are_one_end(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput, events: Sequence[dict[str, Any]]
) -> None:
    server.add(Reply(events))
    assert (await output.ask(model)).text == "Hello"
