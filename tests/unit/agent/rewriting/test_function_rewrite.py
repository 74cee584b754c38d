"""Rewriting a function with a small model: what it is sent, and what becomes of its answer."""

import pytest

from stet.agent.turn import Mode, Turn, TurnState
from stet.llm.model_profiles import ModelProfile
from stet.llm.scripted_model import say
from tests.support.agent_harness import AgentHarness
from tests.support.rewrite_turns import begin
from tests.support.workspaces import make_workspace

SMALL = ModelProfile(prompt="short", edits="blocks")
MODULE = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n"


async def rewritten(
    answer: str, prompt: str = "f() should return 0.", text: str = MODULE
) -> tuple[Turn, str, AgentHarness]:
    """Rewrite lines 2 and 3; return the turn, the text after an accept, and the harness."""
    agent = AgentHarness(
        make_workspace(opened={"/ws/a.py": text}), [say(f"```python\n{answer}```")], profile=SMALL
    )
    turn = await agent.end_of(agent.start(prompt, Mode.REWRITE, file="/ws/a.py", lines=(2, 3)))
    return turn, agent.proposed("/ws/a.py"), agent


@pytest.mark.parametrize("indent", ["", "    "], ids=["without indent", "with the file's"])
async def test_method_is_sent_without_its_indent_and_gets_it_back(indent: str) -> None:
    answer = f"{indent}def f(self):\n\n{indent}    return 0\n"
    _, after, agent = await rewritten(answer)
    assert after == MODULE.replace("        return 1", "\n        return 0")
    (request,) = agent.model.requests
    assert request.messages[-1].content == (
        "```python\ndef f(self):\n    return 1\n```\n\nf() should return 0."
    )


async def test_lost_function_is_refused() -> None:
    turn, after, _ = await rewritten("False\n")
    assert (turn.state, after) == (TurnState.FAILED, MODULE)
    assert turn.error == (
        "The model's text was rejected: it no longer defines f. Ask again, or choose a larger "
        "model."
    )


async def test_renamed_function_may_lose_its_old_name() -> None:
    _, after, _ = await rewritten("def first(self):\n    return 1\n", "Rename f to first.")
    assert after == MODULE.replace("def f(", "def first(")


async def test_unchanged_function_is_a_sentence() -> None:
    turn, _, _ = await rewritten("def f(self):\n    return 1\n")
    assert turn.error == (
        "The model returned the text unchanged; be more specific about what to change."
    )


async def test_line_ends_of_the_file_stay() -> None:
    text = MODULE.replace("\n", "\r\n")
    _, after, _ = await rewritten("def f(self):\n    return 0\n", text=text)
    assert after == text.replace("return 1", "return 0")


async def test_part_of_a_line_is_rewritten_in_the_text_around_it() -> None:
    agent, turn = begin("x = one + two\n", "one", say("```\n1\n```"), path="/ws/a.py")
    await agent.end_of(turn)
    assert agent.proposed("/ws/a.py") == "x = 1 + two\n"
