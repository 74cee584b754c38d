"""Rewriting whole lines of code by a small model.

A model of one or two thousand million parameters copies a function unchanged if the prompt has
examples, text around the function, or rules about what must stay. So the model gets the function
without its indent, then the instruction, and nothing else.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from stet.agent.prompts import prompt
from stet.agent.rewriting.oneshot import MARK, new_text
from stet.agent.rewriting.rewrite_passage import RewritePassage, RewritePlan, example_messages
from stet.agent.small.import_merge import with_needed_imports
from stet.agent.turn import TurnFailed
from stet.llm.model import Request
from stet.outline.line_definitions import defined_name
from stet.text.lines import split_lines
from stet.text.reindent import indent_of
from stet.text.render import fence_for

_MOST_TOKENS_MORE = 256
"""An answer may have this many tokens beside one for each character of the code."""
_TAKES_NAMES = re.compile(
    r"\b(?:re)?nam(?:e[sd]?|ing)\b|\b(?:remove|delete|drop|inline|extract|split|merge|replace|move|"
    r"convert|turn|class|lambda|call(?:ed)?\ it)\b",
    re.IGNORECASE,
)
"""Words of an instruction after which a definition may be missing from the new text."""


def fits(passage: RewritePassage) -> bool:
    """Return whether a passage is whole lines of code."""
    return not passage.is_prose and not passage.is_part_of_line


def plan(passage: RewritePassage) -> RewritePlan:
    """Return a plan that asks for the new lines in one request.

    Args:
        passage: Whole lines of code (`fits`).
    """
    indent = _common_indent(passage.lines)
    code = "".join(line.removeprefix(indent) for line in passage.lines)
    inner = replace(passage, text=code)
    fence = fence_for(code)
    body = code if code.endswith(("\n", "\r")) else code + "\n"
    question = f"{fence}{passage.language}\n{body}{fence}\n\n{passage.prompt}"
    messages = example_messages(prompt("rewrite_function"), (), question)

    def finish(answers: Sequence[str]) -> str:
        text = new_text(answers[0], inner, MARK)
        text = "".join(with_needed_imports(split_lines(text), split_lines(code)))
        _check_definitions(text, passage)
        return _indented(text, indent)

    cap = _MOST_TOKENS_MORE + len(code)
    return RewritePlan((Request(messages, max_tokens=cap),), finish)


def _common_indent(lines: list[str]) -> str:
    """Return the indent of the first line that has text, if all lines with text have it."""
    indents = [indent_of(line) for line in lines if line.strip()]
    first = indents[0] if indents else ""
    return first if all(one.startswith(first) for one in indents) else ""


def _indented(text: str, indent: str) -> str:
    """Return the lines of a text with an indent, unless they have it."""
    lines = split_lines(text)
    if not indent or _common_indent(lines).startswith(indent):
        return text
    return "".join(indent + line if line.strip() else line for line in lines)


def _check_definitions(text: str, passage: RewritePassage) -> None:
    """Refuse a text that has lost all functions of the passage, unless the user may want that.

    Raises:
        TurnFailed: If the text is refused.
    """
    if _TAKES_NAMES.search(passage.prompt):
        return
    old = dict.fromkeys(name for line in passage.lines if (name := defined_name(line)))
    new = {name for line in split_lines(text) if (name := defined_name(line))}
    if old and not new.intersection(old):
        raise TurnFailed(
            f"The model's text was rejected: it no longer defines {', '.join(old)}. Ask again, "
            "or choose a larger model."
        )
