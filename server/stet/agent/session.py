"""A conversation: what was said in it, and the turns waiting their turn."""

from collections import deque
from dataclasses import dataclass, field

from stet.agent.turn import Turn, TurnState
from stet.llm.messages import Message
from stet.review.proposal import Hunk


@dataclass(slots=True)
class Session:
    """One chat, owned by the agent and touched on the event loop only.

    Attributes:
        chat: Its id.
        history: What earlier turns said, oldest first; only ever appended to, so that a provider's
            cache of the prefix holds.
        queue: Ids of turns that wait.
        running: The id of the turn that runs, if one does.
    """

    chat: str
    history: list[Message] = field(default_factory=list)
    queue: deque[str] = field(default_factory=deque)
    running: str | None = None

    def remember(self, turn: Turn, hunks: tuple[Hunk, ...]) -> None:
        """Keep the turn's question and outcome for the turns to come."""
        if turn.state is TurnState.CANCELLED:
            return
        said = turn.answer or turn.summary
        if hunks:
            files = sorted({hunk.uri for hunk in hunks})
            told = "; ".join(f"{hunk.id} {hunk.summary}" for hunk in hunks)
            said += f"\n\n(Proposed {len(hunks)} hunks in {len(files)} files: {told})"
        self.history.append(Message("user", turn.ask.prompt))
        # Some providers refuse an empty answer for ever after.
        self.history.append(Message("assistant", said.strip() or "(No answer.)"))

    def recent(self, length: int) -> tuple[Message, ...]:
        """At most `length` messages, the latest, beginning with one of the user's."""
        kept = self.history[-length:] if length else []
        while kept and kept[0].role != "user":
            kept = kept[1:]
        return tuple(kept)
