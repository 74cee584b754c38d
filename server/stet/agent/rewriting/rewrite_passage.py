"""The passage to rewrite, and the plan of the requests to the model."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import PurePosixPath

from stet.agent.turn import TurnFailed
from stet.llm.model import Message, Request
from stet.privacy.redactor import Redactor
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import dominant_line_end, line_ends, split_lines
from stet.text.position import Position, Range

_BY_SUFFIX = {
    ".py": "python", ".pyi": "python", ".js": "javascript", ".ts": "typescript", ".go": "go",
    ".rs": "rust", ".java": "java", ".c": "c", ".h": "c", ".cpp": "cpp", ".lua": "lua",
    ".sh": "shellscript", ".rb": "ruby", ".md": "markdown", ".txt": "plaintext", ".json": "json",
    ".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".tex": "latex", ".rst": "restructuredtext",
    ".html": "html", ".css": "css", ".xml": "xml", ".org": "org",
}  # fmt: skip
# Some editors send the name of their own file type or mode instead.
_ALIASES = {
    "sh": "shellscript", "bash": "shellscript", "zsh": "shellscript", "fish": "shellscript",
    "tex": "latex", "rst": "restructuredtext", "text": "plaintext", "mail": "plaintext",
    "gitcommit": "plaintext", "git-commit": "plaintext",
}  # fmt: skip
_BREAKS = ("\n", "\r")
_PROSE = frozenset({"markdown", "plaintext", "latex", "restructuredtext", "org", ""})


class RewriteForm(Enum):
    """How much of a rewrite a model can do at once."""

    FULL = "full"
    """The selection in the text around it, with examples."""
    FUNCTION = "function"
    """Whole lines of code, and nothing else."""
    TINY = "tiny"
    """The selection without the text around it."""


@dataclass(frozen=True, slots=True)
class RewritePassage:
    """The selected characters of a document, and the user's instruction.

    Attributes:
        name: The name of the file for the model.
        language: The language id, guessed from the name if the editor sent none.
        start, end: Offsets in the document, in code points.
        text: The selected characters.
        prompt: The user's instruction.
        line_end: The line end of the passage, or of the file if the passage has none.
        place: The selection: positions in code points.
        is_part_of_line: Whether the first or the last line is only partly selected.
        before, after: The text around the passage that is shown to the model.
    """

    name: str
    language: str
    start: int
    end: int
    text: str
    prompt: str
    line_end: str
    place: Range
    is_part_of_line: bool
    before: str = ""
    after: str = ""

    @classmethod
    def of(
        cls, document: TextDocument, name: str, selected: Range, prompt: str
    ) -> "RewritePassage":
        """Return the passage at `selected` in `document`, which the model knows as `name`."""
        language = document.language_id
        if language in ("", "plaintext"):  # the editor does not know the language
            language = _BY_SUFFIX.get(PurePosixPath(name).suffix.lower(), language)
        text, end = document.text_in(selected), document.offset_at(selected.end)
        goes_on = selected.end.character > 0 and document.text[end : end + 1] not in ("", *_BREAKS)
        return cls(
            name=name,
            language=_ALIASES.get(language, language),
            start=document.offset_at(selected.start),
            end=end,
            text=text,
            prompt=prompt,
            line_end=dominant_line_end(text if line_ends(text) else document.text),
            place=selected,
            is_part_of_line=selected.start.character > 0 or goes_on,
        )

    @property
    def first_line(self) -> int:
        """The first line of the passage, 1-based."""
        return self.place.start.line + 1

    @property
    def is_prose(self) -> bool:
        """Whether the passage is text for people, or text in an unknown language."""
        return self.language in _PROSE

    @property
    def lines(self) -> list[str]:
        """The lines with their ends; the last has none if its line end is not selected."""
        lines = split_lines(self.text)
        return lines[:-1] if lines[-1] == "" else lines

    def edit(self, text: str) -> TextEdit:
        """Return the edit that replaces the passage with `text`."""
        return TextEdit((Replacement(self.start, self.end, text),))


@dataclass(frozen=True, slots=True)
class RewritePlan:
    """The plan of a rewrite; all requests are known before the first is sent.

    Attributes:
        requests: The requests to the model, in order.
        finish: Returns the new text of the passage from the answers. Raises `TurnFailed` if the
            answers can't be used.
    """

    requests: tuple[Request, ...]
    finish: Callable[[Sequence[str]], str]


def example_messages(
    system: str, examples: Iterable[tuple[str, str]], question: str
) -> tuple[Message, ...]:
    """Return a conversation of a system prompt, questions with their answers, and a question."""
    messages = [Message("system", system)]
    for example, answer in examples:
        messages += (Message("user", example), Message("assistant", answer))
    return (*messages, Message("user", question))


MAX_LINES = 30
"""The most lines that are shown before a selection, and after it."""
MAX_CHARACTERS = 3000
"""The most characters that are shown before a selection, and after it."""
_MARGIN = 1000
"""Characters around the shown text that are searched for secrets which the cut would split."""


def passage_at(
    document: TextDocument, name: str, selected: Range, prompt: str, redactor: Redactor | None
) -> RewritePassage:
    """Return a passage of exactly the selected characters.

    Searching a long selection for secrets takes long: call this in a worker thread.

    Args:
        document: The text as the model may see it.
        name: The name of the file for the model.
        selected: Positions of `document` in code points.
        prompt: The user's instruction.
        redactor: Finds the secrets of `document`; None if the model may see secrets.

    Raises:
        TurnFailed: If a part of a secret would be shown.
    """
    passage = RewritePassage.of(document, name, selected, prompt)
    first, last = _window(document, passage)
    if redactor is not None:
        margin = max(0, first - _MARGIN)
        found = redactor.secret_spans(document.text[margin : last + _MARGIN])
        secrets = [(margin + begins, margin + ends) for begins, ends in found]
        _check_secrets(document.text, passage, secrets, redactor)
        first, last = _outside(secrets, first, last)
    before, after = document.text[first : passage.start], document.text[passage.end : last]
    return replace(passage, before=before, after=after)


def _window(document: TextDocument, passage: RewritePassage) -> tuple[int, int]:
    """Return the offsets between which the text is shown."""
    start, end, selected = passage.start, passage.end, passage.place
    top = document.offset_at(Position(max(0, selected.start.line - MAX_LINES), 0))
    bottom = document.offset_at(Position(selected.last_line + 1 + MAX_LINES, 0))
    if start - top > MAX_CHARACTERS:
        top = _next_line(document, start - MAX_CHARACTERS, start)
    if bottom - end > MAX_CHARACTERS:
        bottom = _previous_line(document, end + MAX_CHARACTERS, end)
    return top, max(bottom, end)


def _next_line(document: TextDocument, offset: int, most: int) -> int:
    """Return where the first line after `offset` starts, or `offset` if that is after `most`."""
    starts = document.line_starts
    at = bisect_left(starts, offset)
    return starts[at] if at < len(starts) and starts[at] <= most else offset


def _previous_line(document: TextDocument, offset: int, least: int) -> int:
    """Return where the line of `offset` starts, or `offset` if that is before `least`."""
    starts = document.line_starts
    at = starts[bisect_right(starts, offset) - 1]
    return at if at > least else offset


def _check_secrets(
    text: str, passage: RewritePassage, secrets: list[tuple[int, int]], redactor: Redactor
) -> None:
    """Refuse a selection that has part of a secret, or a secret recognised only by its context.

    Raises:
        TurnFailed: If the selection is refused.
    """
    start, end = passage.start, passage.end
    if any(begins < edge < ends for begins, ends in secrets for edge in (start, end)):
        raise TurnFailed(
            "The selection starts or ends inside a secret, so part of it would be sent. Select "
            "all of the secret or none of it."
        )
    inside = [text[one[0] : one[1]] for one in secrets if start <= one[0] and one[1] <= end]
    message = redactor.redact(passage.text).text if inside else ""
    if any(secret in message for secret in inside):
        raise TurnFailed(
            "The selection contains a secret that can only be detected in its context. Select "
            "whole lines, or none of the secret."
        )


def _outside(secrets: list[tuple[int, int]], first: int, last: int) -> tuple[int, int]:
    """Return the window with its edges moved inwards, out of secrets."""
    for begins, ends in secrets:
        first = ends if begins < first < ends else first
        last = begins if begins < last < ends else last
    return first, last
