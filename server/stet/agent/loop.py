"""The loop of a turn: ask the model and run its calls, until it is done or a limit is reached."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from math import inf

from stet.agent.agent_events import (
    AgentEvent,
    RetryScheduled,
    RoundCompleted,
    RoundStarted,
    SteeringApplied,
    TextDelta,
)
from stet.agent.context_window import ContextWindow
from stet.agent.limits import Limits
from stet.agent.tool_executor import (
    MAX_CALLS,
    LoopDetector,
    ToolExecutor,
    limit_calls,
    with_valid_arguments,
)
from stet.agent.tool_offer import tools_called_for
from stet.agent.toolbox import TOOL_NAMES, Toolbox
from stet.agent.turn import (
    LimitReached,
    Turn,
    TurnFailed,
    TurnState,
    check_refusal,
    first_line,
    has_words,
)
from stet.agent.written_call_detection import find_written_call
from stet.llm.model import (
    AnswerTooLong,
    Completion,
    ContextOverflow,
    Message,
    Model,
    Request,
    StopReason,
    Usage,
    estimate_prompt,
)


@dataclass(frozen=True, slots=True)
class TurnServices:
    """The services that a turn uses.

    Attributes:
        model: The model to ask.
        toolbox: The tools of the turn.
        limits: The limits of the turn.
        emit: Publishes an event and saves the turn in it, so that a crash or a cancellation loses
            nothing before the latest event.
        confirm: Awaited before the first request with the turn and the estimated tokens of the
            request. Raises SendingDeclined if the user declines.
        pending_steering: Messages that the user sent during the turn and the model has not seen,
            oldest first. The caller appends messages; the loop removes them before each round.
        seconds_left: Returns the seconds until the turn's time limit; infinity if there is none.
            The caller enforces the limit.
        window: Shortens the conversation; None if no part of it can be shortened.
    """

    model: Model
    toolbox: Toolbox
    limits: Limits
    emit: Callable[[AgentEvent], None]
    confirm: Callable[[Turn, int], Awaitable[None]]
    pending_steering: list[str] = field(default_factory=list)
    seconds_left: Callable[[], float] = lambda: inf
    window: ContextWindow | None = None


_EMPTY_ANSWER_REMINDER = (
    "Your message is empty and calls no tool. If the work is finished, call `done` with a "
    "summary; if the user wants an answer, write it; otherwise go on."
)
_STOPPED_WITHOUT_DONE = "The model stopped without finishing."
_CALL_FORM_REMINDER = (
    "Your last message is a tool call written as text, so nothing was run. Call tools only "
    "by the tool calls of this interface or, where your instructions have a section `# Tools`, by the tag "
    "that it shows; with the name of the tool and its arguments as one JSON object, such as "
    '{{"name": "{name}", "arguments": {{...}}}}. If you meant it as your answer to the user, '
    "rephrase it."
)
_CALLS_AS_TEXT = (
    "The model wrote its tool calls{named} as text, even after a reminder; none were run."
)
_SET_TEXT_CALLS = 'Set model.toolCalls to "text", or choose another model.'
_CHOOSE_OTHER_MODEL = "Choose another model."
_TOO_MANY_CALLS = (
    "You called {n} more tools in that answer than the {most} that are run at once; the rest "
    "was not run. Go on with fewer calls at a time."
)
_LAST_ROUND = (
    "This is your last round: nothing can be looked up any more, only {tools} can be called. Finish "
    "now with what you know, and call `done` with a summary in the same answer as your last edits."
)
MAX_COMPACTIONS = 4
"""The most times that one request is shortened. Each time halves the conversation, so four are
enough if the context window is a sixteenth of the assumed one."""
_FIRST_ROUND_SILENCE = 0.9
"""The share of the turn's remaining time that the model may be silent in the first round. Less than
1, so that the user reads an error of the model and not one of the time limit."""


async def run_turn(turn: Turn, messages: list[Message], services: TurnServices) -> Turn:
    """Run a turn until the model finishes it. Return the completed turn.

    Messages are appended to `messages`; only compaction rewrites earlier ones. The caller enforces
    the time limit by cancelling the task; the turn of the last event is then the latest state.

    Raises:
        SendingDeclined: If the user declines the size of the first request.
        LimitReached: If a limit of rounds, tokens or cost is reached, the model repeats itself
            after a warning, an answer is too long, or the model stops without `done` after it has
            worked.
        TurnFailed: If the model refuses, answers nothing twice without having worked, or writes
            tool calls as text after a reminder.
        ModelError: If a request fails, also because the conversation stays too long.
    """
    return await AgentLoop(turn, messages, services).run()


class AgentLoop:
    """One run of a turn: the turn, its conversation, and the reminders sent to the model."""

    def __init__(self, turn: Turn, messages: list[Message], services: TurnServices) -> None:
        self._turn = turn
        self._messages = messages
        self._services = services
        self._loop_detector = LoopDetector()
        self._has_warned_loop = False
        self._repetition_reason = ""
        """Why the next round is the last: the model repeated itself after a warning; else empty."""
        self._n_dropped = 0
        """The number of calls of the latest answer beyond `MAX_CALLS`, which are not run."""
        self._last_round_reason = ""
        """Why the current round is the last, as a sentence for the user; empty if it is not."""
        self._has_warned_empty = False
        """Whether the model has been reminded of an empty answer since its last tool call."""
        self._has_warned_form = False
        """Whether the model has been reminded of the form of tool calls."""
        self._text_call_tool: str | None = None
        """The tool that the latest answer calls as plain text; "" if unknown, None for no call."""
        self._n_counted_messages = self._counted_tokens = 0
        """The number of messages whose tokens the provider has counted together with the tool
        definitions, and these tokens; 0 after a compaction."""
        # The definitions stay the same even if the settings change during the turn.
        self._tools = services.toolbox.definitions()
        self._other_tools = services.toolbox.other_definitions()
        self._tool_tokens = estimate_prompt((), self._tools)

    async def run(self) -> Turn:
        """See `run_turn`."""
        self._raise_if_ended()
        await self._services.confirm(self._turn, self._estimate_prompt())
        while True:
            completion = await self._run_round()
            if completion.tool_calls:
                await self._execute_calls(completion)
                summary = self._services.toolbox.ctx.reader.report.summary
                if summary is not None and not self._can_apply_steering():
                    return self._turn.ended(TurnState.COMPLETED, summary=summary)
                self._has_warned_empty = False
                continue
            if completion.stop_reason is StopReason.LENGTH:
                raise LimitReached(
                    "The answer was cut off at the model's output limit. Ask for less at once, or set "
                    "model.maxOutputTokens."
                )
            if self._can_apply_steering():
                continue
            if self._text_call_tool is not None:
                self._remind_of_call_form(self._text_call_tool)
            elif has_words(completion.text):
                summary = first_line(completion.text)
                return self._turn.ended(TurnState.COMPLETED, summary=summary)
            else:
                self._remind_of_empty_answer()

    async def _run_round(self) -> Completion:
        """Apply steering, compact if needed, ask the model and append its answer.

        Returns:
            The answer, whose calls have not been run.

        Raises:
            LimitReached: If a limit is exceeded, or the previous round was the last.
        """
        self._raise_if_ended()
        while self._services.pending_steering:
            self._apply_steering(self._services.pending_steering.pop(0))
        if (window := self._services.window) is not None:
            self._record_compaction(
                await window.compact_early(self._estimate_prompt(), self._total_tokens)
            )
        number, limits = len(self._turn.rounds) + 1, self._services.limits
        prompt = self._estimate_prompt()
        self._last_round_reason = (
            self._repetition_reason
            or limits.last_round_reason(number - 1, self._total_tokens, prompt)
            or limits.cost_last_round_reason(self._turn.usage, self._latest_usage, prompt)
        )
        if self._last_round_reason:
            names = ", ".join(f"`{name}`" for name in self._services.toolbox.last_round_tools)
            notice = _LAST_ROUND.format(tools=names)
            self._messages.append(Message("user", notice))
        self._services.emit(RoundStarted(self._turn, number, limits.rounds))
        completion = await self._complete_with_compaction()
        self._messages.append(
            Message("assistant", completion.text, with_valid_arguments(completion.tool_calls))
        )
        self._n_counted_messages = len(self._messages)
        self._counted_tokens = completion.usage.total
        return completion

    async def _complete_with_compaction(self) -> Completion:
        """Ask the model. If the conversation is too long, compact it by half and ask again.

        Raises:
            ContextOverflow: If the conversation is still too long after `MAX_COMPACTIONS`, or can't
                be shortened.
        """
        for _ in range(MAX_COMPACTIONS):
            try:
                return await self._request_completion()
            except ContextOverflow:
                window = self._services.window
                if window is None or not self._record_compaction(await window.compact()):
                    raise
        return await self._request_completion()

    def _record_compaction(self, usage: Usage | None) -> bool:
        """Charge a compaction to the turn. Return whether there was one (`usage` is not None)."""
        if usage is None:
            return False
        self._n_counted_messages = self._counted_tokens = 0
        self._turn = self._turn.with_compaction(usage)
        return True

    async def _request_completion(self) -> Completion:
        """Send one request, and record its tokens in the turn.

        Returns:
            The answer, with at most `MAX_CALLS` calls and the exact names of the tools.

        Raises:
            ContextOverflow: If the conversation is too long.
            LimitReached: If the answer is longer than the limits allow.
            TurnFailed: If the model refuses.
        """
        services, before = self._services, self._turn
        prompt, left = self._estimate_prompt(), services.seconds_left()
        ceiling, limit_name = services.limits.answer_ceiling(
            before.usage, self._latest_usage, prompt
        )
        request = Request(
            tuple(self._messages),
            self._tools,
            self._other_tools,
            # The definitions stay the same, so that the provider's cached prefix stays valid.
            allowed=services.toolbox.last_round_tools if self._last_round_reason else (),
            # A call by `done` can end the turn.
            must_call=self._text_call_tool is not None,
            ceiling=ceiling,
            # In later rounds little time may be left: then the time limit ends the turn.
            patience=None if before.rounds or left == inf else _FIRST_ROUND_SILENCE * left,
        )
        try:
            completion = await services.model.complete(
                request,
                on_text=lambda text: services.emit(TextDelta(before, text)),
                on_wait=lambda reason: services.emit(RetryScheduled(before, reason)),
            )
        except AnswerTooLong as error:
            used = Usage(prompt, ceiling, estimated=True)
            self._turn = before.with_round(Completion(error.text, usage=used), self._now())
            services.emit(RoundCompleted(self._turn))
            raise LimitReached(
                f"Stopped in the middle of an answer, after about {self._total_tokens} tokens "
                f"({limit_name}); none of it was applied."
            ) from error
        completion, self._n_dropped = limit_calls(completion)
        completion = services.toolbox.resolve_tool_names(completion)
        self._text_call_tool = self._find_written_call(completion)
        if self._text_call_tool is None:
            self._turn = before.with_round(completion, self._now())
        else:  # the text is no part of the turn's answer
            self._turn = before.with_usage(completion)
        services.emit(RoundCompleted(self._turn))
        check_refusal(completion)
        return completion

    async def _execute_calls(self, completion: Completion) -> None:
        """Run the calls of an answer.

        The first repetition causes a warning; after the second, the next round is the last.
        """
        toolbox = self._services.toolbox
        ctx = replace(toolbox.ctx, is_last_round=bool(self._last_round_reason))
        ctx.reader.report.summary = None
        toolbox = replace(toolbox, ctx=ctx)
        executor = ToolExecutor(self._turn, completion, toolbox, self._services.emit)
        self._turn = await executor.execute(self._messages, self._loop_detector)
        self._extend_offer(call.name for call in completion.tool_calls)
        if self._n_dropped:
            notice = _TOO_MANY_CALLS.format(n=self._n_dropped, most=MAX_CALLS)
            self._messages.append(Message("user", notice))
        repetition = self._loop_detector.take_warning()  # such as "read a.py three times"
        if not repetition or self._last_round_reason:
            return
        if self._has_warned_loop:
            self._repetition_reason = f"Stopped: the model {repetition}, even after a reminder."
            return
        self._has_warned_loop = True
        warning = (
            f"You have {repetition}. That does not help: try another way, or call `done` and say "
            "why."
        )
        self._messages.append(Message("user", warning))

    def _extend_offer(self, names: Iterable[str]) -> None:
        """Offer these tools from the next request on, if the model is offered only some tools."""
        by_name = {tool.name: tool for tool in self._other_tools}
        added = [name for name in dict.fromkeys(names) if name in by_name]
        offer = self._services.toolbox.offer
        if offer is None or not offer.add(added):
            return
        # At the end, so that the beginning of the requests stays the same.
        self._tools += tuple(by_name.pop(name) for name in added)
        self._other_tools = tuple(by_name.values())
        self._tool_tokens = estimate_prompt((), self._tools)

    def _apply_steering(self, text: str) -> None:
        """Append a message that the user sent during the turn."""
        self._services.toolbox.ctx.proposer.user_words.append(text)
        self._extend_offer(tools_called_for(text))
        self._messages.append(Message("user", text))
        self._turn = self._turn.with_steering(text, self._now())
        self._services.emit(SteeringApplied(self._turn, text))

    def _can_apply_steering(self) -> bool:
        """Return whether steering is pending and another round may read it."""
        return (
            bool(self._services.pending_steering)
            and not self._last_round_reason
            and not self._exceeded_reason()
        )

    def _raise_if_ended(self) -> None:
        """Raise LimitReached if a limit is exceeded or the last round has run."""
        if why := self._exceeded_reason() or self._last_round_reason:
            raise LimitReached(why)

    def _exceeded_reason(self) -> str:
        """Return why the next request would exceed a limit, or ""."""
        limits, prompt = self._services.limits, self._estimate_prompt()
        over = limits.exceeded_reason(len(self._turn.rounds), self._total_tokens, prompt)
        return over or limits.cost_exceeded_reason(self._turn.usage, self._latest_usage, prompt)

    @property
    def _latest_usage(self) -> Usage | None:
        """The tokens of the latest round; None before the first."""
        return self._turn.rounds[-1] if self._turn.rounds else None

    @property
    def _total_tokens(self) -> int:
        """The tokens of the turn so far: input, output and compaction."""
        return self._turn.usage.total

    def _estimate_prompt(self) -> int:
        """Return the tokens of the next request: the counted ones, and an estimate of the rest."""
        known = self._counted_tokens if self._n_counted_messages else self._tool_tokens
        return known + estimate_prompt(self._messages[self._n_counted_messages :])

    def _now(self) -> float:
        """Return the current time, in seconds since the epoch."""
        return self._services.toolbox.ctx.reader.snapshot().system.now()

    def _find_written_call(self, completion: Completion) -> str | None:
        """Return the tool that an answer calls as plain text; "" if unknown, None for no call."""
        # If no tool is offered, there is no form to remind the model of.
        if completion.tool_calls or not self._tools:
            return None
        return find_written_call(completion.text, TOOL_NAMES)

    def _remind_of_call_form(self, name: str) -> None:
        """Remind the model once of the form of tool calls.

        Raises:
            TurnFailed: If the model has already been reminded.
        """
        if self._has_warned_form:
            message = _CALLS_AS_TEXT.format(named=f" (`{name}`)" if name else "")
            settings = self._services.toolbox.ctx.reader.workspace.settings.model
            advice = _CHOOSE_OTHER_MODEL if settings.tool_calls == "text" else _SET_TEXT_CALLS
            raise TurnFailed(f"{message} {advice}")
        self._has_warned_form = True
        message = _CALL_FORM_REMINDER.format(name=name or self._tools[0].name)
        self._messages.append(Message("user", message))

    def _remind_of_empty_answer(self) -> None:
        """Remind the model that its answer was empty.

        Raises:
            TurnFailed: If the model was reminded since its last call, and the turn is empty.
            LimitReached: If the model was reminded since its last call.
        """
        if not self._has_warned_empty:
            self._has_warned_empty = True
            self._messages.append(Message("user", _EMPTY_ANSWER_REMINDER))
        elif self._turn.answer or self._turn.tool_calls:
            raise LimitReached(_STOPPED_WITHOUT_DONE)
        else:
            raise TurnFailed(
                "The model returned two empty answers. Ask again, or choose another model."
            )
