"""The system prompt: Markdown files, joined once per turn.

The system prompt does not depend on the clock, the cursor or the open files: every request begins
with the same bytes, so that a provider's cached prefix stays valid. Live state comes last.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from stet.agent.turn import Mode
from stet.review.policy.rules import EditRules, describe_policy, describe_restrictions


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """The parts of the system prompt that depend on the user and the workspace.

    Attributes:
        character: The user's description of the style (`agent.character`).
        language: The English name of the workspace's natural language; None if it is not known.
        project: The project's instructions, in their tags; empty if there are no instructions.
    """

    character: str = ""
    language: str | None = None
    project: str = ""


def system_prompt(
    mode: Mode, rules: EditRules, options: PromptOptions, *, is_short: bool = False
) -> str:
    """Return the system message of a turn in `mode` under `rules`.

    `is_short` selects the form for small models and windows, with only the unusual rules.
    """
    parts = [prompt("agent_short" if is_short else "agent")]
    if mode is Mode.ASK:
        parts.append(prompt("ask"))
    if options.language is not None:
        parts.append(
            f"The texts of this workspace are mostly in {options.language}. Write into files in the "
            "language they are in; answer in the user's.\n"
        )
    policy = describe_restrictions(rules) if is_short else describe_policy(rules)
    if policy:
        parts.append(f"## What you may change\n\n{policy}\n")
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
