"""What is written down of a model's rounds."""

import pytest

from stet.agent.model_source import TracedModel
from stet.llm.model import Completion, Message, ModelError, ModelUnavailable, Request, ignore
from stet.llm.scripted_model import ScriptedModel

SYSTEM = Message("system", "You are terse.")
FIRST = Message("user", "first question")
SECOND = Message("user", "second question")


async def test_trace_of_a_round_holds_its_new_messages_and_the_answer() -> None:
    traced: list[str] = []
    model = TracedModel(ScriptedModel([Completion("one"), Completion("two")]), traced.append)
    await model.complete(Request((SYSTEM, FIRST)), ignore)
    await model.complete(Request((SYSTEM, FIRST, SECOND)), ignore)
    asked, answered, asked_again, answered_again = traced
    assert asked.startswith("to scripted ")
    assert "You are terse." in asked
    assert "first question" in asked
    assert answered.startswith("from scripted ")
    assert '"one"' in answered
    assert '"messages as before": 2' in asked_again
    assert "first question" not in asked_again
    assert "second question" in asked_again
    assert '"two"' in answered_again


async def test_trace_of_a_failed_round_holds_the_reason() -> None:
    traced: list[str] = []
    model = TracedModel(ScriptedModel([ModelUnavailable("It is on fire.")]), traced.append)
    with pytest.raises(ModelError):
        await model.complete(Request((SYSTEM,)), ignore)
    assert traced[1].endswith("ModelUnavailable: It is on fire.")
