"""The message at the end of a turn: what was done, and what is left to do.

It is one line, so that it covers nothing in editors with a message line. A long answer is in the
chat document; the message has its first sentence. Only where the editor can't show the chat does
the message repeat the answer with all its lines.
"""

import re
from collections.abc import Sequence
from urllib.parse import unquote

from stet.agent.turn import Mode, Turn, TurnState, describe_failures, describe_refusals
from stet.review.proposal import Hunk, HunkState
from stet.text.escape import escape_line
from stet.text.render import counted

MAX_LINES = 3
"""The most lines of an answer that is shown as a message."""
COLUMNS = 80
"""The width of these lines, in characters."""
ROOM = COLUMNS - len("Stet: ")
"""The most characters of a message that an editor would cut, after the name of the server."""
MAX_SENTENCE = 120
"""The most characters of the first sentence of a longer answer."""
LEAST_COST = 0.0001
"""A smaller cost is not given as a number."""
IN_CHAT = "The answer is in the chat."
_SENTENCE = re.compile(r".+?[.!?](?=\s|\Z)")
_BLOCK_MARK = re.compile(r"(?:#{1,6}|[-*+>]|\d+[.)])\s+")


def is_long(answer: str) -> bool:
    """Return whether an answer takes more lines than a message has."""
    lines = answer.strip().split("\n")
    return sum(max(1, -(-len(line) // COLUMNS)) for line in lines) > MAX_LINES


def describe_usage(turn: Turn) -> str:
    """Return a text with the rounds, the tokens in and out, the cached share, and the cost of a
    turn.

    The cost has no currency, as `model.price` has none; "about" is added if tokens are estimated.
    """
    usage, rounds = turn.usage, counted(len(turn.rounds), "round")
    about = "about " if usage.estimated else ""
    cached = f" ({usage.cached_share:.0%} cached)" if usage.cached else ""
    words = f"{rounds}, {about}{usage.prompt:,} tokens in{cached}, {usage.completion:,} out"
    if turn.cost is None:
        return words
    cost = "less than 0.0001" if 0 < turn.cost < LEAST_COST else f"{about}{turn.cost:.4g}"
    return f"{words}, cost {cost}"


def end_message(
    turn: Turn,
    hunks: Sequence[Hunk],
    replaced: Sequence[Hunk],
    *,
    has_proposed: bool,
    has_chat: bool,
) -> str:
    """Return the message at a turn's end, in sentences: its text, pending hunks, failures and
    usage.

    Args:
        turn: A turn that is over.
        hunks: The hunks of the turn.
        replaced: The pending hunks of earlier turns that they have superseded.
        has_proposed: Whether the model has proposed an edit.
        has_chat: Whether the user can read the answer in the chat document.
    """
    is_answer, text = _text(turn, has_proposed=has_proposed)
    if not has_chat:
        words = text
    elif not is_long(text):
        words = " ".join(text.split())
    elif turn.state is TurnState.COMPLETED:
        words = _first_sentence(turn.summary)
    else:
        words = escape_line(turn.summary)
    parts = [words, IN_CHAT] if has_chat and is_answer and is_long(text) else [words]
    pending = sum(hunk.state is HunkState.PENDING for hunk in hunks)
    parts += [f"{counted(pending, 'hunk')} to review"] if pending else []
    parts += [_describe_replaced(replaced)] if replaced else []
    parts += [describe_refusals(turn), describe_failures(turn, has_proposed=has_proposed)]
    parts += map(escape_line, turn.notes)
    parts = list(filter(None, parts))
    message = " ".join(map(_as_sentence, parts)) if len(parts) > 1 else "".join(parts)
    return f"{message} ({describe_usage(turn)})" if turn.rounds else message


def short_message(
    turn: Turn,
    hunks: Sequence[Hunk],
    replaced: Sequence[Hunk],
    *,
    has_proposed: bool,
) -> str:
    """Return the message at a turn's end for an editor that cuts a message after one line.

    It has at most `ROOM` characters. What does not fit is in the chat, and the message says so.
    The arguments are those of `end_message`.
    """
    is_answer, text = _text(turn, has_proposed=has_proposed)
    pending = sum(hunk.state is HunkState.PENDING for hunk in hunks)
    n_failed = len(turn.rejected) + len(turn.failed)
    parts = [f"{counted(pending, 'hunk')} to review."] if pending else []
    parts += [f"{counted(len(replaced), 'earlier hunk')} replaced."] if replaced else []
    parts += [f"{counted(n_failed, 'edit')} failed."] if n_failed else []
    words = " ".join(text.split())
    words = _as_sentence(words) if words and parts else words
    more = [IN_CHAT] if is_answer else ["See the chat."]
    whole = " ".join(filter(None, [words, *parts]))
    if len(whole) <= ROOM and not n_failed and not turn.notes:
        usage = f" ({describe_usage(turn)})" if turn.rounds else ""
        return f"{whole}{usage}" if len(whole) + len(usage) <= ROOM else whole
    end = " ".join([*parts, *more])
    first = _first_sentence(turn.answer or text if is_answer else text)
    return f"{_cut(_as_sentence(first), ROOM - len(end) - 1)} {end}".strip()


def _cut(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters, cut after a word."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1].rpartition(' ')[0] or text[: limit - 1]}…"


def _describe_replaced(hunks: Sequence[Hunk]) -> str:
    """Return the sentence about hunks that were superseded, with the way back."""
    names = {escape_line(unquote(hunk.uri.rsplit("/", 1)[-1])) for hunk in hunks}
    files = names.pop() if len(names) == 1 else counted(len(names), "file")
    it = "it" if len(hunks) == 1 else "them"
    number = counted(len(hunks), "earlier hunk")
    return f"Replaced {number} in {files}; restore {it} with Stet: Restore"


def needs_chat(turn: Turn, *, has_proposed: bool) -> bool:
    """Return whether a turn ends with an answer that is too long for a message.

    Args:
        turn: A turn that is over.
        has_proposed: Whether the model has proposed an edit.
    """
    is_answer, text = _text(turn, has_proposed=has_proposed)
    return is_answer and is_long(text)


def _text(turn: Turn, *, has_proposed: bool) -> tuple[bool, str]:
    """Return whether a turn ends with an answer, and the text of its end.

    The text is the answer or the summary, or both.
    """
    summary = escape_line(turn.summary)
    is_over = turn.state in (TurnState.COMPLETED, TurnState.LIMITED)
    if not is_over or (has_proposed and turn.ask.mode is not Mode.ASK):
        return False, summary
    if not turn.answer:
        return turn.state is TurnState.COMPLETED, summary
    return True, turn.answer if turn.summary in turn.answer else f"{turn.answer}\n\n{summary}"


def _first_sentence(text: str) -> str:
    """Return the first sentence of a text on one line, cut if it is long; "" for a code block."""
    line = _BLOCK_MARK.sub("", escape_line(text.strip().split("\n")[0]), 1)
    if line.startswith(("```", "~~~")):
        return ""
    found = _SENTENCE.match(line)
    sentence = found[0] if found else line
    return _cut(sentence, MAX_SENTENCE)


def _as_sentence(text: str) -> str:
    """Return a text with a period at its end, unless it has another mark there."""
    text = text.rstrip().removesuffix(":")
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
