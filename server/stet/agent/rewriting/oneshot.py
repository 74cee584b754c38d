"""Rewriting in one request: the model gets the selection and the instruction.

The model is asked for the new text in one fenced block. An answer without a fence is accepted only
if it is certainly the new text: an explanation, a question or a refusal must not get into the file.
"""

import re
from itertools import chain, count

from stet.agent.prompts import prompt
from stet.agent.rewriting.rewrite_passage import RewritePassage, RewritePlan, example_messages
from stet.agent.turn import TurnFailed
from stet.context.context_values import element, escape_tags
from stet.llm.model import Request
from stet.text.lines import line_end, line_ends, n_breaks, whole_lines, without_end
from stet.text.reindent import adopt_known_line_ends
from stet.text.render import fence_for

_WORD = re.compile(r"\w+")
_BLANKS = " \t"
_FEWEST_WORDS = 2
"""The fewest words beside a selection, on one side only, whose repetition is no coincidence."""


def extract_replacement(text: str, passage: RewritePassage, mark: str) -> str:
    r"""Return the part of an answer that replaces the selection.

    Args:
        text: The answer, with `\n` as line end.
        passage: The passage to rewrite, with the text that was shown before and after it.
        mark: The name of the tag that marks the selection.

    Raises:
        TurnFailed: If the answer contains tags and their content is ambiguous.
    """
    text = _strip_line(_strip_mark(text, passage, mark), passage)
    return _restore_edges(text, passage)


def repeats_surroundings(text: str, passage: RewritePassage) -> bool:
    """Return whether the answer, unlike the selection, begins or ends with surrounding words."""
    head, tail = _line_around(passage)
    begins = bool(_WORD.search(head)) and text.startswith(head.lstrip())
    ends = bool(_WORD.search(tail)) and text.endswith(tail.rstrip())
    return (begins and not passage.text.startswith(head.lstrip())) or (
        ends and not passage.text.endswith(tail.rstrip())
    )


def _strip_mark(text: str, passage: RewritePassage, mark: str) -> str:
    """Remove the tags of the selection and the surrounding text that the model repeats.

    Raises:
        TurnFailed: If the content of the tags is ambiguous.
    """
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
        f"The model's answer repeats the {opening} tags around the selection, so the new text is "
        "ambiguous and nothing was proposed. Ask again, or choose a larger model."
    )


def _line_around(passage: RewritePassage) -> tuple[str, str]:
    """Return the text before the selection in its first line, and after it in its last line."""
    head = re.split(r"[\r\n]", passage.before)[-1]
    tail = "" if passage.text.endswith(("\n", "\r")) else re.split(r"[\r\n]", passage.after)[0]
    return head, tail


def _strip_line(text: str, passage: RewritePassage) -> str:
    """Remove the rest of the selection's lines if the answer repeats it on both sides."""
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
    """Remove a repeated indent, and restore blanks at the edges that separate two words."""
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


