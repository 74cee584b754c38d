"""One chat document: the text that is still to be written into it, and the place of the text.

`TranscriptBuilder` collects the text that the document shows of each turn. `ChatDocument` counts
the text that has arrived for each turn, so the user's typing, moving and deleting change nothing:
the next piece is inserted at the end of the current text under the turn's heading.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

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
from stet.chat.chat_layout import (
    ChatHeading,
    ChatSections,
    Insertion,
    after_draft,
    before_draft,
    continue_answer,
    has_ended,
)
from stet.chat.chat_status import (
    find_status,
    insert_status,
    remove_status,
    status_line,
    without_status,
)
from stet.chat.chat_transcript import ChatTranscript, ending, transcript_of
from stet.review.ledger import ReviewLedger
from stet.text.buffer import TextBuffer
from stet.text.edit import TextChange
from stet.workspace.paths import PathRefused
from stet.workspace.workspace import Workspace

MAX_ADDED_BLANKS = 10_000
"""An answer in a document is compared up to twice its text's length plus so many characters."""


@dataclass(slots=True)
class ChatTurn:
    """A turn in the document.

    Attributes:
        turn: The id of the turn.
        prompt: The question.
        transcript: The text to write into the document.
        ending: The last lines of a turn that is over.
        n_written: The number of code points of the transcript that have arrived.
        is_placed: Whether the turn's heading has been written.
        status: What the turn does now, while its text has not grown for a moment; else empty.
        status_line: The status line that the document has; empty if it has none.
    """

    turn: str
    prompt: str
    transcript: ChatTranscript
    ending: str = ""
    n_written: int = 0
    is_placed: bool = False
    status: str = ""
    status_line: str = ""

    @property
    def is_done(self) -> bool:
        """Whether the turn is over and wholly written."""
        return self.transcript.is_over and self.is_placed and not self.rest

    def removal(self, document: ChatSections) -> "PendingInsertion | None":
        """Return the removal of the status line; None if the user has changed or removed it."""
        turn, line = self.turn, self.status_line
        removal = remove_status(document, turn, line)
        if removal is None:
            self.status_line = ""
            return None
        return PendingInsertion(
            removal,
            lambda: self._show_status(""),
            lambda now: find_status(now, turn, line) is None,
        )

    def status_step(self, document: ChatSections) -> "PendingInsertion | None":
        """Return the insertion of the status line; None if it is not wanted or there already."""
        turn, line = self.turn, status_line(self.status)
        if not self.status or self.status_line or self.transcript.is_over:
            return None
        insertion = insert_status(document, turn, line)
        if insertion is None:
            return None
        return PendingInsertion(
            insertion,
            lambda: self._show_status(line),
            lambda now: find_status(now, turn, line) is not None,
            self.clear_status,
        )

    def clear_status(self) -> None:
        """Show no status until the text has not grown again for a moment."""
        self.status = ""

    def _show_status(self, line: str) -> None:
        self.status_line = line

    @property
    def rest(self) -> str:
        """The text that has not arrived yet; blank space waits for the text after it."""
        return self.transcript.text_after(self.n_written)


@dataclass(frozen=True, slots=True)
class PendingInsertion:
    """The next insertion into the document.

    Attributes:
        insertion: The place and the text.
        done: A function to be called when the text has arrived.
        has_come: A function that returns whether a document has the change of a status line; None
            for other text, which is looked for in the changes of the document.
        give_up: A function to be called if the editor refuses a change that may be left out; None
            for other text, which is sent again.
    """

    insertion: Insertion
    done: Callable[[], None]
    has_come: Callable[[ChatSections], bool] | None = None
    give_up: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class ChatReading:
    """The content of a document that has to be known before text is written into the document.

    Attributes:
        headings: All headings.
        writing: The user's draft, without surrounding blank space.
        answers: By turn, all text under the turn's headings.
        ended: The turns whose whole text is in the document.
        statuses: By turn, the status line at the end of its text.
    """

    headings: tuple[ChatHeading, ...]
    writing: str
    answers: Mapping[str, str]
    ended: frozenset[str]
    statuses: Mapping[str, str]

    @classmethod
    def of(cls, document: ChatSections) -> "ChatReading":
        """Read a document; a long one in a worker thread."""
        answers: dict[str, list[str]] = {}
        ended, statuses = set(), {}
        for part in document.parts():
            if part.turn:
                text, status = without_status(document.text_of(part))
                answers.setdefault(part.turn, []).append(text)
                if status:
                    statuses[part.turn] = status
                if has_ended(document.lines_of(part)):
                    ended.add(part.turn)
        now = document.draft()
        return cls(
            tuple(document.headings),
            document.text_of(now) if now else "",
            {turn: "\n\n".join(filter(None, texts)) for turn, texts in answers.items()},
            frozenset(ended),
            statuses,
        )


