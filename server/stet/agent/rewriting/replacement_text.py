"""Which part of a model's answer is the new text of the selection.

The model is shown the selection with tags around it, in the text before and after it. Some models
answer with the tags, with the whole line, or without the blanks at the selection's edges.
"""

import re

from stet.agent.rewriting.rewrite_passage import RewritePassage
from stet.agent.turn_errors import TurnFailed

_WORD = re.compile(r"\w+")
_BLANKS = " \t"
_FEWEST_WORDS = 2
"""Words that stand beside a selection on one side only, for their repetition to be no chance."""


def extract_replacement(text: str, passage: RewritePassage, mark: str) -> str:
    r"""Return what of an answer replaces the selection.

    Args:
        text: The answer, with `\n` as line end.
        passage: What was to be rewritten, with what was shown before and after it.
        mark: The name of the tag that the selection was marked with.

    Raises:
        TurnFailed: If the answer holds tags and it can't be told what they enclose.
    """
    text = _strip_line(_strip_mark(text, passage, mark), passage)
    return _restore_edges(text, passage)


def repeats_surroundings(text: str, passage: RewritePassage) -> bool:
    """Whether an answer begins or ends with the words beside the selection, and it does not."""
    head, tail = _line_around(passage)
    begins = bool(_WORD.search(head)) and text.startswith(head.lstrip())
    ends = bool(_WORD.search(tail)) and text.endswith(tail.rstrip())
    return (begins and not passage.text.startswith(head.lstrip())) or (
        ends and not passage.text.endswith(tail.rstrip())
    )


def _strip_mark(text: str, passage: RewritePassage, mark: str) -> str:
    """Take off the tags of the selection, with what the model repeats of the text around them."""
    opening, closing = f"<{mark}>", f"</{mark}>"
    if opening not in text and closing not in text:
        return text
    first, _, rest = text.partition(opening)
    enclosed, _, last = rest.partition(closing)
    if text.count(opening) == text.count(closing) == rest.count(closing) == 1:
        before, after = (side.replace("\r\n", "\n") for side in (passage.before, passage.after))
        if before.endswith(first.lstrip("\n")) and after.startswith(last.rstrip("\n")):
            return enclosed
    raise TurnFailed(
        f"The model's answer holds the tags {opening} that mark the selection, and it can't be told "
        "what of it is the new text, so nothing is proposed. Ask again, or choose a larger model."
    )


def _line_around(passage: RewritePassage) -> tuple[str, str]:
    """Return what stands on the selection's first line before it, and on its last line after it."""
    head = re.split(r"[\r\n]", passage.before)[-1]
    tail = "" if passage.text.endswith(("\n", "\r")) else re.split(r"[\r\n]", passage.after)[0]
    return head, tail


def _strip_line(text: str, passage: RewritePassage) -> str:
    """Take off the rest of the selection's lines, where the answer repeats it on both sides."""
    head, tail = _line_around(passage)
    body = text.rstrip("\n")
    is_repeated = (
        len(body) > len(head) + len(tail)
        and body.startswith(head)
        and body.endswith(tail)
        and not (passage.text.startswith(head) and passage.text.endswith(tail))
    )
    n_words = [len(_WORD.findall(side)) for side in (head, tail)]
    if is_repeated and (all(n_words) or max(n_words) >= _FEWEST_WORDS):
        return body[len(head) : len(body) - len(tail)]
    return text


def _restore_edges(text: str, passage: RewritePassage) -> str:
    """Keep the indentation out of the selection, and the blanks at its edges that part two words."""
    head, tail = _line_around(passage)
    if not text.strip():
        return text
    if head and not head.strip(_BLANKS) and passage.text[0] not in _BLANKS:
        text = text.removeprefix(head)
    lead = passage.text[: len(passage.text) - len(passage.text.lstrip(_BLANKS))]
    trail = passage.text[len(passage.text.rstrip(_BLANKS)) :]
    if lead and _WORD.match(head[-1:]) and _WORD.match(text):
        text = lead + text
    body = text.removesuffix("\n")
    if trail and _WORD.match(tail[:1]) and _WORD.match(body[-1:]):
        text = body + trail
    return text
