"""The loop: ask the model, run what it calls, until it is done or a limit is reached."""

import dataclasses
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from stet.agent.batches import Batches
from stet.agent.errors import LimitReached, TurnFailed
from stet.agent.events import (
    AgentEvent,
    Answered,
    Navigated,
    RoundStarted,
    Said,
    ToolEnded,
    ToolStarted,
    Waiting,
)
from stet.agent.limits import Limits
from stet.agent.toolbox import Toolbox, parsed
from stet.agent.turn import Mode, ToolRun, Turn, TurnState
from stet.llm.messages import Completion, Message, StopReason, ToolCall
from stet.llm.model import Model, Request
from stet.llm.tokens import estimate_prompt

_REMINDER = (
    "You have called no tool. If the work is finished, call `done` with a summary; otherwise go on."
)
_NO_DONE = "The model stopped without saying that it was done. What it proposed stays."


@dataclass(frozen=True, slots=True)
class Crew:
    """Who works on a turn.

    Attributes:
        model: Is asked.
        toolbox: Is called.
        limits: Are held.
        emit: Is told. It also keeps the turn, so that its state can be asked for at any moment.
        confirm: Is asked, with the number of tokens, before anything is sent; returns if it may be.
    """

    model: Model
    toolbox: Toolbox
    limits: Limits
    emit: Callable[[AgentEvent], None]
    confirm: Callable[[Turn, int], Awaitable[None]]


async def run_turn(turn: Turn, messages: list[Message], crew: Crew) -> Turn:
    """Run a turn to its end; `messages` grows at its end only.

    Raises:
        Declined: If the user does not want so much to be sent.
        LimitReached: By rounds or tokens.
        TurnFailed: If the model has nothing to say or refuses.
        ModelError: If the model can't be asked.
    """
    await crew.confirm(turn, estimate_prompt(messages, crew.toolbox.definitions(last_round=False)))
    reminded = False
    while True:
        crew.limits.check(len(turn.rounds), turn.usage.total)
        completion, turn = await _ask(turn, messages, crew)
        messages.append(Message("assistant", completion.text, _sane(completion.tool_calls)))
        if completion.tool_calls:
            turn = await _run_all(turn, completion, messages, crew)
            summary = crew.toolbox.desk.summary
            if summary is not None:
                return turn.ended(TurnState.COMPLETED, summary=summary)
            reminded = False
            continue
        if completion.stop_reason is StopReason.LENGTH:
            raise LimitReached("The model's answer was cut at its longest; what it said stays.")
        if turn.ask.mode is Mode.ASK and completion.text.strip():
            return turn.ended(TurnState.COMPLETED)
        if reminded:
            raise _unfinished(turn)
        messages.append(Message("user", _REMINDER))
        reminded = True


async def _ask(turn: Turn, messages: list[Message], crew: Crew) -> tuple[Completion, Turn]:
    """One round with the model."""
    number = len(turn.rounds) + 1
    crew.emit(RoundStarted(turn, number, crew.limits.rounds))
    tools = crew.toolbox.definitions(last_round=number == crew.limits.rounds)
    completion = await crew.model.complete(
        Request(tuple(messages), tools),
        on_text=lambda text: crew.emit(Said(turn, text)),
        on_wait=lambda reason: crew.emit(Waiting(turn, reason)),
    )
    answered = turn.with_round(completion)
    crew.emit(Answered(answered))
    if completion.stop_reason is StopReason.REFUSED:
        raise TurnFailed(f"The model refuses: {completion.text.strip() or 'it gives no reason'}")
    return completion, answered


async def _run_all(turn: Turn, completion: Completion, messages: list[Message], crew: Crew) -> Turn:
    """Every call of one answer, in order; each gets its answer in `messages`.

    One that was cut is never carried out, though it may read as whole.
    """
    calls = completion.tool_calls
    n_whole = len(calls) - (completion.stop_reason is StopReason.LENGTH)
    batches = Batches(crew.toolbox, calls[:n_whole])
    for n, call in enumerate(calls):
        turn = _begin(turn, call, crew)
        run, answer = await batches.run(n) if n < n_whole else crew.toolbox.refuse_cut(call)
        turn = _end(turn, run, crew)
        messages.append(Message("tool", answer, tool_call_id=call.id))
    return turn


def _begin(turn: Turn, call: ToolCall, crew: Crew) -> Turn:
    """A call of a tool begins."""
    begun = crew.toolbox.begun(call)
    turn = turn.with_tool(begun)
    crew.emit(ToolStarted(turn, begun))
    return turn


def _end(turn: Turn, run: ToolRun, crew: Crew) -> Turn:
    """A call of a tool has ended."""
    desk = crew.toolbox.desk
    turn = dataclasses.replace(
        turn.with_tool(run), files_read=tuple(desk.files_read), rejected=tuple(desk.rejected)
    )
    crew.emit(ToolEnded(turn, run))
    while desk.opened:
        crew.emit(Navigated(turn, desk.opened.pop(0)))
    return turn


def _sane(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """Calls as they may stand in the history: a provider refuses broken JSON for ever after."""
    return tuple(
        call if parsed(call) is not None else dataclasses.replace(call, arguments="{}")
        for call in calls
    )


def _unfinished(turn: Turn) -> Exception:
    if not turn.answer and not turn.tool_calls:
        return TurnFailed("The model said nothing, twice. Ask again, or choose another model.")
    return LimitReached(_NO_DONE)
