"""Rewriting in one shot: the selection and the instruction in, its new text in a fence out."""

from stet.agent.prompts import prompt
from stet.agent.rewriting.answer_text import new_text
from stet.agent.rewriting.rewrite_passage import RewritePassage, RewritePlan
from stet.context.context_tags import element, escape_tags
from stet.llm.messages import Message
from stet.llm.model import Request
from stet.text.lines import n_breaks, whole_lines
from stet.text.render import fence_for

_EXAMPLES = (
    (
        "python",
        "Use a list comprehension",
        ("def names_of(users):\n", "    return names\n"),
        "    names = []\n    for user in users:\n        names.append(user.name)\n",
        "    names = [user.name for user in users]\n",
    ),
    (
        "markdown",
        "Say it in two words",
        ("The tool is ", " and small, too.\n"),
        "as fast as one could possibly wish it to be",
        "very fast\n",
    ),
)
_SMALL_EXAMPLES = (
    (
        "python",
        "Use a list comprehension",
        "    names = []\n    for user in users:\n        names.append(user.name)\n",
        "    names = [user.name for user in users]\n",
    ),
    (
        "markdown",
        "Make it one sentence",
        "The tool is fast. It is also small.\n",
        "The tool is fast and small.\n",
    ),
)
_FEWEST_TOKENS = 256
_MARK = "selection"


def plan(passage: RewritePassage, *, small: bool) -> RewritePlan:
    """Ask for the new text at once.

    Args:
        passage: What is rewritten.
        small: Whether the model is the embedded one, which must be kept from going on for ever, and
            which copies what stands around a selection if it is shown it.
    """
    mark = _mark_for(passage)
    request, language = passage.prompt, passage.language
    messages = [Message("system", prompt("rewrite_small" if small else "rewrite"))]
    if small:
        for known, question, before, after in _SMALL_EXAMPLES:
            messages += (Message("user", _question(question, known, before)), _answer(after))
        messages.append(Message("user", _question(request, language, passage.text)))
    else:
        for known, question, (head, tail), before, after in _EXAMPLES:
            around = _marked(f"example.{known}", (head, before, tail), 1, _MARK)
            messages += (
                Message("user", _question(question, known, before, around)),
                _answer(after),
            )
        parts = (passage.before, passage.text, passage.after)
        first = passage.first_line - n_breaks(passage.before)
        around = _marked(passage.name, parts, first, mark)
        messages.append(Message("user", _question(request, language, passage.text, around)))
    # A model too small for the work may go on for ever: nobody rewrites to three times the length.
    cap = max(_FEWEST_TOKENS, len(passage.text)) if small else None
    return RewritePlan(
        (Request(tuple(messages), max_tokens=cap),),
        lambda answers: new_text(answers[0], passage, mark),
    )


def _mark_for(passage: RewritePassage) -> str:
    """Return the name of a tag that stands nowhere in what is shown."""
    shown, number = f"{passage.before}{passage.text}{passage.after}", 1
    while f"{_MARK}{'' if number == 1 else number}>" in shown:
        number += 1
    return _MARK if number == 1 else f"{_MARK}{number}"


def _marked(name: str, parts: tuple[str, str, str], first: int, mark: str) -> str:
    """Return a selection between tags, in the text around it, which begins on line `first` (1-based)."""
    before, text, after = map(escape_tags, parts)
    last = first + max(0, len(whole_lines("".join(parts))) - 1)
    attributes = {"path": name, "lines": f"{first}-{last}"}
    return element("file_contents", f"{before}<{mark}>{text}</{mark}>{after}", attributes)


def _question(request: str, language: str, text: str, around: str = "") -> str:
    fence = fence_for(text)
    body = text if text.endswith(("\n", "\r")) else text + "\n"
    head = f"{around}\n\n" if around else ""
    return f"{head}{request}\n\n{fence}{language}\n{body}{fence}"


def _answer(text: str) -> Message:
    return Message("assistant", f"```\n{text}```")