class ChatDocument:
    """The state of writing one document.

    Attributes:
        chat: The id of the conversation.
        is_refused: Whether the editor has refused the last edit; until the user's next action.
        file: The name of the document in the state folder.
        uri: The URI of the document.
        entries: The turns that are not wholly written, by id, oldest first.
    """

    def __init__(self, chat: str, file: str, uri: str) -> None:
        self.chat = chat
        self.file = file
        self.uri = uri
        self.is_refused = False
        self.entries: dict[str, ChatTurn] = {}
        self._sent: deque[tuple[str, str]] = deque()

    def sent(self, turn: str, text: str) -> None:
        """Record that the user has sent `text` from the document and that `turn` answers."""
        self._sent.append((turn, text))
        self.entries[turn].is_placed = True

    def unsent(self, writing: str) -> str:
        """Return the user's words that have not been sent yet.

        `writing` is all the text under the user's last heading. The heading after the sent text may
        still be in flight.
        """
        for _, text in self._sent if not self.is_refused else ():
            if text and writing.startswith(text):
                writing = writing[len(text) :].lstrip()
        return writing

    def add(self, entry: ChatTurn) -> None:
        """Add a turn that is to be written."""
        self.entries[entry.turn] = entry

    def sort(self, turns: Iterable[str]) -> None:
        """Put the turns that are to be written into the order of `turns`, which has all of them."""
        self.entries = {turn: self.entries[turn] for turn in turns if turn in self.entries}

    def adopt(self, reading: "ChatReading", written: Mapping[str, int] | None = None) -> None:
        """Find the part of each turn that the document's current text contains, from any source.

        Args:
            reading: The text.
            written: By turn, how many characters (code points) of its transcript have been written
                since `n_written` was counted.
        """
        writing = reading.writing
        self._sent = self._unconfirmed_messages(writing)
        for entry in self.entries.values():
            answer = reading.answers.get(entry.turn)
            entry.is_placed = answer is not None
            entry.status_line = reading.statuses.get(entry.turn, "")
            if answer is None:
                entry.n_written = 0
            else:
                has_ended = entry.turn in reading.ended
                entry.n_written = max(entry.n_written, (written or {}).get(entry.turn, 0))
                entry.n_written = _n_written(entry, answer, has_ended=has_ended)
            if not entry.is_placed and entry.prompt.strip() == writing != "" and not self._sent:
                # The prompt was sent from this document, which was closed before the heading came.
                self._sent.append((entry.turn, writing))
            entry.is_placed |= any(turn == entry.turn for turn, _ in self._sent)
        self.drop_finished()

    def drop_finished(self) -> None:
        """Discard the turns whose whole text is in the document."""
        for turn in [entry.turn for entry in self.entries.values() if entry.is_done]:
            del self.entries[turn]

    def next_insertion(self, document: ChatSections) -> PendingInsertion | None:
        """Return the next insertion into the current document, or None if nothing is missing."""
        return self._removal(document) or self._text_step(document) or self._status_step(document)

    def _text_step(self, document: ChatSections) -> PendingInsertion | None:
        """Return the insertion of the next text, or None if none is missing."""
        if self._sent:
            turn, text = self._sent[0]
            return PendingInsertion(
                after_draft(document, text, turn), lambda: self._confirm_sent(turn)
            )
        for entry in self.entries.values():
            if not entry.is_placed:
                insertion = before_draft(document, entry.prompt, entry.turn)
                return PendingInsertion(insertion, lambda entry=entry: self._confirm_placed(entry))  # type: ignore[misc]
            if rest := entry.rest:
                part = document.answer(entry.turn)
                if part is None:
                    # The user has deleted the heading while the turn is under way.
                    insertion = before_draft(document, entry.prompt, entry.turn)
                    return PendingInsertion(insertion, lambda: None)
                n = entry.n_written + len(rest)
                # The user may have written below the heading before the answer began.
                gap = "" if entry.n_written or part.is_empty else "\n\n"
                return PendingInsertion(
                    continue_answer(document, part, gap + rest),
                    lambda entry=entry, n=n: self._confirm_written(entry, n),  # type: ignore[misc]
                )
        return None

    def _removal(self, document: ChatSections) -> PendingInsertion | None:
        """Return the removal of a status line that is obsolete or must not stand within the
        text.
        """
        for entry in self.entries.values():
            is_stale = entry.status_line != status_line(entry.status)
            if entry.status_line and (is_stale or self._sent or entry.rest):
                step = entry.removal(document)
                if step is not None:
                    return step
        return None

    def _status_step(self, document: ChatSections) -> PendingInsertion | None:
        """Return the insertion of a status line, or None if none is missing."""
        steps = (entry.status_step(document) for entry in self.entries.values())
        return next(filter(None, steps), None)

    def frozen(self) -> "ChatDocument":
        """Return a copy of the present state, for a worker thread that calls `fill`."""
        scratch = ChatDocument(self.chat, self.file, self.uri)
        scratch.entries = {
            turn: replace(entry, transcript=entry.transcript.frozen(), status="")
            for turn, entry in self.entries.items()
        }
        scratch._sent = self._sent.copy()
        return scratch

    def fill(self, text: str) -> str:
        """Return `text`, the present document, with everything that is still to be written."""
        buffer = TextBuffer(text)
        document = ChatSections(buffer.lines)
        self.adopt(ChatReading.of(document))
        while step := self.next_insertion(document):
            change = TextChange(step.insertion.range, step.insertion.text)
            document.apply_changes([buffer.apply(change)])
            step.done()
        return buffer.text

    def written(self) -> Mapping[str, int]:
        """Return by turn how many characters (code points) of its transcript have been written."""
        return {turn: entry.n_written for turn, entry in self.entries.items()}

    def _unconfirmed_messages(self, writing: str) -> deque[tuple[str, str]]:
        """Return the sent messages that have no heading after them yet."""
        remaining: deque[tuple[str, str]] = deque()
        rest = writing
        for turn, text in self._sent:
            if text and (rest.startswith(text) or writing.startswith(text)):
                remaining.append((turn, text))
                rest = rest.removeprefix(text).lstrip()
        return remaining

    def _confirm_sent(self, turn: str) -> None:
        if self._sent and self._sent[0][0] == turn:
            self._sent.popleft()

    def _confirm_placed(self, entry: ChatTurn) -> None:
        entry.is_placed = True

    def _confirm_written(self, entry: ChatTurn, n: int) -> None:
        entry.n_written = max(entry.n_written, n)
        entry.clear_status()
        self.drop_finished()


