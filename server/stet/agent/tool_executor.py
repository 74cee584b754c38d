"""The execution of the calls of one answer, in order, and the detection of repeated calls.

There are three signs of a loop: the same call three times in a row, two alternating calls
(A-B-A-B), the same error three times. Calls are the same if tool and arguments are the same;
arguments are compared as canonical JSON, so that the order of keys and white space make no
difference.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from stet.agent.agent_events import AgentEvent, FileOpened, ToolEnded, ToolStarted, ToolStateChanged
from stet.agent.toolbox import Toolbox, ToolOutcome, parse_arguments
from stet.agent.turn import Turn
from stet.context.context_values import escape_tags
from stet.llm.model import Completion, Message, StopReason, ToolCall
from stet.privacy.taint import describe_call_source
from stet.tools.done import DONE
from stet.tools.editor_actions import Question
from stet.tools.tool_errors import FailedEdit
from stet.tools.tool_state import ToolRun, ToolState

MAX_REPEATS = 3
"""The number of equal calls or errors that is a sign of a loop."""

MAX_QUOTE = 160
"""The most characters of an error that are quoted to the model."""

_Key = tuple[str, str]


class LoopDetector:
    """Detects a loop in the calls of one turn."""

    def __init__(self) -> None:
        self._calls: list[_Key] = []
        self._errors: Counter[_Key] = Counter()
        self._warning = ""

    def record(self, call: ToolCall, error: str) -> None:
        """Record a call that was executed. `error` is its error, "" for none."""
        self._calls.append((call.name, canonical_arguments(call.arguments)))
        if error:
            self._errors[call.name, error] += 1
        self._warning = self._warning or self._repetition() or self._same_error(call, error)

    def take_warning(self) -> str:
        """Return the loop detected since the last call, or "" if there is no loop.

        The text is a predicate whose subject is the model.
        """
        warning, self._warning = self._warning, ""
        return warning

    def _repetition(self) -> str:
        keys = self._calls[-4:]
        name = keys[-1][0]
        if len(keys) >= MAX_REPEATS and len(set(keys[-MAX_REPEATS:])) == 1:
            return f"called {name!r} {MAX_REPEATS} times with the same arguments"
        if len(keys) == 4 and keys[0] == keys[2] != keys[1] == keys[3]:
            return f"called {keys[-2][0]!r} and {name!r} in turns, twice with the same arguments"
        return ""

    def _same_error(self, call: ToolCall, error: str) -> str:
        n = self._errors[call.name, error] if error else 0
        if n < MAX_REPEATS:
            return ""
        words = error.rstrip(".") if len(error) <= MAX_QUOTE else error[: MAX_QUOTE - 1] + "…"
        return f"met the same error of {call.name!r} {n} times: {words!r}"


def canonical_arguments(arguments: str) -> str:
    """Return arguments as canonical JSON; text that is not JSON is only stripped."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        return arguments.strip()


MAX_CALLS = 64
"""The most calls of one answer that are executed. A model that repeats itself writes hundreds, and
the work for each call grows with the number of calls before it."""

NOT_DONE = (
    "Not finished: `{tool}` failed in the same answer{where}. Correct the call; or, if that can't be "
    "done, call `done` by itself and say why."
)
"""The error of `done` beside an edit that failed."""
_CALL_CUT_OFF = "Your answer was cut off within this call, so it was not run. Send less at once."


