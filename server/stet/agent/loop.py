"""The loop: ask the model, run what it calls, until it is done or a limit is reached."""

from stet.agent.calls import MAX_CALLS, Calls, storable, within_bounds
from stet.agent.crew import Crew
from stet.agent.errors import LimitReached, TurnFailed
from stet.agent.events import Answered, Heard, RoundStarted, Said, Waiting
from stet.agent.refusal import check_refusal
from stet.agent.stuck import Watch
from stet.agent.toolbox import NAMES
from stet.agent.turn import Turn, TurnState, first_line, has_words
from stet.agent.written_calls import written_call
from stet.llm.errors import AnswerTooLong, ContextOverflow
from stet.llm.messages import Completion, Message, StopReason, Usage
from stet.llm.model import Request
from stet.llm.tokens import estimate_prompt

_REMINDER = (
    "You have said nothing and called no tool. If the work is finished, call `done` with a summary; if "
    "the user wants an answer, write it; otherwise go on."
)
_NO_DONE = "The model stopped without saying that it was done."
_FORM = (
    "Your last message is a tool call written as text, so nothing of it was carried out. Call tools only "
    "by the tool calls of this interface or, where your instructions have a section `# Tools`, by the tag "
    "that it shows; with the name of the tool and its arguments as one JSON object, such as "
    '{{"name": "{name}", "arguments": {{...}}}}. If you meant it as your answer to the user, say it in '
    "other words."
)
_WRITTEN = (
    "The model wrote its tool calls{named} as text, though it was told in which form to make them; "
    "nothing of it was carried out."
)
_SET_TEXT = 'Set model.toolCalls to "text", or choose another model.'
_OTHER_MODEL = "Choose another model."
_TOO_MANY = (
    "You called {n} more tools in that answer than the {most} that are carried out at once; what came "
    "behind those was not run. Go on with fewer calls at a time."
)
_LAST = (
    "This is your last round: nothing can be looked up any more, only {tools} can be called. Finish "
    "now with what you know, and call `done` with a summary in the same answer as your last edits."
)
MAX_SHORTENED = 4
"""How often one request is shortened: whose window is not known may be a sixteenth of what is thought."""
_PATIENCE = 0.9
"""The part of the time that a model may be silent in the first round: so the user is told of that."""


async def run_turn(turn: Turn, messages: list[Message], crew: Crew) -> Turn:
    """Run a turn to its end; `messages` grows at its end only, but for what `make_room` does.

    Raises:
        Declined: If the user does not want so much to be sent.
        LimitReached: By rounds, tokens or money, or because the model goes round in circles.
        TurnFailed: If the model has nothing to say or refuses.
        ModelError: If the model can't be asked.
    """
    return await _Work(turn, messages, crew).run()


