"""The loop of a turn: ask the model, run the tools that it calls, until it is done or a limit is reached."""

from collections.abc import Awaitable, Callable
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
        emit: Takes each event. It also saves the turn, so that its state is known at any moment.
        confirm: Called with the number of tokens before the first request; raises if the user does
            not want to send so many tokens.
        steering: What the user has said while the turn runs and the model has not seen.
        seconds_left: Returns the seconds until the turn's time is over.
        window: Shortens the conversation; None if no part of it can be shortened.
    """

    model: Model
    toolbox: Toolbox
    limits: Limits
    emit: Callable[[AgentEvent], None]
    confirm: Callable[[Turn, int], Awaitable[None]]
    steering: list[str] = field(default_factory=list)
    seconds_left: Callable[[], float] = lambda: inf
    window: ContextWindow | None = None


_EMPTY_ANSWER_REMINDER = (
    "You have said nothing and called no tool. If the work is finished, call `done` with a summary; if "
    "the user wants an answer, write it; otherwise go on."
)
_STOPPED_WITHOUT_DONE = "The model stopped without saying that it was done."
_CALL_FORM_REMINDER = (
    "Your last message is a tool call written as text, so nothing of it was carried out. Call tools only "
    "by the tool calls of this interface or, where your instructions have a section `# Tools`, by the tag "
    "that it shows; with the name of the tool and its arguments as one JSON object, such as "
    '{{"name": "{name}", "arguments": {{...}}}}. If you meant it as your answer to the user, say it in '
    "other words."
)
_CALLS_AS_TEXT = (
    "The model wrote its tool calls{named} as text, though it was told in which form to make them; "
    "nothing of it was carried out."
)
_SET_TEXT_CALLS = 'Set model.toolCalls to "text", or choose another model.'
_CHOOSE_OTHER_MODEL = "Choose another model."
_TOO_MANY_CALLS = (
    "You called {n} more tools in that answer than the {most} that are carried out at once; what came "
    "behind those was not run. Go on with fewer calls at a time."
)
_LAST_ROUND = (
    "This is your last round: nothing can be looked up any more, only {tools} can be called. Finish "
    "now with what you know, and call `done` with a summary in the same answer as your last edits."
)
MAX_COMPACTIONS = 4
"""How often one request is shortened: whose window is not known may be a sixteenth of what is thought."""
_FIRST_ROUND_PATIENCE = 0.9
"""The share of the time left for silence in the first round, so that the user learns of it."""


async def run_turn(turn: Turn, messages: list[Message], services: TurnServices) -> Turn:
    """Run a turn to its end. `messages` grows at its end only, except for compaction.

    Raises:
        SendingDeclined: If the user does not want so much to be sent.
        LimitReached: By rounds, tokens or money, or because the model goes round in circles.
        TurnFailed: If the model has nothing to say or refuses.
        ModelError: If the model can't be asked.
    """
    return await AgentLoop(turn, messages, services).run()


class AgentLoop:
    """The state of a turn that runs: the turn, its conversation, and what it has been warned of."""

    def __init__(self, turn: Turn, messages: list[Message], services: TurnServices) -> None:
        self._turn = turn
        self._messages = messages
        self._services = services
        self._loop_detector = LoopDetector()
        self._has_warned_loop = False
        self._loop_reason = ""
        """Why the next round is the last: the model repeated a mistake after a warning."""
        self._n_dropped = 0
        """Calls of the latest answer that are too many to be carried out."""
        self._last_round_reason = ""
        """Why the turn ends after this round, if it is the last."""
        self._has_warned_empty = False
        """Whether the model has been told that it said nothing."""
        self._has_warned_form = False
        """Whether the model has been told how tools are called."""
        self._written_tool: str | None = None
        """The tool that the latest answer calls in words ("" for an unknown one); None for none."""
        self._n_counted_messages = self._counted_tokens = 0
        """How many messages the provider has counted, and their tokens."""
        # Created once: the bytes stay the same, even if the settings change meanwhile.
        self._tools = services.toolbox.definitions()
        self._tool_tokens = estimate_prompt((), self._tools)

    async def run(self) -> Turn:
        """See `run_turn`."""
        self._stop_if_over()
        await self._services.confirm(self._turn, self._prompt_tokens())
        while True:
            completion = await self._run_round()
            if completion.tool_calls:
                await self._execute_calls(completion)
                summary = self._services.toolbox.ctx.reader.report.summary
                if summary is not None and not self._has_steering():
                    return self._turn.ended(TurnState.COMPLETED, summary=summary)
                self._has_warned_empty = False
                continue
            if completion.stop_reason is StopReason.LENGTH:
                raise LimitReached("The model's answer was cut at its longest; what it said stays.")
            if self._has_steering():
                continue
            if self._written_tool is not None:
                self._report_call_form(self._written_tool)
            elif has_words(completion.text):
                summary = first_line(completion.text)
                return self._turn.ended(TurnState.COMPLETED, summary=summary)
            else:
                self._report_empty_answer()

    async def _run_round(self) -> Completion:
        """Hear the user, ask the model, keep its answer."""
        self._stop_if_over()
        while self._services.steering:
            self._apply_steering(self._services.steering.pop(0))
        if (window := self._services.window) is not None:
            self._note_compaction(
                await window.compact_early(self._prompt_tokens(), self._spent_tokens)
            )
        number, limits = len(self._turn.rounds) + 1, self._services.limits
        prompt = self._prompt_tokens()
        self._last_round_reason = (
            self._loop_reason
            or limits.last_round_reason(number - 1, self._spent_tokens, prompt)
            or limits.cost_last_round_reason(self._turn.usage, self._latest_tokens, prompt)
        )
        if self._last_round_reason:
            names = ", ".join(f"`{name}`" for name in self._services.toolbox.last_names)
            notice = _LAST_ROUND.format(tools=names)
            self._messages.append(Message("user", notice))
        self._services.emit(RoundStarted(self._turn, number, limits.rounds))
        completion = await self._complete()
        self._messages.append(
            Message("assistant", completion.text, with_valid_arguments(completion.tool_calls))
        )
        self._n_counted_messages = len(self._messages)
        self._counted_tokens = completion.usage.total
        return completion

    async def _complete(self) -> Completion:
        """Ask again where the conversation was too long and has been shortened, by half each time."""
        for _ in range(MAX_COMPACTIONS):
            try:
                return await self._complete_once()
            except ContextOverflow:
                window = self._services.window
                if window is None or not self._note_compaction(await window.compact()):
                    raise
        return await self._complete_once()

    def _note_compaction(self, usage: Usage | None) -> bool:
        """Count what it took to shorten the conversation, if it was, and say that it was."""
        if usage is None:
            return False
        self._n_counted_messages = self._counted_tokens = 0
        self._turn = self._turn.with_compaction(usage)
        return True

    async def _complete_once(self) -> Completion:
        """Return the model's complete answer of this round."""
        services, before = self._services, self._turn
        prompt, left = self._prompt_tokens(), services.seconds_left()
        ceiling, limit = services.limits.answer_ceiling(before.usage, self._latest_tokens, prompt)
        request = Request(
            tuple(self._messages),
            self._tools,
            # The tools stay as they are, for a provider's cache of them and all that follows.
            allowed=services.toolbox.last_names if self._last_round_reason else (),
            ceiling=ceiling,
            # Later on, little time may be left: then the limit ends the turn, not the model.
            patience=None if before.rounds or left == inf else _FIRST_ROUND_PATIENCE * left,
        )
        try:
            completion = await services.model.complete(
                request,
                on_text=lambda text: services.emit(TextDelta(before, text)),
                on_wait=lambda reason: services.emit(RetryScheduled(before, reason)),
            )
        except AnswerTooLong as flood:
            used = Usage(prompt, ceiling, estimated=True)
            self._turn = before.with_round(Completion(flood.text, usage=used), self._now())
            services.emit(RoundCompleted(self._turn))
            raise LimitReached(
                f"Stopped in the middle of an answer, after about {self._spent_tokens} tokens "
                f"({limit}); nothing of it was carried out."
            ) from flood
        completion, self._n_dropped = limit_calls(completion)
        completion = services.toolbox.resolve_tool_names(completion)
        self._written_tool = self._find_written_call(completion)
        is_answer = self._written_tool is None
        completed = before.with_round(completion, self._now()) if is_answer else None
        self._turn = completed or before.with_usage(completion)
        services.emit(RoundCompleted(self._turn))
        check_refusal(completion)
        return completion

    async def _execute_calls(self, completion: Completion) -> None:
        """Run the calls of an answer. Warn a model that repeats itself once, then stop the turn."""
        toolbox = self._services.toolbox
        ctx = replace(toolbox.ctx, is_last_round=bool(self._last_round_reason))
        ctx.reader.report.summary = None
        toolbox = replace(toolbox, ctx=ctx)
        executor = ToolExecutor(self._turn, completion, toolbox, self._services.emit)
        self._turn = await executor.execute(self._messages, self._loop_detector)
        if self._n_dropped:
            notice = _TOO_MANY_CALLS.format(n=self._n_dropped, most=MAX_CALLS)
            self._messages.append(Message("user", notice))
        pattern = self._loop_detector.take_warning()
        if not pattern or self._last_round_reason:
            return
        if self._has_warned_loop:
            self._loop_reason = f"Stopped: the model {pattern}, though it had been told."
            return
        self._has_warned_loop = True
        warning = (
            f"You have {pattern}. That leads nowhere: try another way, or call `done` and say why."
        )
        self._messages.append(Message("user", warning))

    def _apply_steering(self, text: str) -> None:
        """Show the model what the user said meanwhile."""
        self._services.toolbox.ctx.proposer.user_words.append(text)
        self._messages.append(Message("user", text))
        self._turn = self._turn.with_steering(text, self._now())
        self._services.emit(SteeringApplied(self._turn, text))

    def _has_steering(self) -> bool:
        """Whether the user has said something that the model can still be shown."""
        return (
            bool(self._services.steering)
            and not self._last_round_reason
            and not self._exceeded_limit()
        )

    def _stop_if_over(self) -> None:
        if why := self._exceeded_limit() or self._last_round_reason:
            raise LimitReached(why)

    def _exceeded_limit(self) -> str:
        limits, prompt = self._services.limits, self._prompt_tokens()
        over = limits.exceeded_reason(len(self._turn.rounds), self._spent_tokens, prompt)
        return over or limits.cost_exceeded_reason(self._turn.usage, self._latest_tokens, prompt)

    @property
    def _latest_tokens(self) -> Usage | None:
        """Tokens of the latest round; None before the first one."""
        return self._turn.rounds[-1] if self._turn.rounds else None

    @property
    def _spent_tokens(self) -> int:
        return self._turn.usage.total

    def _prompt_tokens(self) -> int:
        """Tokens of the next request, about: those the provider has counted, and what came since."""
        known = self._counted_tokens if self._n_counted_messages else self._tool_tokens
        return known + estimate_prompt(self._messages[self._n_counted_messages :])

    def _now(self) -> float:
        """Return the current time, in seconds since the epoch."""
        return self._services.toolbox.ctx.reader.snapshot().system.now()

    def _find_written_call(self, completion: Completion) -> str | None:
        """Return the tool that an answer calls in words, "" for an unknown tool, None for no call."""
        # Where no tool is offered, there is no form to tell the model of.
        if completion.tool_calls or not self._tools:
            return None
        return find_written_call(completion.text, TOOL_NAMES)

    def _report_call_form(self, name: str) -> None:
        """Tell the model in which form tools are called.

        Raises:
            TurnFailed: If it has been told before.
        """
        if self._has_warned_form:
            message = _CALLS_AS_TEXT.format(named=f" (`{name}`)" if name else "")
            settings = self._services.toolbox.ctx.reader.workspace.settings.model
            advice = _CHOOSE_OTHER_MODEL if settings.tool_calls == "text" else _SET_TEXT_CALLS
            raise TurnFailed(f"{message} {advice}")
        self._has_warned_form = True
        message = _CALL_FORM_REMINDER.format(name=name or self._tools[0].name)
        self._messages.append(Message("user", message))

    def _report_empty_answer(self) -> None:
        """Tell the model that it has said nothing.

        Raises:
            TurnFailed: If it has been told just before, and has done nothing in the turn.
            LimitReached: If it has been told just before.
        """
        if not self._has_warned_empty:
            self._has_warned_empty = True
            self._messages.append(Message("user", _EMPTY_ANSWER_REMINDER))
        elif self._turn.answer or self._turn.tool_calls:
            raise LimitReached(_STOPPED_WITHOUT_DONE)
        else:
            raise TurnFailed("The model said nothing, twice. Ask again, or choose another model.")
