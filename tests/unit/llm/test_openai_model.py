"""The adapter over real HTTP: what it sends, and what it makes of answers in order."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from stet.llm.model import Completion, Message, Request, StopReason, ToolCall, Usage
from stet.llm.model_endpoint import ModelEndpoint, Sampling
from stet.llm.openai_model import OpenAIModel
from stet.system.system import System
from tests.support.model_requests import KEY, READ_FILE, ModelOutput, model_at, question
from tests.support.openai_server import (
    End,
    OpenAIServer,
    Reply,
    call,
    delta,
    error,
    piece,
    say,
    usage,
)


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


async def test_an_answer_is_streamed_and_comes_back_whole(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(say("Let it stand."))
    assert await output.ask(model) == Completion(
        "Let it stand.", (), StopReason.STOP, Usage(10, 5), "test-1"
    )
    assert output.pieces == ["Let", " it", " stand."]


async def test_request_holds_the_required_fields_only(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(say("Yes."))
    await output.ask(model, question("Ready?", READ_FILE))
    (asked,) = server.requests
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "model": "gpt-test",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Ready?"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read_file",
                    "description": "Read a file.",
                    "parameters": dict(READ_FILE.parameters),
                },
            }
        ],
    }


async def test_texts_that_end_a_call_are_sent_with_tools_only(
    server: OpenAIServer, output: ModelOutput
) -> None:
    server.add(say("a"), say("b"))
    model = model_at(server, sampling=Sampling(call_stop=("\\n\\n",)))
    await output.ask(model, question("Ready?", READ_FILE))
    await output.ask(model)
    await model.close()
    assert [asked.body.get("stop") for asked in server.requests] == [["\\n\\n"], None]


async def test_settings_and_request_set_temperature_and_cap(
    server: OpenAIServer, output: ModelOutput
) -> None:
    server.add(say("a"), say("b"))
    model = model_at(server, sampling=Sampling(temperature=0.5, max_tokens=100))
    await output.ask(model)
    await output.ask(model, Request((Message("user", "x"),), max_tokens=7))
    await model.close()
    sent = [
        {k: asked.body.get(k) for k in ("temperature", "max_tokens")} for asked in server.requests
    ]
    assert sent == [
        {"temperature": 0.5, "max_tokens": 100},
        {"temperature": 0.5, "max_tokens": 7},
    ]


async def test_rounds_share_one_connection(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(say("a"), say("b"), call("read_file", path="x"))
    for _ in range(3):
        await output.ask(model)
    assert server.n_connections == 1


async def test_a_conversation_with_a_bad_call_is_sent_in_a_form_no_server_refuses(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(say("ok"))
    broken = ToolCall("callnr001", "", '{"path": "a')
    messages = (
        Message("user", "lone \ud800 surrogate"),
        Message("assistant", "", (broken,)),
        Message("tool", "That was no JSON.", tool_call_id="callnr001"),
    )
    await output.ask(model, Request(messages))
    assert server.requests[0].body["messages"] == [
        {"role": "user", "content": "lone \ufffd surrogate"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "callnr001",
                    "type": "function",
                    "function": {
                        "name": "unknown",
                        "arguments": '{"invalid": "{\\"path\\": \\"a"}',
                    },
                }
            ],
        },
        {"role": "tool", "tool_call_id": "callnr001", "content": "That was no JSON."},
    ]


async def test_requests_of_one_conversation_extend_the_same_prefix(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(call("read_file", path="a"), say("done"))
    request = question("Read it.", READ_FILE)
    first = await output.ask(model, request)
    answered = (
        Message("assistant", first.text, first.tool_calls),
        Message("tool", "text", (), "call_0"),
    )
    await output.ask(model, Request(request.messages + answered, request.tools))
    one, two = (asked.body for asked in server.requests)
    assert two["tools"] == one["tools"]
    assert two["messages"][: len(one["messages"])] == one["messages"]


async def test_tool_calls_are_put_together(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(call("read_file", path="notes.md"))
    completion = await output.ask(model)
    assert completion == Completion(
        "",
        (ToolCall("call_0", "read_file", '{"path": "notes.md"}'),),
        StopReason.TOOL_CALLS,
        Usage(10, 5),
        "test-1",
    )


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
async def test_an_answer_may_be_cut_into_packets_anywhere(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput, size: int
) -> None:
    events: list[dict[str, Any] | str | bytes] = [
        b"\xef\xbb\xbf: a comment\r\n\r\n",
        'data: {"choices": [{"delta": {"content": "naïve 🙂"}}]}\r\n\r\n',
        "event: ping\n\n",
        delta(finish="stop"),
    ]
    server.add(Reply(events, slice=size))
    assert (await output.ask(model)).text == "naïve 🙂"


async def test_usage_counts_cached_tokens_and_may_come_alone_at_the_end(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(Reply([delta(content="x"), delta(finish="stop"), usage(1000, 20, cached=900)]))
    assert (await output.ask(model)).usage == Usage(1000, 20, 900)


async def test_usage_is_estimated_where_the_server_gives_none(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(Reply([delta(content="four tokens here"), delta(finish="stop")]))
    used = (await output.ask(model)).usage
    assert used == Usage(prompt=13, completion=4, estimated=True)


async def test_a_refusal_is_shown(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(Reply([delta(refusal="I can't "), delta(refusal="do that."), delta(finish="stop")]))
    completion = await output.ask(model)
    assert (completion.text, completion.stop_reason) == ("I can't do that.", StopReason.REFUSED)
    assert output.text == "I can't do that."


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("stop", StopReason.STOP),
        ("length", StopReason.LENGTH),
        ("content_filter", StopReason.FILTERED),
        ("refusal", StopReason.REFUSED),
        ("tool_calls", StopReason.STOP),
        ("something_new", StopReason.STOP),
    ],
)
async def test_finish_reasons_of_a_text_answer(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput, finish: str, reason: StopReason
) -> None:
    server.add(Reply([delta(content="x"), delta(finish=finish)]))
    assert (await output.ask(model)).stop_reason is reason


async def test_a_server_that_does_not_stream_is_understood(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    message = {
        "role": "assistant",
        "content": "All at once.",
        "tool_calls": [piece(None, name="now")],
    }
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    server.add(
        Reply(body={"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 4}})
    )
    completion = await output.ask(model)
    assert (completion.text, completion.usage) == ("All at once.", Usage(3, 4))
    assert [(one.name, one.arguments) for one in completion.tool_calls] == [("now", "{}")]


async def test_the_closing_mark_is_an_end_too(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(Reply([delta(content="No reason given.")], end=End.DONE))
    assert (await output.ask(model)).text == "No reason given."


@pytest.mark.parametrize("parameter", ["stream_options", "temperature"])
async def test_a_parameter_the_server_does_not_know_is_left_out_from_then_on(
    server: OpenAIServer, output: ModelOutput, parameter: str
) -> None:
    server.add(error(400, f"Unsupported parameter: '{parameter}'"), say("a"), say("b"))
    model = model_at(server, sampling=Sampling(temperature=0.0))
    assert (await output.ask(model)).text == "a"
    assert (await output.ask(model)).text == "b"
    await model.close()
    assert [parameter in asked.body for asked in server.requests] == [True, False, False]
    assert output.waits == []


async def test_the_cap_on_an_answer_is_renamed_for_a_server_that_wants_the_other_name(
    server: OpenAIServer, output: ModelOutput
) -> None:
    server.add(error(400, "'max_tokens' is not supported, use 'max_completion_tokens'"), say("a"))
    model = model_at(server, sampling=Sampling(max_tokens=9))
    await output.ask(model)
    await model.close()
    assert [asked.body.get("max_completion_tokens") for asked in server.requests] == [None, 9]
    assert [asked.body.get("max_tokens") for asked in server.requests] == [9, None]


async def test_without_a_name_the_first_model_the_server_lists_is_asked(
    output: ModelOutput,
) -> None:
    pages = {"/v1/models": {"object": "list", "data": [{"id": "qwen"}, {"id": "other"}]}}
    async with OpenAIServer([say("a"), say("b")], pages) as server:
        model = model_at(server, name="")
        await output.ask(model)
        await output.ask(model)
        await model.close()
        assert [asked.body["model"] for asked in server.requests] == ["qwen", "qwen"]
        assert (model.name, len(server.others)) == ("qwen", 1)


@pytest.mark.parametrize("k", range(6))
async def test_cancelling_at_any_chunk_closes_the_connection(
    server: OpenAIServer, model: OpenAIModel, k: int
) -> None:
    events = [delta(content=f"{n} ") for n in range(k)]
    server.add(Reply(events, end=End.HANG))
    arrived = asyncio.Event()
    pieces: list[str] = []

    def cancel_later(text: str) -> None:
        pieces.append(text)
        if len(pieces) == k:
            arrived.set()

    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(model.complete(question(), cancel_later))
        await server.asked(1)
        if k:
            await arrived.wait()
        started = time.perf_counter()
        asking.cancel()
        await server.left()
        assert time.perf_counter() - started < 0.2
    assert len(pieces) == k
    assert len(server.requests) == 1


async def test_a_cancelled_round_leaves_the_model_usable(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    server.add(Reply([delta(content="x")], end=End.HANG), say("Still here."))
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(output.ask(model))
        await server.asked(1)
        asking.cancel()
    assert (await ModelOutput().ask(model)).text == "Still here."


async def test_the_key_is_in_no_repr(server: OpenAIServer, model: OpenAIModel) -> None:
    assert KEY not in repr(model.endpoint)


async def test_azure_is_asked_at_its_deployment_with_its_version(output: ModelOutput) -> None:
    async with OpenAIServer([say("a")]) as server:
        url = server.base_url.removesuffix("/v1")
        endpoint = ModelEndpoint("azure", url, "mine", api_key=KEY, api_version="2024-10-21")
        model = OpenAIModel(endpoint, System())
        await output.ask(model)
        await model.close()
        (asked,) = server.requests
        assert asked.path == "/openai/deployments/mine/chat/completions?api-version=2024-10-21"
        assert asked.headers["api-key"] == KEY


def test_nothing_heavy_is_imported_before_a_model_is_warmed() -> None:
    code = "import sys, stet.llm.model_selection; print(sorted({'openai', 'httpx2', 'pydantic'} & {*sys.modules}))"
    ran = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=True)
    assert ran.stdout.strip() == b"[]"


async def test_a_server_that_wants_an_answer_after_a_result_gets_one(
    server: OpenAIServer, model: OpenAIModel, output: ModelOutput
) -> None:
    refusal = error(400, "Unexpected role 'user' after role 'tool'", code="3230")
    server.add(refusal, say("a"), say("b"))
    messages = (
        Message("user", "Read it."),
        Message("assistant", "", (ToolCall("callnr001", "read_file", "{}"),)),
        Message("tool", "text", tool_call_id="callnr001"),
        Message("user", "Go on."),
    )
    for _ in range(2):
        await output.ask(model, Request(messages))
    roles = [[one["role"] for one in asked.body["messages"]] for asked in server.requests]
    whole = ["user", "assistant", "tool", "user"]
    assert roles == [whole, [*whole[:3], "assistant", "user"], [*whole[:3], "assistant", "user"]]