class _Work:
    """A turn at work: how it stands, what has been said, and what it has left."""

    def __init__(self, turn: Turn, messages: list[Message], crew: Crew) -> None:
        self._turn = turn
        self._messages = messages
        self._crew = crew
        self._watch = Watch()
        self._warned = False
        self._stuck = ""
        """Why the next round is the last: what the model was told of has happened again."""
        self._n_dropped = 0
        """Calls of the latest answer that are too many to be carried out."""
        self._end = ""
        """Why the turn ends behind this round, if it is the last."""
        self._is_told_nothing = False
        """Whether the model has been told that it said nothing."""
        self._is_told_form = False
        """Whether the model has been told how tools are called."""
        self._written: str | None = None
        """The tool that the latest answer calls in words ("" for an unknown one); None for none."""
        self._counted = (0, 0)
        """Messages whose tokens are known, and these tokens."""
        # Made once: the same to the byte, though the settings change meanwhile.
        self._tools = crew.toolbox.definitions()
        self._of_tools = estimate_prompt((), self._tools)

    async def run(self) -> Turn:
        """See `run_turn`."""
        self._stop_if_over()
        await self._crew.confirm(self._turn, self._prompt())
        while True:
            completion = await self._round()
            if completion.tool_calls:
                await self._carry_out(completion)
                summary = self._crew.toolbox.ctx.summary
                if summary is not None and not self._goes_on():
                    return self._turn.ended(TurnState.COMPLETED, summary=summary)
                self._is_told_nothing = False
                continue
            if completion.stop_reason is StopReason.LENGTH:
                raise LimitReached("The model's answer was cut at its longest; what it said stays.")
            if self._goes_on():
                continue
            if self._written is not None:
                self._report_call_form(self._written)
            elif has_words(completion.text):
                summary = first_line(completion.text)
                return self._turn.ended(TurnState.COMPLETED, summary=summary)
            else:
                self._report_empty_answer()

    async def _round(self) -> Completion:
        """Hear the user, ask the model, keep its answer."""
        self._stop_if_over()
        for text in self._crew.steering.take():
            self._hear(text)
        self._made_room(await self._crew.keep_room(self._messages, self._prompt(), self._spent))
        number, limits = len(self._turn.rounds) + 1, self._crew.limits
        prompt = self._prompt()
        self._end = (
            self._stuck
            or limits.last(number - 1, self._spent, prompt)
            or limits.last_by_cost(self._turn.usage, self._latest, prompt)
        )
        if self._end:
            names = ", ".join(f"`{name}`" for name in self._crew.toolbox.last_names)
            told = _LAST.format(tools=names)
            self._messages.append(Message("user", told))
        self._crew.emit(RoundStarted(self._turn, number, limits.rounds))
        completion = await self._ask()
        self._messages.append(
            Message("assistant", completion.text, storable(completion.tool_calls))
        )
        self._counted = (len(self._messages), completion.usage.total)
        return completion

    async def _ask(self) -> Completion:
        """Ask again where the conversation was too long and has been shortened, by half each time."""
        for _ in range(MAX_SHORTENED):
            try:
                return await self._answer()
            except ContextOverflow:
                if not self._made_room(await self._crew.make_room(self._messages)):
                    raise
        return await self._answer()

    def _made_room(self, took: Usage | None) -> bool:
        """Count what it took to shorten the conversation, if it was, and say that it was."""
        if took is None:
            return False
        self._counted = (0, 0)
        self._turn = self._turn.with_room_made(took)
        return True

    async def _answer(self) -> Completion:
        """The model's answer of this round, whole."""
        crew, before = self._crew, self._turn
        prompt, left = self._prompt(), crew.left()
        ceiling, limit = crew.limits.longest(before.usage, self._latest, prompt)
        request = Request(
            tuple(self._messages),
            self._tools,
            # The tools stay as they are, for a provider's cache of them and all that follows.
            allowed=crew.toolbox.last_names if self._end else (),
            ceiling=ceiling,
            # Later on, little time may be left: then the limit ends the turn, not the model.
            patience=None if before.rounds or left == float("inf") else _PATIENCE * left,
        )
        try:
            completion = await crew.model.complete(
                request,
                on_text=lambda text: crew.emit(Said(before, text)),
                on_wait=lambda reason: crew.emit(Waiting(before, reason)),
            )
        except AnswerTooLong as flood:
            used = Usage(prompt, ceiling, estimated=True)
            self._turn = before.with_round(Completion(flood.text, usage=used), self._now())
            crew.emit(Answered(self._turn))
            raise LimitReached(
                f"Stopped in the middle of an answer, after about {self._spent} tokens "
                f"({limit}); nothing of it was carried out."
            ) from flood
        completion, self._n_dropped = within_bounds(completion)
        completion = crew.toolbox.understood(completion)
        self._written = self._call_in(completion)
        is_answer = self._written is None
        said = before.with_round(completion, self._now()) if is_answer else None
        self._turn = said or before.with_usage(completion)
        crew.emit(Answered(self._turn))
        check_refusal(completion)
        return completion

    async def _carry_out(self, completion: Completion) -> None:
        """Run what was called; a model that goes round in circles is told so once, then stopped."""
        crew = self._crew
        crew.toolbox.ctx.summary, crew.toolbox.ctx.is_last_round = None, bool(self._end)
        calls = Calls(self._turn, completion, crew.toolbox, crew.emit, last_round=bool(self._end))
        self._turn = await calls.carry_out(self._messages, self._watch)
        if self._n_dropped:
            told = _TOO_MANY.format(n=self._n_dropped, most=MAX_CALLS)
            self._messages.append(Message("user", told))
        found = self._watch.look()
        if not found or self._end:
            return
        if self._warned:
            self._stuck = f"Stopped: the model {found}, though it had been told."
            return
        self._warned = True
        warning = (
            f"You have {found}. That leads nowhere: try another way, or call `done` and say why."
        )
        self._messages.append(Message("user", warning))

    def _hear(self, text: str) -> None:
        """Show the model what the user said meanwhile."""
        self._crew.toolbox.ctx.user_words.append(text)
        self._messages.append(Message("user", text))
        self._turn = self._turn.with_steering(text, self._now())
        self._crew.emit(Heard(self._turn, text))

    def _goes_on(self) -> bool:
        """Whether the user has said something that the model can still be shown."""
        return self._crew.steering.is_waiting and not self._end and not self._why_over()

    def _stop_if_over(self) -> None:
        if why := self._why_over() or self._end:
            raise LimitReached(why)

    def _why_over(self) -> str:
        limits, prompt = self._crew.limits, self._prompt()
        over = limits.over(len(self._turn.rounds), self._spent, prompt)
        return over or limits.over_cost(self._turn.usage, self._latest, prompt)

    @property
    def _latest(self) -> Usage | None:
        """Tokens of the latest round; None before the first one."""
        return self._turn.rounds[-1] if self._turn.rounds else None

    @property
    def _spent(self) -> int:
        return self._turn.usage.total

    def _prompt(self) -> int:
        """Tokens of the next request, about: those the provider has counted, and what came since."""
        n_counted, tokens = self._counted
        known = tokens if n_counted else self._of_tools
        return known + estimate_prompt(self._messages[n_counted:])

    def _now(self) -> float:
        """The time, in seconds since the epoch."""
        return self._crew.toolbox.ctx.snapshot().system.now()

    def _call_in(self, completion: Completion) -> str | None:
        """The tool that an answer calls in words, "" for an unknown one; None for none."""
        # Where no tool is offered, there is no form to tell the model of.
        if completion.tool_calls or not self._tools:
            return None
        return written_call(completion.text, NAMES)

    def _report_call_form(self, name: str) -> None:
        """Tell the model in which form tools are called.

        Raises:
            TurnFailed: If it has been told before.
        """
        if self._is_told_form:
            told = _WRITTEN.format(named=f" (`{name}`)" if name else "")
            settings = self._crew.toolbox.ctx.workspace.settings.model
            advice = _OTHER_MODEL if settings.tool_calls == "text" else _SET_TEXT
            raise TurnFailed(f"{told} {advice}")
        self._is_told_form = True
        told = _FORM.format(name=name or self._tools[0].name)
        self._messages.append(Message("user", told))

    def _report_empty_answer(self) -> None:
        """Tell the model that it has said nothing.

        Raises:
            TurnFailed: If it has been told just before, and has done nothing in the turn.
            LimitReached: If it has been told just before.
        """
        if not self._is_told_nothing:
            self._is_told_nothing = True
            self._messages.append(Message("user", _REMINDER))
        elif self._turn.answer or self._turn.tool_calls:
            raise LimitReached(_NO_DONE)
        else:
            raise TurnFailed("The model said nothing, twice. Ask again, or choose another model.")
