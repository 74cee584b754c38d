"""The loop: ask the model, run what it calls, until it is done or a limit is reached."""

import dataclasses

from stet.agent.calls import MAX_CALLS, Calls, storable, within_bounds
from stet.agent.crew import Crew
from stet.agent.errors import LimitReached, TurnFailed
from stet.agent.events import Answered, Heard, RoundStarted, Said, Waiting
from stet.agent.refusal import check_refusal
from stet.agent.stuck import Watch
from stet.agent.turn import Mode, Turn, TurnState
from stet.llm.errors import AnswerTooLong, ContextOverflow
from stet.llm.messages import Completion, Message, StopReason, Usage
from stet.llm.model import Request
from stet.llm.tokens import estimate_prompt

_REMINDER = (
    "You have called no tool. If the work is finished, call `done` with a summary; otherwise go on."
)
_NO_DONE = "The model stopped without saying that it was done. What it proposed stays."
_STAYS = "What was proposed stays."
_TOO_MANY = (
    "You called {n} more tools in that answer than the {most} that are carried out at once; what came "
    "behind those was not run. Go on with fewer calls at a time."
)
_LAST = (
    "This is your last round: nothing can be looked up any more, only {tools} can be called. Finish "
    "now with what you know, and call `done` with a summary in the same answer as your last edits."
)
_PATIENCE = 0.9
"""The part of the time left that a model may be silent: so the user is told of that, not of the time."""


async def run_turn(turn: Turn, messages: list[Message], crew: Crew) -> Turn:
    """Run a turn to its end; `messages` grows at its end only, but for what `make_room` does.

    Raises:
        Declined: If the user does not want so much to be sent.
        LimitReached: By rounds or tokens, or because the model goes round in circles.
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
        self._counted = (0, 0)
        """Messages whose tokens are known, and these tokens."""
        # Made once: the same to the byte, though the settings change meanwhile.
        self._tools = crew.toolbox.definitions()
        self._of_tools = estimate_prompt((), self._tools)

    async def run(self) -> Turn:
        """See `run_turn`."""
        self._stop_if_over()
        await self._crew.confirm(self._turn, self._prompt())
        reminded = False
        while True:
            completion = await self._round()
            if completion.tool_calls:
                await self._carry_out(completion)
                summary = self._crew.toolbox.desk.summary
                if summary is not None and not self._goes_on():
                    return self._turn.ended(TurnState.COMPLETED, summary=summary)
                reminded = False
                continue
            if completion.stop_reason is StopReason.LENGTH:
                raise LimitReached("The model's answer was cut at its longest; what it said stays.")
            answered = self._turn.ask.mode is Mode.ASK and bool(completion.text.strip())
            if self._goes_on():
                continue
            if answered:
                return self._turn.ended(TurnState.COMPLETED)
            if reminded:
                raise self._unfinished()
            self._messages.append(Message("user", _REMINDER))
            reminded = True

    async def _round(self) -> Completion:
        """Hear the user, ask the model, keep its answer."""
        self._stop_if_over()
        for text in self._crew.steering.take():
            self._hear(text)
        self._made_room(await self._crew.keep_room(self._messages, self._prompt(), self._spent))
        number, limits = len(self._turn.rounds) + 1, self._crew.limits
        self._end = self._stuck or limits.last(number - 1, self._spent, self._prompt())
        if self._end:
            told = _LAST.format(tools=self._crew.toolbox.last_names)
            self._messages.append(Message("user", told))
        self._crew.emit(RoundStarted(self._turn, number, limits.rounds))
        completion = await self._ask()
        self._messages.append(
            Message("assistant", completion.text, storable(completion.tool_calls))
        )
        self._counted = (len(self._messages), completion.usage.total)
        return completion

    async def _ask(self) -> Completion:
        """Ask once more where the conversation was too long and has been shortened."""
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
        request = Request(
            tuple(self._messages),
            self._tools,
            ceiling=crew.limits.answer(self._spent, prompt),
            patience=None if left == float("inf") else _PATIENCE * left,
        )
        try:
            completion = await crew.model.complete(
                request,
                on_text=lambda text: crew.emit(Said(before, text)),
                on_wait=lambda reason: crew.emit(Waiting(before, reason)),
            )
        except AnswerTooLong as flood:
            used = Usage(prompt, request.ceiling or 0, estimated=True)
            self._turn = before.with_round(Completion(flood.text, usage=used))
            crew.emit(Answered(self._turn))
            raise LimitReached(
                f"Stopped in the middle of an answer, after about {self._spent} tokens "
                f"(agent.maxTokens is {crew.limits.tokens}); nothing of it was carried out. {_STAYS}"
            ) from flood
        completion, self._n_dropped = within_bounds(completion)
        completion = crew.toolbox.understood(completion)
        self._turn = before.with_round(completion)
        crew.emit(Answered(self._turn))
        check_refusal(completion)
        return completion

    async def _carry_out(self, completion: Completion) -> None:
        """Run what was called; a model that goes round in circles is told so once, then stopped."""
        crew = self._crew
        crew.toolbox.desk.summary = None
        calls = Calls(self._turn, completion, crew.toolbox, crew.emit, last_round=bool(self._end))
        self._turn = await calls.carry_out(self._messages, self._watch)
        if self._n_dropped:
            told = _TOO_MANY.format(n=self._n_dropped, most=MAX_CALLS)
            self._messages.append(Message("user", told))
        found = self._watch.look()
        if not found or self._end:
            return
        if self._warned:
            self._stuck = f"Stopped: the model {found}, though it had been told. {_STAYS}"
            return
        self._warned = True
        warning = (
            f"You have {found}. That leads nowhere: try another way, or call `done` and say why."
        )
        self._messages.append(Message("user", warning))

    def _hear(self, text: str) -> None:
        """Show the model what the user said meanwhile."""
        self._crew.toolbox.desk.user_words.append(text)
        self._messages.append(Message("user", text))
        self._turn = dataclasses.replace(self._turn, steering=(*self._turn.steering, text))
        self._crew.emit(Heard(self._turn, text))

    def _goes_on(self) -> bool:
        """Whether the user has said something that the model can still be shown."""
        return self._crew.steering.is_waiting and not self._end and not self._why_over()

    def _stop_if_over(self) -> None:
        if why := self._why_over() or self._end:
            raise LimitReached(why)

    def _why_over(self) -> str:
        return self._crew.limits.over(len(self._turn.rounds), self._spent, self._prompt())

    @property
    def _spent(self) -> int:
        return self._turn.usage.total

    def _prompt(self) -> int:
        """Tokens of the next request, about: those the provider has counted, and what came since."""
        n_counted, tokens = self._counted
        known = tokens if n_counted else self._of_tools
        return known + estimate_prompt(self._messages[n_counted:])

    def _unfinished(self) -> Exception:
        if not self._turn.answer and not self._turn.tool_calls:
            return TurnFailed("The model said nothing, twice. Ask again, or choose another model.")
        return LimitReached(_NO_DONE)
