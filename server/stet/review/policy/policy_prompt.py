"""What the model is told of the rules before it starts: a sentence for each that can refuse.

`POLICY_SENTENCES` is complete: a rule that refuses and stands in no sentence here, or a sentence without a
rule that refuses, fails a test.
"""

from collections.abc import Callable
from dataclasses import dataclass

from stet.review.policy.rules import MAX_HUNKS, MAX_LINES, MAX_TEXT, EditRules, new_in, scope_of


@dataclass(frozen=True, slots=True)
class PolicySentence:
    """One sentence.

    Attributes:
        rules: The names of the rules it tells of, as in a `Refusal`.
        sentence: The words, for the rules of one turn; empty where they can't refuse anything.
    """

    rules: frozenset[str]
    sentence: Callable[[EditRules], str]


def _always(names: str, sentence: str) -> PolicySentence:
    return PolicySentence(frozenset(names.split()), lambda _: sentence)


def _if_off(name: str, is_on: Callable[[EditRules], bool], sentence: str) -> PolicySentence:
    return PolicySentence(frozenset({name}), lambda rules: "" if is_on(rules) else sentence)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


MODE_SENTENCE = PolicySentence(
    frozenset({"mode"}),
    lambda rules: (
        "You only answer: nothing may be changed in this turn." if rules.read_only else ""
    ),
)
POLICY_SENTENCES = (
    PolicySentence(
        frozenset({"edit.scope"}),
        lambda rules: f"You may propose edits to: {scope_of(rules)} {_sentence(new_in(rules))}",
    ),
    _if_off(
        "edit.canAdd",
        lambda rules: rules.settings.can_add,
        "Forbidden: adding text (`edit.canAdd` is off).",
    ),
    _if_off(
        "edit.canDelete",
        lambda rules: rules.settings.can_delete,
        "Forbidden: replacing or deleting text, and deleting files (`edit.canDelete` is off).",
    ),
    _if_off(
        "edit.canCreate",
        lambda rules: rules.settings.can_create,
        "Forbidden: creating files, also by position `create`, and moving them.",
    ),
    _if_off(
        "edit.canNavigate",
        lambda rules: rules.settings.can_navigate,
        "Forbidden: opening files, also by position `open`.",
    ),
    _always(
        "parent home scheme network encoded backslash no-root ambiguous untitled outside link",
        "A file is named by its path from the workspace root, with `/`: no `..`, `~`, URI or "
        "percent-encoding, nothing outside the workspace, also not by a link.",
    ),
    _always(
        "nul invisible look-alike too-long windows-name alias special exists",
        "Not a file to change: folders, devices, names with invisible or look-alike characters. A new "
        "name is one that Windows could have too, and where nothing is yet.",
    ),
    _always(
        "secret deny git excluded ignored own",
        "Out of bounds, whatever you would do there: secrets (`.env`, keys), the inside of `.git`, "
        "Stet's own state, and what `.gitignore`, `.stetignore`, `context.excludedFolders` or "
        "`privacy.deny` name.",
    ),
    _always(
        "privacy.redactSecrets",
        "Keys and passwords come to you as marks, `[redacted: AWS key #1]`: quote them as they are in "
        "edits of the same file; they are never written anywhere.",
    ),
    _always(
        "text",
        f"No text with NUL or broken characters, or of more than {MAX_TEXT:,} characters or "
        f"{MAX_LINES:,} lines; no edit that changes a file in more than {MAX_HUNKS:,} places at once.",
    ),
)
"""In the order the model reads them."""

_ADVICE = (
    "Settings of editors, CI, hooks and agents (`.vscode`, `.github`, `AGENTS.md`, `Makefile`, ...): "
    "each such edit needs the user's own yes, so propose one only if they asked for it."
)


def describe_policy(rules: EditRules) -> str:
    """Return the rules as the model is told them, one line each."""
    if only := MODE_SENTENCE.sentence(rules):
        return f"- {only}"
    lines = (each.sentence(rules) for each in POLICY_SENTENCES)
    return "\n".join(f"- {line}" for line in (*lines, _ADVICE) if line)
