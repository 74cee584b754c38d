"""What the gate refused in a turn and what failed otherwise, in a few words for its end."""

from stet.agent.turn import Turn
from stet.text.escape import escape_line

_NAMED = 3
"""So many files are named for each rule, each once."""
_LENGTH = 60
"""Of a name, in characters: the model may have made it up."""


def describe_refusals(turn: Turn) -> str:
    """How many edits were refused, of which files and by which rule; nothing if none was."""
    n_edits = len(turn.rejected)
    if not n_edits:
        return ""
    by_rule: dict[str, dict[str, None]] = {}
    for edit in turn.rejected:
        by_rule.setdefault(edit.rule, {})[escape_line(edit.file)[:_LENGTH]] = None
    parts = ", ".join(f"{rule} for {_listed(list(files))}" for rule, files in by_rule.items())
    return f"{n_edits} edit{'s' if n_edits != 1 else ''} refused by the rule {parts}"


def describe_failures(turn: Turn, *, has_proposed: bool) -> str:
    """How many edits failed though no rule is against them, and of which files; nothing if none did."""
    n_edits = len(turn.failed)
    if not n_edits:
        return ""
    files = dict.fromkeys(escape_line(edit.file)[:_LENGTH] for edit in turn.failed if edit.file)
    named = f": {_listed(list(files))}" if files else ""
    parts = f"{n_edits} edit{'s' if n_edits != 1 else ''} applied to no text{named}"
    return parts if has_proposed else f"nothing was proposed; {parts}"


def _listed(files: list[str]) -> str:
    n_more = len(files) - _NAMED
    return " and ".join((", ".join(files[:_NAMED]), *([f"{n_more} more"] if n_more > 0 else [])))