_FENCE = re.compile(r"^(`{3,})[^\n`]*\n(.*?)^\1`*[ \t]*$", re.MULTILINE | re.DOTALL)
_ANY_FENCE = re.compile(r"```|^[ \t]*~~~", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n[ \t]*\n")
# The beginnings of answers in which a model talks about the text instead of writing it.
_TALK = re.compile(
    r"""\W*(?:
        (?:sure|certainly|of\ course|absolutely|okay|ok|yes|no|done|great|alright|all\ right|got\ it|
            sorry|unfortunately|note|note\ that|explanation|output|answer|result|unchanged)
            (?=\s*(?:[,.:;!\n]|-\ |$))|
        here(?:.s|\ is|\ are|\ you)\b|there\ you\ go\b|(?:below|above|this)\ is\ (?:the|your)\b|
        i(?:.(?:m|ve|d|ll)|\ (?:am|have|had|would|will|can|could|cannot|can.t|do|don.t|did|think|need|
            made|changed|see|understand|rewrote|replaced|corrected|fixed|apologi[sz]e))\b|
        (?:i.m\ )?sorry\b|apologies\b|unable\ to\b|can(?:.t|not)\b|
        as\ an?\ (?:ai|language\ model|assistant)\b|
        please\ (?:provide|tell|let|select|give|share|specify|clarify)\b|(?:could|can|would)\ you\b|
        (?:(?:the|your)\ )?(?:new|rewritten|revised|corrected|updated|improved|edited|modified|selected)
            \ (?:text|version|selection|code|lines?|sentence|paragraph|word|passage)(?:\ (?:is|reads)\b|:)|
        (?:no|nothing)\ (?:changes?|to\ (?:change|correct|fix|rewrite))\b|looks?\ (?:good|fine)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_OPENING_QUOTES, _CLOSING_QUOTES = "\"'`*\u201c\u2018\u00ab\u201e", "\"'`*\u201d\u2019\u00bb\u201c"
_LEAST_COMMON = 0.3
"""An answer without a fence must have this share of the words of several lines of code."""
_MOST_TIMES = 3
"""An answer without a fence may be this many times as long as the selection ..."""
_MOST_MORE = 40
"""... plus this many characters."""
_LEAST_SHARE = 20
"""An answer without a fence has at least one character for every 20 of the selection."""


def new_text(answer: str, passage: RewritePassage, mark: str) -> str:
    """Read the new text of `passage` from an answer, with the file's line ends.

    Args:
        answer: The whole answer of the model.
        passage: The passage to rewrite.
        mark: The name of the tag that marks the selection.

    Raises:
        TurnFailed: If the new text is ambiguous.
    """
    answer = answer.replace("\r\n", "\n")
    if _ANY_FENCE.search(answer):
        text = extract_replacement(_text_in_fence(answer, passage), passage, mark)
    else:
        text = _text_without_fence(answer, passage, mark)
    return _with_file_line_ends(text, passage)


def _text_in_fence(answer: str, passage: RewritePassage) -> str:
    blocks = _FENCE.findall(answer)
    if len(blocks) != 1:
        what = "no fenced block" if not blocks else f"{len(blocks)} fenced blocks"
        raise TurnFailed(
            f"The model answered with {what} instead of the new text, so nothing was proposed. "
            "Ask again, or choose a larger model."
        )
    fence, text = blocks[0]
    rest, file_fence = _FENCE.sub("", answer), re.match(r"\s*(`{3,})", passage.text)
    # If the selection is a fenced block, the fence of the answer may be that of the selection.
    is_bare = file_fence is not None and file_fence[1] == fence and not rest.strip()
    if "```" in rest or is_bare:
        raise TurnFailed(
            "The model's answer has nested code fences, so the new text is ambiguous and "
            "nothing was proposed. Ask again, or choose a larger model."
        )
    return str(text)


def _text_without_fence(answer: str, passage: RewritePassage, mark: str) -> str:
    """Return an answer without a fence as the new text, if it is certainly the new text.

    Raises:
        TurnFailed: If the answer may be something else.
    """
    text = extract_replacement(answer.strip("\n"), passage, mark)
    # Chat templates add blanks around an answer.
    text = text if passage.text[:1].isspace() else text.lstrip()
    text = text if passage.text[-1:].isspace() else text.rstrip()
    new, old = text.strip(), passage.text.replace("\r\n", "\n").replace("\r", "\n").strip()
    is_other_code = not passage.is_prose and "\n" in old and not _has_words_of(new, old)
    is_unclear = _has_other_shape(new, old) or repeats_surroundings(new, passage)
    if not new or is_other_code or is_unclear or _may_be_talk(new, old):
        raise TurnFailed(
            "The model answered without a fenced block, so the new text is ambiguous and "
            "nothing was proposed. Ask again, or choose a larger model."
        )
    return text


def _has_words_of(new: str, old: str) -> bool:
    """Return whether `new` has at least the share `_LEAST_COMMON` of the words of `old`."""
    words = set(_WORD.findall(old))
    return len(words & set(_WORD.findall(new))) >= _LEAST_COMMON * len(words)


def _has_other_shape(new: str, old: str) -> bool:
    """Return whether `new` is far longer or shorter than `old`, or has more lines or paragraphs.

    Both texts are stripped.
    """
    lines, old_lines = new.split("\n"), old.split("\n")
    is_longer = len(new) > _MOST_TIMES * len(old) + _MOST_MORE
    is_shorter = len(new) * _LEAST_SHARE < len(old)
    ends_alike = len(old_lines) > 1 and lines[-1].strip() == old_lines[-1].strip()
    has_more_lines = len(lines) > len(old_lines) and not ends_alike
    has_more_parts = len(_BLANK_LINES.findall(new)) > len(_BLANK_LINES.findall(old))
    return is_longer or is_shorter or has_more_lines or has_more_parts


def _may_be_talk(new: str, old: str) -> bool:
    """Return whether `new`, unlike `old`, looks like talk about a text. Both texts are stripped."""
    first, old_first = (text.partition("\n")[0].rstrip() for text in (new, old))
    return (
        (_TALK.match(new) is not None and _TALK.match(old) is None)
        or (first.endswith((":", "\uff1a")) and not old_first.endswith(":"))
        or (_is_quoted(new) and not _is_quoted(old))
    )


def _is_quoted(text: str) -> bool:
    return len(text) > 1 and text[0] in _OPENING_QUOTES and text[-1] in _CLOSING_QUOTES


def _with_file_line_ends(text: str, passage: RewritePassage) -> str:
    """Return `text` with the file's line ends, the last one only if the passage has one."""
    end = line_end(passage.text)
    body = text.removesuffix("\n")
    if not text and not passage.place.start.character:
        return ""  # whole lines are removed with their ends
    lines = body.split("\n")
    made = passage.line_end.join(lines) + end
    if len(line_ends(passage.text)) > 1:  # each line keeps its line end
        made = adopt_known_line_ends(made, (passage.text,), passage.line_end)
        made = without_end(made) + end if end else made
    return made


_COMPREHENSION = (
    "python",
    "Use a list comprehension",
    "    names = []\n    for user in users:\n        names.append(user.name)\n",
    "    names = [user.name for user in users]\n",
    ("def names_of(users):\n", "    return names\n"),
)
_PHRASE = (
    "markdown",
    "Say it in two words",
    "as fast as one could possibly wish it to be",
    "very fast\n",
    ("The tool is ", " and small, too.\n"),
)
_SENTENCE = (
    "markdown",
    "Make it one sentence",
    "The tool is fast. It is also small.\n",
    "The tool is fast and small.\n",
    ("", ""),
)
"""Examples: language, request, selection, its new text, and the text around it."""
_FEWEST_TOKENS = 256
MARK = "selection"
"""The name of the tag around the selection."""


def plan(passage: RewritePassage, *, is_tiny: bool) -> RewritePlan:
    """Return a plan that asks for the whole new text in one request.

    Args:
        passage: The passage to rewrite.
        is_tiny: Whether the model is a tiny one: it would copy the text around the selection, so
            this text is not shown, and it may generate text without end.
    """
    mark = _mark_for(passage)
    known_examples = (_COMPREHENSION, _SENTENCE if is_tiny else _PHRASE)
    examples = []
    for known, request, before, after, (head, tail) in known_examples:
        around = "" if is_tiny else _marked(f"example.{known}", (head, before, tail), 1, MARK)
        examples.append((_question(request, known, before, around), f"```\n{after}```"))
    parts = (passage.before, passage.text, passage.after)
    first = passage.first_line - n_breaks(passage.before)
    around = "" if is_tiny else _marked(passage.name, parts, first, mark)
    question = _question(passage.prompt, passage.language, passage.text, around)
    system = prompt("rewrite_small" if is_tiny else "rewrite")
    # A tiny model may generate text without end. No rewrite is three times as long as its text.
    cap = max(_FEWEST_TOKENS, len(passage.text)) if is_tiny else None
    return RewritePlan(
        (Request(example_messages(system, examples, question), max_tokens=cap),),
        lambda answers: new_text(answers[0], passage, mark),
    )


def _mark_for(passage: RewritePassage) -> str:
    """Return the name of a tag that does not occur in the shown text."""
    shown = f"{passage.before}{passage.text}{passage.after}"
    names = chain([MARK], (f"{MARK}{number}" for number in count(2)))
    return next(name for name in names if f"{name}>" not in shown)


def _marked(name: str, parts: tuple[str, str, str], first: int, mark: str) -> str:
    """Return a tagged selection in its surrounding text, which begins on line `first`, 1-based."""
    before, text, after = map(escape_tags, parts)
    last = first + max(0, len(whole_lines("".join(parts))) - 1)
    attributes = {"path": name, "lines": f"{first}-{last}"}
    return element("file_contents", f"{before}<{mark}>{text}</{mark}>{after}", attributes)


def _question(request: str, language: str, text: str, around: str = "") -> str:
    fence = fence_for(text)
    body = text if text.endswith(("\n", "\r")) else text + "\n"
    head = f"{around}\n\n" if around else ""
    return f"{head}{request}\n\n{fence}{language}\n{body}{fence}"
