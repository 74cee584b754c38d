"""A conversation: what was said in it, and the turns waiting their turn."""

import asyncio
from collections import deque
from dataclasses import dataclass, field, replace

from stet.agent.turn import Turn, TurnState
from stet.agent.turn_history import MAX_SAID, Exchange, Prompt, TurnRecord
from stet.privacy.taint import TaintTracker
from stet.review.feedback import ModelKnowledge
from stet.review.proposal import Hunk
from stet.review.resolve.shown_documents import ShownDocuments
from stet.web.web_address import KnownAddresses

MAX_FILES = 100
"""How many of the files shown in a chat are watched for changes."""

MAX_TURNS = 100
"""How many turns a chat remembers: as many as any setting can ask for."""
MAX_USER_MESSAGES = 1000
"""How many of the user's questions: those of as many turns as are kept."""


@dataclass(frozen=True, slots=True)
class TurnStart:
    """What a turn began with.

    Attributes:
        feedback: What stands before the question, for the model and in the history.
        knowledge: What the model knows by that.
        shown: What it is shown while the turn runs.
        prompt: What it sends; None where it sends no history.
        n_history: How many of the history's last turns the prompt began with, or stands for.
        active: The name of the active file; "" for none.
        epoch: The rules of privacy that hold for it.
        is_overflow: Whether the model has refused it as too long, however it was shortened.
    """

    feedback: str
    knowledge: ModelKnowledge
    shown: ShownDocuments
    prompt: Prompt | None = None
    n_history: int = 0
    active: str = ""
    epoch: str = ""
    is_overflow: bool = False

    def knowledge_at_end(self) -> ModelKnowledge:
        """Return what the model knows after the turn. Of many files, the last shown are kept."""
        shown = {key: one for key, one in self.knowledge.shown.items() if key not in self.shown}
        # Of a very long text nobody could say in time what has changed in it since.
        now = [(key, one) for key, one in self.shown.items() if not one.is_large]
        known = [*shown.items(), *now]
        return replace(self.knowledge, shown=dict(known[-MAX_FILES:]))


@dataclass(slots=True)
class Session:
    """One chat, owned by the agent and touched on the event loop only.

    Attributes:
        chat: Its id.
        history: Earlier turns, oldest first; their messages stay as they were sent, so that a
            provider's cache of the prefix holds, until there is no room for them.
        queue: Ids of turns that wait.
        running: The id of the turn that runs, if one does.
        knowledge: What the model knows of its proposals and of files, by what stands in the history.
        turn_start: What the turn that runs began with, until it is over.
        user_messages: What the user has said, and nothing else, oldest first: who names a host in it may be
            read from. The history also holds what others wrote.
        untrusted: What others have written and its model was shown.
        approved_hosts: Hosts that a search has named or the user has allowed.
        save_lock: Held while what it knows is written, so that nothing older is written last.
    """

    chat: str
    history: list[Exchange] = field(default_factory=list)
    queue: deque[str] = field(default_factory=deque)
    running: str | None = None
    knowledge: ModelKnowledge = field(default_factory=ModelKnowledge)
    turn_start: TurnStart | None = None
    user_messages: list[str] = field(default_factory=list)
    untrusted: TaintTracker = field(default_factory=TaintTracker)
    approved_hosts: KnownAddresses = field(default_factory=KnownAddresses)
    save_lock: asyncio.Lock = field(default_factory=asyncio.Lock, compare=False, repr=False)

    @property
    def active(self) -> str:
        """The active file of the latest turn; "" for none."""
        record = self.history[-1].record if self.history else None
        return record.active if record else ""

    def record_user_message(self, words: str) -> None:
        """Note what the user has said; of very much the latest."""
        self.user_messages.append(words)
        del self.user_messages[:-MAX_USER_MESSAGES]

    def record_turn(self, turn: Turn, hunks: tuple[Hunk, ...]) -> None:
        """Keep the turn for those to come.

        Of one that was cancelled before the model had answered once, and of one that the model has
        refused as too long, only the question and what became of it: what it was told will be told
        again, and what did not fit once would not fit the next time.
        """
        turn_start, self.turn_start = self.turn_start, None
        active = turn_start.active if turn_start is not None else ""
        question = turn.ask.prompt
        is_overflow = turn_start is not None and turn_start.is_overflow
        if is_overflow or (turn.state is TurnState.CANCELLED and not turn.rounds):
            # It may have been cancelled because it would have sent too much.
            turn_start, question = None, question[:MAX_SAID]
        if turn_start is not None:
            question = turn_start.feedback + question
            self.knowledge = turn_start.knowledge_at_end()
        record = TurnRecord.of(turn, hunks, active, self.active)
        if turn_start is None or turn_start.prompt is None:
            answer = turn.answer or turn.summary
            self.history.append(Exchange.condensed(question, answer.strip(), record, 2))
            del self.history[:-MAX_TURNS]
            return
        prompt = turn_start.prompt
        # What an earlier run has kept may have come in front meanwhile.
        first = len(self.history) - turn_start.n_history
        self.history[first:] = prompt.history
        exchange = Exchange.from_turn(prompt.current_turn, question, turn, record)
        self.history.append(replace(exchange, guard=turn_start.epoch))
        del self.history[:-MAX_TURNS]
