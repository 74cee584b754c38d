"""Carries out the calls of one answer, in order, and takes each through its life."""

import dataclasses
from collections.abc import Callable

from stet.agent.batches import Batches
from stet.agent.events import AgentEvent, Navigated, ToolEnded, ToolMoved, ToolStarted
from stet.agent.lifecycle import ToolRun, ToolState
from stet.agent.stuck import Watch
from stet.agent.toolbox import Outcome, Toolbox, parsed
from stet.agent.turn import Turn
from stet.context.context_tags import escape_tags
from stet.llm.messages import Completion, Message, StopReason, ToolCall
from stet.tools.question import Question
from stet.tools.taint import describe_call_source

MAX_CALLS = 64
"""Calls of one answer that are carried out. A model that repeats itself writes hundreds; each is shown
with all that the turn has, so the work would grow with the square."""

_CUT = "Your answer was cut off within this call, so it was not run. Send less at once."


class Calls:
    """The calls of one answer.

    Args:
        turn: The turn when the model has called.
        completion: Its answer. A call that was cut is never carried out, though it may read as whole.
        toolbox: Runs them.
        emit: Is told of every step.
        last_round: Whether only what can end the turn may be called.
    """

    def __init__(
        self,
        turn: Turn,
        completion: Completion,
        toolbox: Toolbox,
        emit: Callable[[AgentEvent], None],
        *,
        last_round: bool,
    ) -> None:
        self._toolbox = toolbox
        self._emit = emit
        self._calls = completion.tool_calls
        n_whole = len(self._calls) - (completion.stop_reason is StopReason.LENGTH)
        self._batches = Batches(toolbox, self._calls[:n_whole], last_round=last_round)
        self._n_whole = n_whole
        self._first = len(turn.tool_calls)
        self._turn = turn.with_calls(toolbox.called(call) for call in self._calls)

    async def carry_out(self, messages: list[Message], watch: Watch) -> Turn:
        """Run them all; each has its answer appended to `messages`, and `watch` sees it."""
        ctx = self._toolbox.ctx
        inquire = ctx.ask_question
        for n, call in enumerate(self._calls):
            begun = self._step(n, ToolState.INIT)
            self._emit(ToolStarted(self._turn, begun))

            async def asked(question: Question, n: int = n) -> str:
                self._move(n, ToolState.WAITING)
                answer = await inquire(question)
                self._move(n, ToolState.SUBMITTED)
                return answer

            ctx.ask_question = asked
            try:
                outcome = await self._outcome(n)
            finally:
                ctx.ask_question = inquire
            self._ended(n, outcome)
            watch.saw(call, outcome.error)
            # Most of it was written by others: none of it may look like a section of ours.
            ctx.untrusted.add(describe_call_source(call.name, parsed(call)), outcome.text)
            text = outcome.text if outcome.of_sections else escape_tags(outcome.text)
            messages.append(Message("tool", text, tool_call_id=call.id))
        return self._turn

    async def _outcome(self, n: int) -> Outcome:
        return await self._batches.run(n) if n < self._n_whole else Outcome.failed(_CUT)

    def _run(self, n: int) -> ToolRun:
        return self._turn.tool_calls[self._first + n]

    def _keep(self, n: int, run: ToolRun) -> ToolRun:
        self._turn = self._turn.with_run(self._first + n, run)
        return run

    def _step(self, n: int, state: ToolState) -> ToolRun:
        return self._keep(n, self._run(n).to(state))

    def _move(self, n: int, state: ToolState) -> None:
        """The user is asked, or has answered; a tool that only reads shows neither."""
        if self._run(n).may(state):
            run = self._step(n, state)
            self._emit(ToolMoved(self._turn, run))

    def _ended(self, n: int, outcome: Outcome) -> None:
        run = self._run(n)
        if outcome.error:
            declined = outcome.declined and run.may(ToolState.CANCELED)
            run = run.to(ToolState.CANCELED if declined else ToolState.ERROR, outcome.error)
        else:
            run = run.carried_out(outcome.hunks)
        self._keep(n, run)
        ctx = self._toolbox.ctx
        failed = self._toolbox.failed_edit(self._calls[n], outcome)
        self._turn = dataclasses.replace(
            self._turn,
            failed=(*self._turn.failed, failed) if failed else self._turn.failed,
            files_read=tuple(ctx.files_read),
            files_copied=tuple(ctx.copied),
            sources=tuple(ctx.sources),
            rejected=tuple(ctx.rejected),
        )
        self._emit(ToolEnded(self._turn, run))
        while ctx.files_to_open:
            opened = ctx.files_to_open.pop(0)
            self._emit(Navigated(self._turn, opened.uri, opened.line))


def within_bounds(completion: Completion) -> tuple[Completion, int]:
    """An answer with the calls of it that are carried out, and how many more it had."""
    n_more = len(completion.tool_calls) - MAX_CALLS
    if n_more <= 0:
        return completion, 0
    kept = dataclasses.replace(
        completion,
        tool_calls=completion.tool_calls[:MAX_CALLS],
        stop_reason=StopReason.TOOL_CALLS,  # if one was cut, it was the last
    )
    return kept, n_more


def storable(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """Calls as they may stand in the history: a provider refuses broken JSON for ever after."""
    return tuple(
        call if parsed(call) is not None else dataclasses.replace(call, arguments="{}")
        for call in calls
    )
