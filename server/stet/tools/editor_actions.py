"""Requests of tools to the editor: questions to the user, and actions that the user approved."""

import re
import unicodedata
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from stet.text.escape import escape, escape_line


@dataclass(frozen=True, slots=True)
class OpenFileRequest:
    """A file to show to the user, at a line (1-based) if one is given."""

    uri: str
    line: int | None = None


async def _cannot_accept(hunk_id: str) -> str:
    """Return the reason why no hunk is applied without an editor."""
    return f"there is no editor to apply {hunk_id}"


async def _show_nothing(stem: str, text: str) -> None:
    """Do nothing, as there is no editor."""


@dataclass(frozen=True, slots=True)
class EditorActions:
    """The actions of the editor.

    Attributes:
        accept_hunk: Applies a pending hunk that the user has explicitly approved. Returns the
            reason why the hunk was not applied, or "".
        show_document: Shows a Markdown document that Stet creates; the arguments are the beginning
            of the file's name, and the text. Raises OSError if the file can't be written.
    """

    accept_hunk: Callable[[str], Awaitable[str]] = _cannot_accept
    show_document: Callable[[str, str], Awaitable[None]] = _show_nothing


NO_EDITOR = EditorActions()
"""The actions without an editor."""


QuestionKind = Literal["ask", "confirm", "delete", "command", "host", "context"]
MAX_ASKED = 8000
"""The most characters of a question. A longer one is refused and not cut, so that the user sees the
whole text that they agree to."""
SEND = "Send it"
DO_NOT_SEND = "Don't send"
_NUMBER = re.compile(r"(\d{1,4})[.:)]?")
"""The number of a choice, also with the punctuation of a list."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question to the user. The text may be a model's, so it is escaped.

    Attributes:
        id: The id of the question, unique in the server.
        kind: The subject of the question. `ask`: information for the agent; `delete`: the deletion
            of a file; `command`: the run of a program; `host`: the request of a page from a host;
            `context`: the size of the context; `confirm`: anything else.
        text: The text of the question.
        choices: The possible answers, the agreeing one first. For `ask` they are suggestions.
    """

    id: str
    kind: QuestionKind
    text: str
    choices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", escape(self.text))
        object.__setattr__(self, "choices", tuple(escape_line(each) for each in self.choices))

    def parse_answer(self, answer: str, *, is_choice: bool = False) -> str | None:
        """Return the answer that the user means, or None if the text is no clear answer.

        A choice may be given in upper or lower case, by its number from 1, or by its beginning; if
        there are two choices, also by yes and no. A whole choice takes precedence over the
        beginning of a longer one. For `ask`, any other text is an answer unless `is_choice` is set.
        """
        words, folded = answer.strip(), _folded(answer)
        if words in self.choices:
            return words
        if same := [choice for choice in self.choices if _folded(choice) == folded]:
            return same[0] if len(same) == 1 else None
        matching = [
            choice for choice in self.choices if folded and _folded(choice).startswith(folded)
        ]
        number = int(found[1]) if (found := _NUMBER.fullmatch(words)) else 0
        if 0 < number <= len(self.choices):
            matching.append(self.choices[number - 1])
        if matching:
            return matching[0] if len({*matching}) == 1 else None
        if self.kind == "ask":
            return None if is_choice else words or None
        places = {"y": 0, "yes": 0, "n": 1, "no": 1}
        has_two = len(self.choices) == 2
        return self.choices[places[folded]] if has_two and folded in places else None


def _folded(text: str) -> str:
    """Return a text with normalized case, white space and Unicode form."""
    return unicodedata.normalize("NFC", " ".join(text.split())).casefold()


AskQuestion = Callable[[Question], Awaitable[str]]
"""Puts a question to the user and returns the answer; may wait for hours."""
