"""A conversation: what was said in it, and the turns waiting their turn."""

import asyncio
from collections import deque
from dataclasses import dataclass, field, replace

from stet.agent.history import MAX_SAID, Exchange, Prompt, Record
from stet.agent.turn import Turn, TurnState
from stet.review.feedback import ModelKnowledge
from stet.review.proposal import Hunk
from stet.review.shown_documents import ShownDocuments
from stet.tools.taint import TaintTracker
from stet.web.known_addresses import KnownAddresses

MAX_FILES = 100
"""How many of the files shown in a chat are watched for changes."""

MAX_TURNS = 100
"""How many turns a chat remembers: as many as any setting can ask for."""
MAX_WORDS = 1000
"""How many of the user's questions: those of as many turns as are kept."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a turn began with.

    Attributes:
        text: What stands before the question, for the model and in the history.
        heard: What the model knows by that.
        shown: What it is shown while the turn runs.
        prompt: What it sends; None where it sends no history.
        n_known: How many of the history's last turns the prompt began with, or stands for.
        active: The name of the active file; "" for none.
        guard: The rules of privacy that hold for it.
        is_refused: Whether the model has refused it as too long, however it was shortened.
    """

    text: str
    heard: ModelKnowledge
    shown: ShownDocuments
    prompt: Prompt | None = None
    n_known: int = 0
    active: str = ""
    guard: str = ""
    is_refused: bool = False

    def heard_at_its_end(self) -> ModelKnowledge:
        """What the model knows once the turn is over; of many files those it was shown last."""
        shown = {key: one for key, one in self.heard.shown.items() if key not in self.shown}
        # Of a very long text nobody could say in time what has changed in it since.
        now = [(key, one) for key, one in self.shown.items() if not one.is_large]
        known = [*shown.items(), *now]
        return replace(self.heard, shown=dict(known[-MAX_FILES:]))


@dataclass(slots=True)
class Session:
    """One chat, owned by the agent and touched on the event loop only.

    Attributes:
        chat: Its id.
        history: Earlier turns, oldest first; their messages stay as they were sent, so that a
            provider's cache of the prefix holds, until there is no room for them.
        queue: Ids of turns that wait.
        running: The id of the turn that runs, if one does.
        heard: What the model knows of its proposals and of files, by what stands in the history.
        opening: What the turn that runs began with, until it is over.
        words: What the user has said, and nothing else, oldest first: who names a host in it may be
            read from. The history also holds what others wrote.
        others: What others have written and its model was shown.
        named: Hosts that a search has named or the user has allowed.
        keeping: Held while what it knows is written, so that nothing older is written last.
    """

    chat: str
    history: list[Exchange] = field(default_factory=list)
    queue: deque[str] = field(default_factory=deque)
    running: str | None = None
    heard: ModelKnowledge = field(default_factory=ModelKnowledge)
    opening: Opening | None = None
    words: list[str] = field(default_factory=list)
    others: TaintTracker = field(default_factory=TaintTracker)
    named: KnownAddresses = field(default_factory=KnownAddresses)
    keeping: asyncio.Lock = field(default_factory=asyncio.Lock, compare=False, repr=False)

    @property
    def active(self) -> str:
        """The active file of the latest turn; "" for none."""
        record = self.history[-1].record if self.history else None
        return record.active if record else ""

    def heed(self, words: str) -> None:
        """Note what the user has said; of very much the latest."""
        self.words.append(words)
        del self.words[:-MAX_WORDS]

    def remember(self, turn: Turn, hunks: tuple[Hunk, ...]) -> None:
        """Keep the turn for those to come.

        Of one that was cancelled before the model had answered once, and of one that the model has
        refused as too long, only the question and what became of it: what it was told will be told
        again, and what did not fit once would not fit the next time.
        """
        opening, self.opening = self.opening, None
        active = opening.active if opening is not None else ""
        question = turn.ask.prompt
        is_refused = opening is not None and opening.is_refused
        if is_refused or (turn.state is TurnState.CANCELLED and not turn.rounds):
            # It may have been cancelled because it would have sent too much.
            opening, question = None, question[:MAX_SAID]
        if opening is not None:
            question = opening.text + question
            self.heard = opening.heard_at_its_end()
        record = Record.of(turn, hunks, active, self.active)
        if opening is None or opening.prompt is None:
            said = turn.answer or turn.summary
            self.history.append(Exchange.in_short(question, said.strip(), record, 2))
            del self.history[:-MAX_TURNS]
            return
        prompt = opening.prompt
        # What an earlier run has kept may have come in front meanwhile.
        first = len(self.history) - opening.n_known
        self.history[first:] = prompt.history
        ended = Exchange.closed(prompt.own, question, turn, record)
        self.history.append(replace(ended, guard=opening.guard))
        del self.history[:-MAX_TURNS]
