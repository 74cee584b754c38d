"""What chat documents are to say of each turn: told event by event while it runs, else from what is kept."""

from stet.agent.agent_events import (
    AgentEvent,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    RoundCompleted,
    SteeringApplied,
    TextDelta,
    ToolEnded,
    TurnEnded,
)
from stet.agent.turn import FINAL_STATES, Turn
from stet.lsp.chat.page import Entry
from stet.lsp.chat.transcript import Transcript, ending, transcript_of
from stet.review.ledger import ReviewLedger
from stet.workspace.paths import PathRefused
from stet.workspace.workspace import Workspace


class Telling:
    """The transcripts of one server's turns. Touched on the event loop only."""

    def __init__(self, workspace: Workspace, ledger: ReviewLedger) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._told: dict[str, Transcript] = {}
        self._said_here: dict[str, list[str]] = {}

    def said_here(self, turn_id: str, words: str) -> None:
        """The user has said something to a turn in its chat's document, where it stands already."""
        self._said_here.setdefault(turn_id, []).append(words)

    def tell(self, event: AgentEvent) -> None:
        """A turn has gone on."""
        turn = event.turn
        told = self._told.setdefault(turn.id, Transcript(self._link))
        match event:
            case TextDelta(text=text):
                told.say(text)
            case RoundCompleted():
                told.pause()
            case ToolEnded(run=run):
                told.tool(run)
            case RetryScheduled(reason=reason):
                told.note(f"Begun again: {reason}")
            case TurnEnded():
                told.end(turn, self._ledger.hunks(turn=turn.id))
            case _:
                self._tell_of_user(event, told)

    def _tell_of_user(self, event: AgentEvent, told: Transcript) -> None:
        """Tell what the user is asked, and says."""
        turn = event.turn
        match event:
            case QuestionAsked() if turn.question is not None:
                told.ask(turn.question)
            case QuestionAnswered(answer=text):
                told.note(f"Your answer: {text}")
            case SteeringApplied(text=text) if text in self._said_here.get(turn.id, ()):
                self._said_here[turn.id].remove(text)
            case SteeringApplied(text=text):
                told.hear(text)
            case _:
                pass

    def forget(self, turn_id: str) -> None:
        """A turn is over: from now on it is told from what is kept."""
        self._told.pop(turn_id, None)
        self._said_here.pop(turn_id, None)

    def entry(self, turn: Turn) -> Entry:
        """A turn as it is to stand in a document."""
        hunks = self._ledger.hunks(turn=turn.id)
        told = self._told.get(turn.id) or transcript_of(turn, hunks, self._link)
        return Entry(turn.id, turn.ask.prompt, told, self.ending(turn))

    def ending(self, turn: Turn) -> str:
        """What stands at the end of a turn that is over."""
        if turn.state not in FINAL_STATES:
            return ""
        return ending(turn, self._ledger.hunks(turn=turn.id), self._link)

    def _link(self, name: str) -> str | None:
        try:
            return self._workspace.snapshot().locate(name).uri
        except PathRefused:
            return None
