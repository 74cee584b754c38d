"""What the model is told before anything else: Markdown files, put together once a turn.

Nothing here changes with the clock, the cursor or the open files: the beginning of every request is
the same to the byte, so that a provider's cache of it holds. Live state comes last.
"""

from functools import cache
from importlib.resources import files

from stet.agent.turn import Mode
from stet.review.rules import EditRules
from stet.review.stated import describe


def system_prompt(mode: Mode, rules: EditRules) -> str:
    """The system message of a turn in `mode` under `rules`."""
    parts = [prompt("agent")]
    if mode is Mode.ASK:
        parts.append(prompt("ask"))
    parts.append(f"## What you may change\n\n{describe(rules)}\n")
    return "\n".join(parts)


@cache
def prompt(name: str) -> str:
    """The text of one prompt file."""
    return (files(__name__) / f"{name}.md").read_text(encoding="utf-8")
