"""Correction of prose by a small model, line by line, so that no line is lost."""

import difflib
import re
from collections.abc import Sequence

from stet.agent.prompts import prompt
from stet.agent.rewriting.rewrite_passage import RewritePassage, RewritePlan, example_messages
from stet.agent.turn import TurnFailed
from stet.llm.model import Request
from stet.outline.headings import find_front_matter
from stet.text.lines import n_breaks, split_lines
from stet.text.position import Position

MAX_LINES = 60
"""The most lines that are corrected in one turn; each takes about half a second."""

_REQUEST_WORDS = re.compile(
    r"\b(grammar|spelling|spell|typos?|proof-?read|correct|fix|mistakes?|errors?|english)\b",
    re.IGNORECASE,
)
# The structure at the start of a line: indent, quote marks, list marks, heading marks.
_MARKS = re.compile(r"\s*+(?:>\s*+)*+(?:#{1,6}\s+|[-*+]\s+(?:\[.\]\s+)?|\d+[.)]\s+)?")
_WORD = re.compile(r"\w")
_WORDS = re.compile(r"\w\s++\w")
# Tables, link definitions, tags, commands of LaTeX, directives of reStructuredText and Org.
_NO_PROSE = re.compile(r".*\||\[[^\]]+\]:|<|\\|\.\. |:\w+:|#\+")
_LEAST_ALIKE = 0.6
"""An answer that is less similar to its line than this ratio is discarded."""
_EXAMPLES = (
    ("She dont like the apples what he buyed.", "She doesn't like the apples that he bought."),
    (
        "The results was very good , we is happy with them.",
        "The results were very good, and we are happy with them.",
    ),
    ("First you has to install the package", "First you have to install the package"),
)


def wants_correction(passage: RewritePassage) -> bool:
    """Return whether the user asks to correct prose."""
    return passage.is_prose and _REQUEST_WORDS.search(passage.prompt) is not None


def plan(passage: RewritePassage) -> RewritePlan:
    """Return a plan that corrects each line of prose; fences, tables and blank lines stay.

    Raises:
        TurnFailed: If there are too many lines of prose.
    """
    lines = passage.lines
    begins = passage.place.start == Position(0, 0)
    front = find_front_matter(passage.text) if begins else None
    numbers = _prose(lines, n_breaks(passage.text[: front.end]) + 1 if front else 0)
    if not numbers and len(lines) == 1 and _WORD.search(lines[0]):
        numbers = [0]  # a single word, or part of a line that looks like code
    if len(numbers) > MAX_LINES:
        raise TurnFailed(
            f"The selection has {len(numbers)} lines of prose; the embedded model handles at "
            f"most {MAX_LINES} at a time. Select fewer."
        )
    parts = [_split_line(lines[number]) for number in numbers]

    def finish(answers: Sequence[str]) -> str:
        corrected = passage.lines
        for number, (marks, text, rest), answer in zip(numbers, parts, answers, strict=True):
            corrected[number] = marks + _checked_answer(text, answer.strip()) + rest
        return "".join(corrected)

    return RewritePlan(tuple(_request(text) for _, text, _ in parts), finish)


def _split_line(line: str) -> tuple[str, str, str]:
    """Split a line into structural marks, words, and the white space and line end after them."""
    body = line.rstrip()
    start = _MARKS.match(body)
    marks = start[0] if start else ""
    return marks, body[len(marks) :], line[len(body) :]


def _prose(lines: list[str], skip: int) -> list[int]:
    """Return the numbers (0-based) of lines with prose, without fences, code, tables and the like.

    Args:
        lines: All lines.
        skip: The number of lines at the start that are not prose.
    """
    found, fence, after_blank = [], "", True
    for number, line in enumerate(lines[skip:], skip):
        text = line.strip()
        # An indented line after a blank line is code, or part of a list: both stay unchanged.
        is_code = line.startswith(("    ", "\t")) and after_blank
        after_blank = not text or is_code
        if fence:
            fence = "" if text.startswith(fence) and not text.strip(fence[0]) else fence
        elif opened := re.match(r"(```+|~~~+)", text):
            fence = opened[1]
        elif not is_code and _WORDS.search(text) and not _NO_PROSE.match(text):
            found.append(number)
    return found


def _request(text: str) -> Request:
    messages = example_messages(prompt("correct"), _EXAMPLES, text)
    grammar = f"root ::= [^\\n]{{1,{len(text) + 40}}}"
    return Request(messages, grammar=grammar, max_tokens=len(text) + 40)


def _checked_answer(text: str, answer: str) -> str:
    """Return the answer, or `text` if the answer is several lines or an entirely different line."""
    alike = difflib.SequenceMatcher(None, text, answer, autojunk=False).ratio()
    is_line = len(split_lines(answer)) == 1
    return answer if is_line and alike >= _LEAST_ALIKE else text
