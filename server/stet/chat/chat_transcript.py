"""The text of one turn in a chat document; the text only grows.

The text of a running turn grows with each event, so that the document can follow; the text of an
earlier turn is created at once from the stored turn. All text comes from a model, a file or the
web, and its markup is escaped (`stet.chat.chat_layout.escape_markdown`).
"""

import re
from collections import deque
from collections.abc import Callable, Sequence
from urllib.parse import quote

from stet.agent.turn import FINAL_STATES, Mode, Turn, TurnState, describe_failures, time_of
from stet.chat.answer_markdown import AnswerMarkdown, answer_markdown
from stet.chat.chat_layout import escape_markdown
from stet.llm.model import display_name
from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.text.escape import escape_line
from stet.text.render import counted
from stet.tools.editor_actions import Question
from stet.tools.tool_state import ToolKind, ToolRun, ToolState

FileName = Callable[[str], str]
"""A function that returns the name of a file, relative to its root, by its URI or by the name that
a model wrote.
"""

_MARKUP = re.compile(r"[\\`*\[\]<>]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
"""Characters that may be markup; an underscore within a word is not."""
_DELETING = "delete_file"
MAX_ERROR = 300
"""The maximum number of characters shown of a tool's error."""


class ChatTranscript:
    """The text of a turn so far."""

    def __init__(self, file_name: FileName) -> None:
        """Create an empty transcript."""
        self._file_name = file_name
        self._pieces: list[str] = []
        self._n_characters = 0
        self._speech = ""
        self._markdown = AnswerMarkdown()
        self._is_speaking = False
        self._has_spoken = False
        self._is_list = False
        self.is_over = False

    @property
    def text(self) -> str:
        """The text so far; later text is only appended, except for blank space at the end."""
        return "".join(self._pieces)

    def text_after(self, n: int) -> str:
        """Return the text that can be shown after the first `n` characters.

        Trailing blank space is held until the next text. The cost depends on the length of the
        result, not on the length of the whole text.
        """
        pieces: list[str] = []
        start = self._n_characters
        for piece in reversed(self._pieces):
            if start <= n:
                break
            start -= len(piece)
            pieces.append(piece)
        return "".join(reversed(pieces))[max(n - start, 0) :].rstrip()

    def frozen(self) -> "ChatTranscript":
        """Return a copy of the current state for a worker thread."""
        copied = ChatTranscript(self._file_name)
        copied._pieces = self._pieces.copy()
        copied._n_characters = self._n_characters
        copied.is_over = self.is_over
        return copied

    def add_text(self, piece: str) -> None:
        """Add a piece of the model's text."""
        self._speech += piece
        self._show_pending(self._markdown.stable_length(self._speech))

    def finish_message(self) -> None:
        """Complete the model's current message."""
        if self._is_speaking or self._speech.strip():
            self._has_spoken = True
            self._show_pending(len(self._speech))
            while self._pieces and not (last := self._pieces[-1].rstrip()):
                self._n_characters -= len(self._pieces.pop())
            if self._pieces:
                self._n_characters -= len(self._pieces[-1]) - len(last)
                self._pieces[-1] = last
            if fence := self._markdown.closing_fence:
                self._add(f"\n{fence}")
        self._speech = ""
        self._markdown = AnswerMarkdown()
        self._is_speaking = False

    def _show_pending(self, n: int) -> None:
        """Show the first `n` characters of the text that is held back, unless all are blank."""
        text, rest = self._speech[:n], self._speech[n:]
        if not text or not (self._is_speaking or text.strip()):
            return
        if not self._is_speaking:
            self._paragraph("")
            self._is_speaking = True
        self._add(self._markdown.convert(text))
        self._speech = rest

    def add_tool(self, run: ToolRun) -> None:
        """Add a tool that has ended; the end and questions have separate entries."""
        self.finish_message()
        if run.course is ToolKind.CONTROL and run.state is not ToolState.ERROR:
            return
        line = f"- {run.tool if run.tool.isidentifier() else _plain(run.tool)}"
        if run.file:
            line += f" {_plain(self._file_name(run.file))}"
        if problem := _problem(run):
            line += f": {problem}"
        self._add(f"{self._gap()}{line}" if not self._is_list else f"\n{line}")
        self._is_list = True

    def add_question(self, question: Question) -> None:
        """Add a question for which the turn waits."""
        self.finish_message()
        self._paragraph(f"**{escape_markdown(question.text).strip()}**")
        choices = [f"{n}. {_plain(choice)}" for n, choice in enumerate(question.choices, 1)]
        if choices:
            self._paragraph("\n".join(choices))

    def add_steering(self, words: str) -> None:
        """Add steering by the user that the model has now been shown."""
        self.finish_message()
        self._paragraph("\n> ".join(f"> **You:** {escape_markdown(words).strip()}".split("\n")))

    def add_note(self, sentence: str) -> None:
        """Add a note that the user should read."""
        self.finish_message()
        self._paragraph(f"*{_plain(sentence)}*")

    def end(self, turn: Turn, hunks: Sequence[Hunk]) -> None:
        """Complete the transcript of a turn that is over; `hunks` are the hunks that it
        proposed.
        """
        self.finish_message()
        if not self._has_spoken and turn.answer.strip():
            self._paragraph(answer_markdown(turn.answer))
        self._paragraph(ending(turn, hunks, self._file_name))
        self.is_over = True

    def _gap(self) -> str:
        return "\n\n" if self._pieces else ""

    def _paragraph(self, text: str) -> None:
        self._add(f"{self._gap()}{text}")
        self._is_list = False

    def _add(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self._n_characters += len(text)


def transcript_of(turn: Turn, hunks: Sequence[Hunk], file_name: FileName) -> ChatTranscript:
    """Return the transcript of a turn that was not followed, or of a running turn so far."""
    transcript = ChatTranscript(file_name)
    _replay(turn, transcript)
    if turn.question is not None:
        transcript.add_question(turn.question)
    if turn.state in FINAL_STATES:
        transcript.end(turn, hunks)
    return transcript


def _replay(turn: Turn, transcript: ChatTranscript) -> None:
    """Add the calls, the steering and the answer of a turn, in the order in which they came."""
    calls, steering, start = deque(turn.tool_calls), deque(turn.steering), 0
    text = "" if turn.ask.mode is Mode.REWRITE else turn.answer
    for one in turn.utterances:
        while calls and calls[0].answer_length <= start:
            transcript.add_tool(calls.popleft())
        if one.role == "assistant":
            transcript.add_text(text[start : one.n].strip())
            transcript.finish_message()
            start = one.n
        elif steering:
            transcript.add_steering(steering.popleft())
    while calls and calls[0].answer_length <= start:
        transcript.add_tool(calls.popleft())
    for words in steering:
        transcript.add_steering(words)
    transcript.add_text(text[start:])
    transcript.finish_message()
    for run in calls:
        transcript.add_tool(run)


def ending(turn: Turn, hunks: Sequence[Hunk], file_name: FileName) -> str:
    """Return the text at the end of a turn; the last line says how it ended and what it used."""
    blocks = []
    if turn.state is TurnState.COMPLETED and turn.summary.strip() not in turn.answer:
        blocks.append(answer_markdown(turn.summary))
    if turn.state is not TurnState.COMPLETED and turn.error:
        blocks.append(f"**{_STATES[turn.state]}.** {escape_markdown(turn.error).strip()}")
    lists = (
        [f"- {_plain(note)}" for note in turn.notes],
        [
            f"- refused: {_plain(file_name(e.file))}: {_plain(e.message)}"
            for e in turn.rejected
            if not any(_plain(e.message) in _problem(run) for run in turn.tool_calls)
        ],
        [f"- {_plain(transcript)}"]
        if (transcript := describe_failures(turn, has_proposed=bool(hunks)))
        else [],
    )
    blocks += ["\n".join(entries) for entries in lists if entries]
    blocks += _proposed(hunks, file_name)
    if turn.sources:
        listed = (f"- {_linked(hunk.title or hunk.url, hunk.url)}" for hunk in turn.sources)
        blocks.append("Sources:\n\n" + "\n".join(listed))
    blocks += _times(turn)
    return "\n\n".join([*blocks, f"*{_figures(turn)}*"])


_STATES = {
    TurnState.FAILED: "Failed",
    TurnState.LIMITED: "Limit reached",
    TurnState.CANCELLED: "Cancelled",
}


def _times(turn: Turn) -> list[str]:
    """Return the times of a turn's messages, in a line; empty for a turn stored without times."""
    if not turn.ended_at:
        return []
    first, *others = turn.messages
    more = (f"{_WHO[message.role]} {time_of(message.at)}" for message in others if message.at)
    lines = [f"asked {time_of(first.at)}", *more, f"ended {time_of(turn.ended_at)}"]
    return [f"*{' · '.join(lines)}*"]


_WHO = {"user": "you said more", "assistant": "answered"}


def _figures(turn: Turn) -> str:
    """Return the last line: how the turn ended and what it used."""
    usage = turn.usage
    parts = [str(turn.state)]
    if usage.total:
        about = "about " if usage.estimated else ""
        cached = f", {usage.cached:,} of them cached" if usage.cached else ""
        parts.append(f"{about}{usage.prompt:,} tokens in{cached}, {usage.completion:,} out")
    if turn.cost is not None:
        parts.append(f"cost {turn.cost:.4f}")
    if turn.model:
        parts.append(_plain(display_name(turn.model)))
    return " · ".join(parts)


def _problem(run: ToolRun) -> str:
    """Return the text to show about a tool's failure, or an empty string if the tool succeeded."""
    if run.state is ToolState.CANCELED:
        # The stored reason is an instruction for the model.
        return "kept" if run.tool == _DELETING else "not run"
    return _plain(run.error)[:MAX_ERROR] if run.state is ToolState.ERROR else ""


def _proposed(hunks: Sequence[Hunk], file_name: FileName) -> list[str]:
    """Return lines about the deletions that the user was asked about and about the hunks to
    review.
    """
    lines = []
    deletions = {HunkState.ACCEPTED: "Deleted", HunkState.UNDONE: "Deleted and restored"}
    for state, what in deletions.items():
        gone = [hunk for hunk in hunks if hunk.kind is HunkKind.REMOVE and hunk.state is state]
        if gone:
            back = "; undo with `stet.undo`" if state is HunkState.ACCEPTED else ""
            lines.append(f"{what}: {_files(gone, file_name)}{back}")
            hunks = [hunk for hunk in hunks if hunk not in gone]
    if hunks:
        lines.append(f"Proposed: {counted(len(hunks), 'hunk')} in {_files(hunks, file_name)}")
    return lines


def _files(hunks: Sequence[Hunk], file_name: FileName) -> str:
    uris = dict.fromkeys(hunk.new_uri or hunk.uri for hunk in hunks)
    return ", ".join(_plain(file_name(uri)) for uri in uris)


def _plain(text: str) -> str:
    """Return untrusted text on one line, with its markup escaped."""
    line = escape_markdown(escape_line(text)).strip()
    return _MARKUP.sub(r"\\\g<0>", line)


def _linked(label: str, uri: str) -> str:
    """Return a link whose target is quoted, so that no character in it ends the link."""
    return f"[{_plain(label)}]({quote(uri, safe=':/?#@!$&*+,;=%~-._')})"
