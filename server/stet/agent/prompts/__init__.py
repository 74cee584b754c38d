"""The system prompt: Markdown files, joined once per turn.

Nothing here depends on the clock, the cursor or the open files: the beginning of every request has
the same bytes, so that a provider's cache of the beginning stays valid. Live state comes last.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from stet.agent.turn import Mode
from stet.review.policy.rules import EditRules, describe_policy


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """The style of the model, as opposed to its task.

    Attributes:
        character: The user's words for the style (`agent.character`).
        language: The natural language of this workspace, in English; None if it is not known.
        project: The project's own instructions, in their tags; empty if there are no instructions.
    """

    character: str = ""
    language: str | None = None
    project: str = ""


def system_prompt(mode: Mode, rules: EditRules, options: PromptOptions) -> str:
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
