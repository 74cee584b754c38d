"""The line at the end of a running answer that says what is done now: `*… read_file cart.py*`.

It is the only text of a chat document that is replaced and removed: before more of the answer is
written, and at its end. A line that the user has changed is theirs and stays.
"""

import re

from stet.chat.chat_layout import ChatSections, Insertion, escape_markdown
from stet.text.escape import escape_line
from stet.text.lines import without_end
from stet.text.position import Range

_STATUS = re.compile(r"\*… .*\*[ \t]*")
_MARKUP = re.compile(r"[\\`*\[\]<>]")


def status_line(message: str) -> str:
    """Return the line for a message, such as `read_file cart.py`."""
    return f"*… {_MARKUP.sub(_escaped, escape_markdown(escape_line(message)).strip())}*"


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match[0]}"


def is_status(line: str) -> bool:
    """Return whether a line without its line end has the form of a status line."""
    return _STATUS.fullmatch(line) is not None


def find_status(document: ChatSections, turn: str, line: str) -> Range | None:
    """Return the range of a status line, with the blank space before it; None if it is gone.

    Args:
        document: The current document.
        turn: The turn that the line is about.
        line: The line. It is searched for at the end of each part of the turn, the last part first.
    """
    for nth in range(len(document.headings) - 1, -1, -1):
        if document.headings[nth].turn != turn:
            continue
        part = document.part(nth)
        if not part.is_empty and without_end(document.lines[part.end.line]).rstrip() == line:
            return Range(document.text_end_before(part, part.end.line), part.end)
    return None


def insert_status(document: ChatSections, turn: str, line: str) -> Insertion | None:
    """Return the insertion of a status line at the end of a turn's answer; None without a
    heading.
    """
    part = document.answer(turn)
    end = document.line_end
    return None if part is None else Insertion(part.end, f"{end}{end}{line}")


def remove_status(document: ChatSections, turn: str, line: str) -> Insertion | None:
    """Return the change that removes a status line; None if the line is gone."""
    found = find_status(document, turn, line)
    return None if found is None else Insertion(found.start, "", found.end)


def without_status(text: str) -> tuple[str, str]:
    """Return the text of a part without its status line, and this line; "" if there is none."""
    rest, _, last = text.rpartition("\n")
    return (rest.rstrip(), last) if is_status(last) else (text, "")