def _n_written(entry: ChatTurn, present_text: str, *, has_ended: bool) -> int:
    """Return how many code points of a turn's transcript are in a document.

    The document may have been saved half-way, or the user may have edited it.
    """
    expected = entry.transcript.text.rstrip()
    if has_ended:
        return len(expected)
    if expected.startswith(present_text):
        return len(present_text)
    if expected and expected in present_text:
        return len(expected)
    # The end of a much longer text does not matter: it is not compared.
    there = "".join(present_text[: 2 * len(expected) + MAX_ADDED_BLANKS].split())
    n, left = 0, len(there)
    if "".join(expected.split()).startswith(there):
        while left:
            left -= not expected[n].isspace()
            n += 1
        return n
    if "".join(expected.split()) in there:
        return len(expected)
    # The user has edited the text: only the ending is certainly missing.
    return len(expected.removesuffix(entry.ending).rstrip()) if entry.ending else entry.n_written


class TranscriptBuilder:
    """The transcripts of one server's turns; used on the event loop only."""

    def __init__(self, workspace: Workspace, ledger: ReviewLedger) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._transcripts: dict[str, ChatTranscript] = {}
        self._shown_steering: dict[str, list[str]] = {}

    def skip_steering(self, turn_id: str, words: str) -> None:
        """Leave out steering that the user has written in the chat document itself."""
        self._shown_steering.setdefault(turn_id, []).append(words)

    def handle_event(self, event: AgentEvent) -> None:
        """Update the transcript of a turn after an event."""
        turn = event.turn
        transcript = self._transcripts.setdefault(turn.id, ChatTranscript(self._file_name))
        match event:
            case TextDelta(text=text):
                transcript.add_text(text)
            case RoundCompleted():
                transcript.finish_message()
            case ToolEnded(run=run):
                transcript.add_tool(run)
            case RetryScheduled(reason=reason):
                transcript.add_note(reason)
            case TurnEnded():
                transcript.end(turn, self._ledger.hunks(turn=turn.id))
            case _:
                self._add_user_event(event, transcript)

    def _add_user_event(self, event: AgentEvent, transcript: ChatTranscript) -> None:
        """Add a question to the user, or a message of the user."""
        turn = event.turn
        match event:
            case QuestionAsked() if turn.question is not None:
                transcript.add_question(turn.question)
            case QuestionAnswered(answer=text):
                transcript.add_note(f"Your answer: {text}")
            case SteeringApplied(text=text) if text in self._shown_steering.get(turn.id, ()):
                self._shown_steering[turn.id].remove(text)
            case SteeringApplied(text=text):
                transcript.add_steering(text)
            case _:
                pass

    def forget(self, turn_id: str) -> None:
        """Discard the transcript of a turn that is over; a later one is created from the turn."""
        self._transcripts.pop(turn_id, None)
        self._shown_steering.pop(turn_id, None)

    def create_turn(self, turn: Turn) -> ChatTurn:
        """Return a turn in the form in which it is written into a document."""
        hunks = self._ledger.hunks(turn=turn.id)
        transcript = self._transcripts.get(turn.id) or transcript_of(turn, hunks, self._file_name)
        if turn.state not in FINAL_STATES:  # a turn that waits has no event yet
            self._transcripts[turn.id] = transcript
        return ChatTurn(turn.id, turn.ask.prompt, transcript, self.ending(turn))

    def ending(self, turn: Turn) -> str:
        """Return the text at the end of a turn that is over, or an empty string if the turn still
        runs.
        """
        if turn.state not in FINAL_STATES:
            return ""
        return ending(turn, self._ledger.hunks(turn=turn.id), self._file_name)

    def _file_name(self, name: str) -> str:
        snapshot = self._workspace.snapshot()
        try:
            return snapshot.name_of(name if "://" in name else snapshot.locate(name).uri)
        except PathRefused:
            return name