class ToolExecutor:
    """The execution of the calls of one answer, in order.

    The model wrote all calls before it saw the result of any call. So all edits of one file in one
    answer refer to the text that was shown before, and are checked and proposed as a whole.

    Args:
        turn: The turn after the model's answer.
        completion: The answer. A call that was cut off is not executed, even if it can be parsed.
        toolbox: The tools of the turn.
        emit: Takes an event for each change of a call's state.
    """

    def __init__(
        self,
        turn: Turn,
        completion: Completion,
        toolbox: Toolbox,
        emit: Callable[[AgentEvent], None],
    ) -> None:
        self._toolbox = toolbox
        self._emit = emit
        self._calls = completion.tool_calls
        self._n_whole = len(self._calls) - (completion.stop_reason is StopReason.LENGTH)
        self._batch_keys = [toolbox.batch_key(call) for call in self._calls[: self._n_whole]]
        self._done: dict[int, ToolOutcome] = {}
        """The outcomes, by index of the call, of calls that were run with an earlier call."""
        self._failed_edit: tuple[str, FailedEdit] | None = None
        """The tool and the edit of the first edit that failed, if one has."""
        self._first = len(turn.tool_calls)
        self._turn = turn.with_calls(toolbox.create_run(call) for call in self._calls)

    async def execute(self, messages: list[Message], loop_detector: LoopDetector) -> Turn:
        """Execute all calls and return the turn after the last one.

        Append the result of each call to `messages`, and record each call in `loop_detector`.
        """
        for n, call in enumerate(self._calls):
            started = self._transition(n, ToolState.INIT)
            self._emit(ToolStarted(self._turn, started))
            outcome = await self._run_call(n)
            self._finish_call(n, outcome)
            loop_detector.record(call, outcome.error)
            # Most of the text was written by others: it must not look like a section of Stet's.
            self._toolbox.ctx.proposer.untrusted.add(
                describe_call_source(call.name, parse_arguments(call)), outcome.text
            )
            text = outcome.text if outcome.has_sections else escape_tags(outcome.text)
            messages.append(Message("tool", text, tool_call_id=call.id))
        return self._turn

    async def _run_call(self, n: int) -> ToolOutcome:
        if n >= self._n_whole:
            return ToolOutcome.failed(_CALL_CUT_OFF)
        if n in self._done:
            return self._done[n]
        ctx = self._toolbox.ctx
        may_correct = self._failed_edit is not None and not ctx.is_last_round
        if may_correct and self._calls[n].name == DONE.name:
            return ToolOutcome.failed(self._not_done())
        ctx = replace(ctx, ask_question=partial(self._ask_question, n))
        toolbox, key = replace(self._toolbox, ctx=ctx), self._batch_keys[n]
        batch = [k for k, other in enumerate(self._batch_keys) if key is not None and other == key]
        if len(batch) < 2:
            return await toolbox.run(self._calls[n])
        outcomes = await toolbox.run_batch([self._calls[k] for k in batch])
        self._done.update(zip(batch, outcomes, strict=True))
        return self._done[n]

    def _not_done(self) -> str:
        assert self._failed_edit is not None
        tool, failed = self._failed_edit
        return NOT_DONE.format(tool=tool, where=f" for {failed.file!r}" if failed.file else "")

    async def _ask_question(self, n: int, question: Question) -> str:
        """Put a question of call `n` to the user and return the answer."""
        self._transition_if_allowed(n, ToolState.WAITING)
        answer = await self._toolbox.ctx.ask_question(question)
        self._transition_if_allowed(n, ToolState.SUBMITTED)
        return answer

    def _tool_run(self, n: int) -> ToolRun:
        return self._turn.tool_calls[self._first + n]

    def _store_run(self, n: int, run: ToolRun) -> ToolRun:
        self._turn = self._turn.with_run(self._first + n, run)
        return run

    def _transition(self, n: int, state: ToolState) -> ToolRun:
        return self._store_run(n, self._tool_run(n).transition_to(state))

    def _transition_if_allowed(self, n: int, state: ToolState) -> None:
        """Update call `n` when the user is asked or has answered, if its tool has such a state."""
        if self._tool_run(n).can_transition_to(state):
            run = self._transition(n, state)
            self._emit(ToolStateChanged(self._turn, run))

    def _finish_call(self, n: int, outcome: ToolOutcome) -> None:
        run = self._tool_run(n)
        if outcome.error:
            declined = outcome.declined and run.can_transition_to(ToolState.CANCELED)
            run = run.transition_to(
                ToolState.CANCELED if declined else ToolState.ERROR, outcome.error
            )
        else:
            run = run.completed_with(outcome.hunks)
        self._store_run(n, run)
        report = self._toolbox.ctx.reader.report
        failed = self._toolbox.failed_edit(self._calls[n], outcome)
        if failed is not None and self._failed_edit is None:
            self._failed_edit = self._calls[n].name, failed
        self._turn = replace(
            self._turn,
            failed=(*self._turn.failed, failed) if failed else self._turn.failed,
            files_read=tuple(report.files_read),
            files_copied=tuple(report.copied),
            sources=tuple(report.sources),
            rejected=tuple(report.rejected),
        )
        self._emit(ToolEnded(self._turn, run))
        while report.files_to_open:
            opened = report.files_to_open.pop(0)
            self._emit(FileOpened(self._turn, opened.uri, opened.line))


def limit_calls(completion: Completion) -> tuple[Completion, int]:
    """Return an answer with at most `MAX_CALLS` calls, and the number of calls left out."""
    n_more = len(completion.tool_calls) - MAX_CALLS
    if n_more <= 0:
        return completion, 0
    limited = replace(
        completion,
        tool_calls=completion.tool_calls[:MAX_CALLS],
        stop_reason=StopReason.TOOL_CALLS,  # only the last call can have been cut off
    )
    return limited, n_more


def with_valid_arguments(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """Return the calls with empty arguments in place of invalid ones, which providers refuse."""
    return tuple(
        call if parse_arguments(call) is not None else replace(call, arguments="{}")
        for call in calls
    )
