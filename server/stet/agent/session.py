"""A conversation: what was said in it, and the turns waiting their turn."""

from collections import deque
from dataclasses import dataclass, field, replace

from stet.agent.turn import Turn, TurnState
from stet.llm.messages import Message
from stet.review.proposal import Hunk
from stet.review.shown import Shown
from stet.review.verdicts import Heard

MAX_FILES = 100
"""How many of the files shown in a chat are watched for changes."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a turn began with.

    Attributes:
        text: What stands before the question, for the model and in the history.
        heard: What the model knows by that.
        shown: What it is shown while the turn runs.
    """

    text: str
    heard: Heard
    shown: Shown

    def heard_at_its_end(self) -> Heard:
        """What the model knows once the turn is over; of many files those it was shown last."""
        shown = {key: one for key, one in self.heard.shown.items() if key not in self.shown}
        known = [*shown.items(), *self.shown.items()]
        return replace(self.heard, shown=dict(known[-MAX_FILES:]))


@dataclass(slots=True)
class Session:
    """One chat, owned by the agent and touched on the event loop only.

    Attributes:
        chat: Its id.
        history: What earlier turns said, oldest first; only ever appended to, so that a provider's
            cache of the prefix holds.
        queue: Ids of turns that wait.
        running: The id of the turn that runs, if one does.
        heard: What the model knows of its proposals and of files, by what stands in the history.
        opening: What the turn that runs began with, until it is over.
    """

    chat: str
    history: list[Message] = field(default_factory=list)
    queue: deque[str] = field(default_factory=deque)
    running: str | None = None
    heard: Heard = field(default_factory=Heard)
    opening: Opening | None = None

    def remember(self, turn: Turn, hunks: tuple[Hunk, ...]) -> None:
        """Keep the turn's question and outcome for the turns to come.

        Of a turn that was cancelled nothing is kept: what it was told will be told again.
        """
        opening, self.opening = self.opening, None
        if turn.state is TurnState.CANCELLED:
            return
        told = ""
        if opening is not None:
            told = opening.text
            self.heard = opening.heard_at_its_end()
        said = turn.answer or turn.summary
        if hunks:
            files = sorted({hunk.uri for hunk in hunks})
            listed = "; ".join(f"{hunk.id} {hunk.summary}" for hunk in hunks)
            said += f"\n\n(Proposed hunks: {len(hunks)}, files: {len(files)}: {listed})"
        self.history.append(Message("user", told + turn.ask.prompt))
        # Some providers refuse an empty answer for ever after.
        self.history.append(Message("assistant", said.strip() or "(No answer.)"))

    def recent(self, length: int) -> tuple[Message, ...]:
        """At most `length` messages, the latest, beginning with one of the user's."""
        kept = self.history[-length:] if length else []
        while kept and kept[0].role != "user":
            kept = kept[1:]
        return tuple(kept)
