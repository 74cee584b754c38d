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
from stet.chat.chat_document import ChatTurn
from stet.chat.chat_transcript import ChatTranscript, ending, transcript_of
from stet.review.ledger import ReviewLedger
from stet.workspace.paths import PathRefused
from stet.workspace.workspace import Workspace


class TranscriptBuilder:
    """The transcripts of one server's turns. Touched on the event loop only."""

    def __init__(self, workspace: Workspace, ledger: ReviewLedger) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._transcripts: dict[str, ChatTranscript] = {}
        self._said_here: dict[str, list[str]] = {}

    def skip_steering(self, turn_id: str, words: str) -> None:
        """Skip words that the user has said to a turn in its chat's document, where the words
        already are.
        """
        self._said_here.setdefault(turn_id, []).append(words)

    def handle_event(self, event: AgentEvent) -> None:
        """Update the transcript of a turn after an event."""
        turn = event.turn
        transcript = self._transcripts.setdefault(turn.id, ChatTranscript(self._link))
        match event:
            case TextDelta(text=text):
                transcript.add_text(text)
            case RoundCompleted():
                transcript.finish_message()
            case ToolEnded(run=run):
                transcript.add_tool(run)
            case RetryScheduled(reason=reason):
                transcript.add_note(f"Begun again: {reason}")
            case TurnEnded():
                transcript.end(turn, self._ledger.hunks(turn=turn.id))
            case _:
                self._add_user_event(event, transcript)

    def _add_user_event(self, event: AgentEvent, transcript: ChatTranscript) -> None:
        """Tell what the user is asked, and says."""
        turn = event.turn
        match event:
            case QuestionAsked() if turn.question is not None:
                transcript.add_question(turn.question)
            case QuestionAnswered(answer=text):
                transcript.add_note(f"Your answer: {text}")
            case SteeringApplied(text=text) if text in self._said_here.get(turn.id, ()):
                self._said_here[turn.id].remove(text)
            case SteeringApplied(text=text):
                transcript.add_steering(text)
            case _:
                pass

    def forget(self, turn_id: str) -> None:
        """Forget the transcript of a turn that is over. From now on the turn is shown from what is
        kept.
        """
        self._transcripts.pop(turn_id, None)
        self._said_here.pop(turn_id, None)

    def create_turn(self, turn: Turn) -> ChatTurn:
        """Return a turn in the form in which it is written into a document."""
        hunks = self._ledger.hunks(turn=turn.id)
        transcript = self._transcripts.get(turn.id) or transcript_of(turn, hunks, self._link)
        return ChatTurn(turn.id, turn.ask.prompt, transcript, self.ending(turn))

    def ending(self, turn: Turn) -> str:
        """Return the text at the end of a turn that is over, or an empty string if the turn still
        runs.
        """
        if turn.state not in FINAL_STATES:
            return ""
        return ending(turn, self._ledger.hunks(turn=turn.id), self._link)

    def _link(self, name: str) -> str | None:
        try:
            return self._workspace.snapshot().locate(name).uri
        except PathRefused:
            return None
