"""Room is made where a limit is near, by what is cheapest, and only where it is worth it."""

from collections.abc import Sequence

import pytest

from stet.agent.context_window import ContextWindow, history_budget, request_budget
from stet.agent.limits import Limits
from stet.agent.turn_history import Prompt
from stet.llm.model import (
    Completion,
    Message,
    ModelUnavailable,
    StopReason,
    ToolCall,
    Usage,
    estimate_prompt,
)
from stet.llm.scripted_model import Reply, ScriptedModel, say
from stet.settings.values import AgentSettings, ContextSettings, Settings
from tests.support.agent_harness import make_tool_context, use
from tests.support.conversations import is_well_formed
from tests.support.workspaces import make_workspace

LONG = "a line of a file\n" * 400
QUESTION = Message("user", "Do it")
LIMITS = Limits(10, 100_000, 60)


def reading(n: int, result: str = LONG, text: str = "") -> list[Message]:
    """Rounds that read."""
    call = ToolCall("c1", "read_file", '{"file": "a.py"}')
    round_ = [Message("assistant", text, (call,)), Message("tool", result, tool_call_id="c1")]
    return round_ * n


def room_with(
    own: Sequence[Message], *replies: Reply, window: int | None = None, limits: Limits = LIMITS
) -> ContextWindow:
    model = ScriptedModel(replies)
    model.context_tokens = window
    prompt = Prompt(Message("system", "Be good."), (), QUESTION)
    prompt.messages += own
    ctx = make_tool_context(make_workspace(opened={"/ws/a.py": "x = 1\ny = 2\n"}))
    return ContextWindow(model, prompt, limits, ctx)


async def keep(room: ContextWindow, spent: int = 0) -> Usage | None:
    return await room.compact_early(estimate_prompt(room.prompt.messages), spent)


def tokens_of(room: ContextWindow) -> int:
    return estimate_prompt(room.prompt.messages)


async def test_conversation_is_unchanged_while_it_fits() -> None:
    room = room_with(reading(4), window=20_000)
    before = tuple(room.prompt.messages)
    assert await keep(room) is None
    assert tuple(room.prompt.messages) == before


async def test_compaction_drops_old_tool_results_without_a_model_call() -> None:
    room = room_with(reading(6), window=12_000)
    assert await keep(room) == Usage()
    assert tokens_of(room) < 0.6 * request_budget(12_000)
    assert is_well_formed(room.prompt.messages[1:])
    assert [m.content == LONG for m in room.prompt.messages if m.role == "tool"][-2:] == [True] * 2


async def test_compaction_asks_for_a_summary_and_counts_its_tokens() -> None:
    summary = Completion("Read twelve times.", usage=Usage(300, 20))
    room = room_with(reading(12, text="I think. " * 300), summary, window=10_000)
    assert await keep(room) == Usage(300, 20)
    assert tokens_of(room) < request_budget(10_000)
    question, reminder, go_on, *rest = room.prompt.current_turn
    assert question == QUESTION
    assert reminder.content == "(Compacted: this sums up what stood here.)\nRead twelve times."
    assert (reminder.role, go_on.role, rest[0].role) == ("assistant", "user", "assistant")
    [request] = room.model.requests  # type: ignore[attr-defined]
    assert estimate_prompt(request.messages) < request_budget(10_000)
    assert request.tools == ()


@pytest.mark.parametrize(
    "reply",
    [
        ModelUnavailable("It is gone."),
        say(" "),
        Completion("I will not.", stop_reason=StopReason.REFUSED),
    ],
    ids=["it fails", "it says nothing", "it refuses"],
)
async def test_compaction_writes_a_digest_if_the_summary_fails(reply: Reply) -> None:
    room = room_with(reading(12, text="I think. " * 300), reply, window=10_000)
    assert await keep(room) is not None
    reminder = room.prompt.current_turn[1].content
    assert reminder.startswith("(Compacted: this sums up what stood here.)\n- assistant: I think.")
    assert "- You called `read_file" in reminder
    assert is_well_formed(room.prompt.messages[1:])


async def test_compaction_cuts_a_tool_result_that_is_too_long() -> None:
    room = room_with(reading(1, "x" * 100_000))
    assert await room.compact() == Usage()
    result = next(m for m in room.prompt.messages if m.role == "tool")
    assert result.content.startswith("(Compacted: only the first 2000 of 100000 characters")
    assert len(result.content) < 2300


async def test_conversation_that_cannot_be_shortened_is_unchanged() -> None:
    room = room_with([])
    assert await room.compact() is None
    assert room.prompt.current_turn == (QUESTION,)


async def test_compacted_conversation_shows_the_edited_file_again() -> None:
    from stet.tools.edit_file import EDIT_FILE

    room = room_with(reading(6), window=12_000)
    await use(EDIT_FILE, room.ctx, file="a.py", old_text="x = 1", new_text="x = 3")
    assert await keep(room) == Usage()
    last = room.prompt.messages[-1]
    assert last.role == "user"
    assert last.content.startswith("(Compacted: earlier parts of this conversation")
    assert "\na.py:\n" in last.content
    assert "x = 3" in last.content
    assert "y = 2" in last.content


async def test_turn_short_of_tokens_is_compacted_once() -> None:
    limits = Limits(10, 40_000, 60)
    room = room_with(reading(6), limits=limits)
    assert await keep(room, 10_000) is None
    assert await keep(room, 22_000) == Usage()
    room.prompt.messages += reading(6)
    assert await keep(room, 22_000) is None


def test_history_budget_follows_the_lowest_limit() -> None:
    settings = Settings(agent=AgentSettings(max_tokens=100_000), context=ContextSettings())
    assert history_budget(settings, None, 8_000) == 12_000
    assert history_budget(settings, 16_000, 8_000) == int(0.85 * 14_000) - 8_000
    assert history_budget(settings, 4_096, 8_000) == 0
    wary = Settings(context=ContextSettings(warn_tokens=10_000))
    assert history_budget(wary, None, 8_000) == 500
