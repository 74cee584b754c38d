"""The model that answers by a script."""

import asyncio
import json
from pathlib import Path

import pytest

from stet.llm.model import (
    Completion,
    ModelError,
    ModelTimeout,
    NoModel,
    Request,
    StopReason,
    ToolCall,
)
from stet.llm.model_selection import open_model, select_model
from stet.llm.scripted_model import ScriptedModel, call, combine, say
from stet.settings.values import ModelSettings
from stet.system.system import System
from tests.support.model_requests import ModelOutput, question


async def test_replies_come_in_order_and_in_pieces() -> None:
    output = ModelOutput()
    model = ScriptedModel([say("a long enough answer to be cut"), call("now"), say("")])
    assert (await output.ask(model)).text == output.text == "a long enough answer to be cut"
    assert len(output.pieces) > 1
    second = await output.ask(model)
    assert second.tool_calls == (ToolCall("call_2_1", "now", "{}"),)
    assert second.stop_reason is StopReason.TOOL_CALLS
    assert len(model.requests) == 2


async def test_answer_may_hold_text_and_several_calls() -> None:
    reply = combine(say("Both."), call("one", name="x"), call("two", y=[1]))
    completion = await ModelOutput().ask(ScriptedModel([reply]))
    assert (completion.text, completion.tool_calls) == (
        "Both.",
        (ToolCall("call_1_1", "one", '{"name": "x"}'), ToolCall("call_1_2", "two", '{"y": [1]}')),
    )
    assert completion.usage.estimated


async def test_a_reply_may_be_a_function_of_the_request_or_an_error() -> None:
    async def later(request: Request) -> Completion:
        await asyncio.sleep(0)
        return say(request.messages[-1].content.upper())

    failure = ModelTimeout("Too slow.")
    model = ScriptedModel([lambda request: say(request.messages[0].content), later, failure])
    assert (await ModelOutput().ask(model, question("hi"))).text == "Be brief."
    assert (await ModelOutput().ask(model, question("hi"))).text == "HI"
    with pytest.raises(ModelTimeout, match="Too slow"):
        await ModelOutput().ask(model)


async def test_end_of_a_script_is_an_error() -> None:
    with pytest.raises(ModelError, match="has only 0 replies and needs number 1"):
        await ModelOutput().ask(ScriptedModel([]))


async def test_a_script_is_read_from_a_file_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [
        {"text": "Look.", "tool_calls": [{"name": "read_file", "arguments": {"path": "a"}}]},
        {"tool_calls": [{"name": "done"}]},
        {"error": "It is broken."},
    ]
    path = tmp_path / "script.json"
    path.write_text(json.dumps(entries))
    monkeypatch.setenv("STET_SCRIPTED_MODEL", str(path))
    system = System()
    choice = await select_model(ModelSettings(provider="openai"), system)
    model = await open_model(choice, system)
    first, second = await ModelOutput().ask(model), await ModelOutput().ask(model)
    assert (first.text, first.tool_calls[0].arguments) == ("Look.", '{"path": "a"}')
    assert second.tool_calls == (ToolCall("call_2_1", "done", "{}"),)
    with pytest.raises(ModelError, match=r"^It is broken\.$"):
        await ModelOutput().ask(model)


async def test_a_held_reply_waits_for_its_file_and_can_be_cancelled(tmp_path: Path) -> None:
    path, hold = tmp_path / "script.json", tmp_path / "go"
    path.write_text(json.dumps([{"text": "one", "hold": str(hold)}] * 2))
    model = await ScriptedModel.from_file(path, System())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await ModelOutput().ask(model)
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(ModelOutput().ask(model))
        await asyncio.sleep(0)
        assert not asking.done()
        hold.touch()
    assert asking.result().text == "one"


@pytest.mark.parametrize(
    "content",
    [
        "{}",
        "[",
        '[{"txt": "x"}]',
        "[1]",
        '[{"tool_calls": [{"arguments": {}}]}]',
        '[{"tool_calls": 1}]',
    ],
)
async def test_a_script_of_another_form_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(content)
    with pytest.raises(NoModel, match=r"script\.json"):
        await ScriptedModel.from_file(path, System())


async def test_a_script_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoModel, match="can't be read"):
        await ScriptedModel.from_file(tmp_path / "none.json", System())
