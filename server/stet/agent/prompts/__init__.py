"""What the model is told before anything else: Markdown files, put together once a turn.

Nothing here changes with the clock, the cursor or the open files: the beginning of every request is
the same to the byte, so that a provider's cache of it holds. Live state comes last.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from stet.agent.turn import Mode
from stet.review.policy.rules import EditRules, describe_policy


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """How the model is to be, beside what it is to do.

    Attributes:
        character: The user's words for it (`agent.character`).
        language: What people write in this workspace, in English; None where that can't be told.
        project: The project's own instructions, in their tags; empty for none.
    """

    character: str = ""
    language: str | None = None
    project: str = ""


DEFAULT_OPTIONS = PromptOptions()


def system_prompt(mode: Mode, rules: EditRules, options: PromptOptions = DEFAULT_OPTIONS) -> str:
    """Return the system message of a turn in `mode` under `rules`."""
    parts = [prompt("agent")]
    if mode is Mode.ASK:
        parts.append(prompt("ask"))
    if options.language is not None:
        parts.append(
            f"The texts of this workspace are mostly in {options.language}. Write into files in the "
            "language they are in; answer in the user's.\n"
        )
    parts.append(f"## What you may change\n\n{describe_policy(rules)}\n")
    if options.character.strip():
        parts.append(
            f"## Character\n\nThe user wants you to be so:\n\n{options.character.strip()}\n"
        )
    if options.project:
        parts.append(f"## The project's own words\n\n{prompt('project')}\n{options.project}\n")
    return "\n".join(parts)


@cache
def prompt(name: str) -> str:
    """Return the text of one prompt file."""
    return (files(__name__) / f"{name}.md").read_text(encoding="utf-8")
