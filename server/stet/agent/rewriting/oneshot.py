"""Rewriting in one shot: the lines and the instruction in, the new lines in a fence out."""

import re

from stet.agent.errors import TurnFailed
from stet.agent.prompts import prompt
from stet.agent.rewriting.passage import Passage, Plan
from stet.llm.messages import Message
from stet.llm.model import Request
from stet.text.render import fence_for

_EXAMPLES = (
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
_FENCE = re.compile(r"^(`{3,})[^\n`]*\n(.*?)^\1`*[ \t]*$", re.MULTILINE | re.DOTALL)
_FEWEST_TOKENS = 256


def plan(passage: Passage, *, small: bool) -> Plan:
    """Ask for the new lines at once.

    Args:
        passage: What is rewritten.
        small: Whether the model is the embedded one, which must be kept from going on for ever.
    """
    messages = [Message("system", prompt("rewrite"))]
    for language, wish, before, after in _EXAMPLES:
        messages.append(Message("user", _question(language, wish, before)))
        messages.append(Message("assistant", f"```\n{after}```"))
    messages.append(Message("user", _question(passage.language, passage.prompt, passage.text)))
    # A model too small for the work may go on for ever: nobody rewrites to three times the length.
    cap = max(_FEWEST_TOKENS, len(passage.text)) if small else None
    return Plan(
        (Request(tuple(messages), max_tokens=cap),),
        lambda answers: _as_in_file(_fenced(answers[0]), passage),
    )


def _question(language: str, wish: str, text: str) -> str:
    fence = fence_for(text)
    body = text if text.endswith(("\n", "\r")) else text + "\n"
    return f"{wish}\n\n{fence}{language}\n{body}{fence}"


def _fenced(answer: str) -> str:
    answer = answer.replace("\r\n", "\n")
    blocks = _FENCE.findall(answer)
    if len(blocks) == 1 and "```" in _FENCE.sub("", answer):
        raise TurnFailed(
            "It can't be told where the new lines of the model's answer end: it holds fences within "
            "its fence. Nothing is proposed; ask again, or choose a larger model."
        )
    if len(blocks) != 1:
        what = "no fenced block" if not blocks else f"{len(blocks)} fenced blocks"
        raise TurnFailed(
            f"The model answered with {what} instead of the new lines, so nothing is proposed. Ask "
            "again, or choose a larger model."
        )
    return str(blocks[0][1])


def _as_in_file(text: str, passage: Passage) -> str:
    """`text` with the file's line ends, and a last one only where the passage has one."""
    if not text:
        return ""
    body = text.removesuffix("\n").replace("\n", passage.line_end)
    return body + passage.line_end if passage.text.endswith(("\n", "\r")) else body
