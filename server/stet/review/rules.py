"""The gate: what the user lets the agent propose, enforced after the model has spoken.

Every proposal passes `check`, because the ledger takes none without it. The sentences the model is
told before it starts (`describe`) come from the same rules, so that the two cannot differ.
"""

from collections.abc import Callable
from dataclasses import dataclass

from stet.settings.values import EditSettings
from stet.text.diff import LineHunk


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something may not be.

    Attributes:
        rule: The setting or principle, as the user would search for it.
        message: One sentence for model and user.
    """

    rule: str
    message: str


class Refused(Exception):
    """A proposal did not pass the gate."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class RejectedEdit:
    """An edit the gate refused, for the user.

    Attributes:
        file: As the model called it.
        position: Where it was to go, or what it was anchored in.
        rule: The rule, as a setting's name.
        message: One sentence.
    """

    file: str
    position: str
    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class EditRules:
    """The rules of one turn.

    Attributes:
        settings: Scope and capabilities.
        editable: Whether a file (by URI) lies in the editable scope at this moment; the scope
            `context` grows as the agent reads.
        may_create: Whether a new file (by URI) lies where the scope allows one.
        read_only: Whether the turn proposes nothing at all (mode `ask`).
    """

    settings: EditSettings
    editable: Callable[[str], bool]
    may_create: Callable[[str], bool]
    read_only: bool = False


def check_edit(
    rules: EditRules, uri: str, name: str, hunks: tuple[LineHunk, ...]
) -> Refusal | None:
    """Whether `hunks` may be proposed for the existing file `uri`, called `name`."""
    if rules.read_only:
        return Refusal("mode", "This turn only answers: no edits in mode 'ask'.")
    if not rules.editable(uri):
        return Refusal(
            "edit.scope",
            f"{name!r} is outside the editable scope ({rules.settings.scope!r}): {_scope(rules)}",
        )
    if not rules.settings.can_delete and not all(_only_inserts(hunk) for hunk in hunks):
        return Refusal(
            "edit.canDelete",
            f"The user allows no replacing or deleting (edit.canDelete is off): in {name!r} only "
            "new text may be added.",
        )
    if not rules.settings.can_add and any(_only_inserts(hunk) for hunk in hunks):
        return Refusal(
            "edit.canAdd",
            f"The user allows no insertions (edit.canAdd is off): in {name!r} only existing text "
            "may be replaced or deleted.",
        )
    return None


def check_create(rules: EditRules, uri: str, name: str) -> Refusal | None:
    """Whether a new file `uri`, called `name`, may be proposed."""
    if rules.read_only:
        return Refusal("mode", "This turn only answers: no edits in mode 'ask'.")
    if not rules.settings.can_create:
        return Refusal(
            "edit.canCreate", f"The user allows no new files (edit.canCreate is off): {name!r}."
        )
    if not rules.may_create(uri):
        return Refusal(
            "edit.scope",
            f"{name!r} is outside the editable scope ({rules.settings.scope!r}): a new file must lie "
            "in a workspace folder and, in the scope 'current', beside the active file.",
        )
    return None


def check_open(rules: EditRules, name: str) -> Refusal | None:
    """Whether the file called `name` may be opened in front of the user."""
    if rules.settings.can_navigate:
        return None
    return Refusal(
        "edit.canNavigate", f"The user wants no files opened (edit.canNavigate is off): {name!r}."
    )


def describe(rules: EditRules) -> str:
    """The rules as the model is told them, a line each."""
    if rules.read_only:
        return "- You only answer: nothing may be changed in this turn."
    lines = [f"- You may propose edits to: {_scope(rules)}"]
    settings = rules.settings
    if not settings.can_add:
        lines.append("- Forbidden: adding text (`edit.canAdd` is off).")
    if not settings.can_delete:
        lines.append("- Forbidden: replacing or deleting text (`edit.canDelete` is off).")
    if not settings.can_create:
        lines.append("- Forbidden: creating files, also by position `create`.")
    if not settings.can_navigate:
        lines.append("- Forbidden: opening files, also by position `open`.")
    return "\n".join(lines)


def _scope(rules: EditRules) -> str:
    if rules.settings.scope == "current":
        return "only the file that was active when the question was asked."
    return "the files shown to you, and those you have read in this turn."


def _only_inserts(hunk: LineHunk) -> bool:
    """Whether nothing of the old text is lost: the new text is the old one with text put in.

    In one place of the hunk, or in one place of each of its lines.
    """
    if len(hunk.old) == len(hunk.new) and hunk.old:
        pairs = zip(hunk.old, hunk.new, strict=True)
        if all(one == other or _is_put_into(one, other) for one, other in pairs):
            return True
    return _is_put_into("".join(hunk.old), "".join(hunk.new))


def _is_put_into(old: str, new: str) -> bool:
    """Whether `new` is `old` with one text put in."""
    if len(new) <= len(old):
        return False
    start = 0
    while start < len(old) and old[start] == new[start]:
        start += 1
    return new.endswith(old[start:])
