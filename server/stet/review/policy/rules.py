"""The rules of a turn about proposals, checked after the model has answered.

Each `check_` function is for one kind of draft; `stet.review.policy.authorization` calls them all.
`policy_sentences` is the description of the rules that the model is sent, with a sentence for each
rule that can refuse. A rule without a sentence, or a sentence without a rule, fails a test.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from stet.review.proposal import MoveDraft, RemoveDraft
from stet.settings.values import EditSettings
from stet.text.diff import LineHunk
from stet.text.lines import n_breaks
from stet.text.sequence import n_common
from stet.workspace.names import Refusal, folded
from stet.workspace.path_status import PathStatus

MAX_TEXT = 400_000
"""The most code points of new text in one draft; more than a model can answer at once."""
MAX_LINES = 50_000
"""The most lines of new text in one draft."""
MAX_HUNKS = 1_000
"""The most places that one draft changes in a file; no user reviews more."""
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
"""Characters that no text file can contain: NUL and lone surrogates."""
_SCOPES = {
    "current": "only the file that was active when the question was asked.",
    "linked": "the file that was active when the question was asked, and the files that it links to "
    "or that link to it.",
    "context": "the files shown to you, and those you have read in this turn.",
}
_NEW_IN = {
    "current": "a new file must be in the folder of the active file.",
    "linked": "a new file must be in the folder of the active file or of a file linked with it.",
    "context": "a new file must be in a folder of the workspace.",
}
_ADVICE = (
    "Settings of editors, CI, hooks and agents (`.vscode`, `.github`, `AGENTS.md`, `Makefile`, "
    "...): each such edit needs a separate approval by the user, so propose one only if they "
    "asked for it."
)


class ProposalRefused(Exception):
    """The policy check has refused a proposal."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class RejectedEdit:
    """An edit that the policy check has refused, to be shown to the user.

    Attributes:
        file: The name of the file as the model wrote it.
        position: The position or the quotation of the edit.
        rule: The name of the rule, such as a setting.
        message: A sentence about the refusal.
    """

    file: str
    position: str
    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class EditRules:
    """The rules of one turn.

    Attributes:
        settings: The scope and the capabilities.
        editable: Returns whether a file (by URI) is now in the editable scope; the scope
            `context` grows as the agent reads.
        may_create: Returns whether the scope allows a new file at a URI.
        path_status: Returns the current status of a path (by URI); may read the disk.
        read_only: Whether the turn must not propose anything (mode `ask`).
        bound: Returns `path_status` for the present state, for another thread; None if
            `path_status` itself may be called in any thread.
    """

    settings: EditSettings
    editable: Callable[[str], bool]
    may_create: Callable[[str], bool]
    path_status: Callable[[str], PathStatus]
    read_only: bool = False
    bound: Callable[[], Callable[[str], PathStatus]] | None = None

    def prefetch_status(self, uris: Iterable[str]) -> Callable[[], "EditRules"]:
        """Return a function that reads the status of these URIs and returns the rules with it.

        Call the function in a worker thread: it reads the disk, so that the rules need not read it.
        """
        places, look = tuple(uris), self.bound() if self.bound else self.path_status

        def looked() -> EditRules:
            found = {uri: look(uri) for uri in places}
            return replace(self, path_status=lambda uri: found.get(uri) or self.path_status(uri))

        return looked


def check_edit(
    rules: EditRules, uri: str, name: str, hunks: tuple[LineHunk, ...]
) -> Refusal | None:
    """Return the refusal of `hunks` in the existing file `uri`, named `name`, if any."""
    return (
        _mode_refusal(rules)
        or rules.path_status(uri).refusal
        or _scope_refusal(rules, uri, name)
        or check_hunks(rules, name, hunks)
    )


def check_hunks(rules: EditRules, name: str, hunks: tuple[LineHunk, ...]) -> Refusal | None:
    """Return the refusal of `hunks` by the capabilities or by their number, if any."""
    if len(hunks) > MAX_HUNKS:
        return Refusal(
            "text",
            f"This changes {name!r} in {len(hunks):,} places; the maximum is {MAX_HUNKS:,} at "
            "once. Change it part by part.",
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
    """Return the refusal of a new file `uri`, named `name`, if any."""
    return _mode_refusal(rules) or _new_file_refusal(rules, uri, name, rules.path_status(uri))


def check_move(rules: EditRules, draft: MoveDraft) -> Refusal | None:
    """Return the refusal of a move, if any; the edits of its links are separate drafts.

    The file must be in the editable scope. A file without text can't be read, so in the scope
    `context` it may be moved if new files are allowed at its place, and if files link to it, all of
    which have been read.
    """
    status, new = rules.path_status(draft.uri), rules.path_status(draft.new_uri)
    if new.real == status.real and _is_case_change(draft):
        # On a disk that folds case, the existing file at the new name is the file itself.
        new = replace(new, creation_refusal=None)
    return (
        _mode_refusal(rules)
        or _whole_file_refusal(status, draft.name)
        or (None if _is_known(rules, draft) else _scope_refusal(rules, draft.uri, draft.name))
        or _new_file_refusal(rules, draft.new_uri, draft.new_name, new)
    )


def check_remove(rules: EditRules, draft: RemoveDraft) -> Refusal | None:
    """Return the refusal to move a file to the trash, if any."""
    refusal = _mode_refusal(rules) or _whole_file_refusal(rules.path_status(draft.uri), draft.name)
    if refusal is None and not rules.settings.can_delete:
        refusal = Refusal(
            "edit.canDelete",
            f"The user allows no deleting (edit.canDelete is off): {draft.name!r} stays.",
        )
    return refusal or _scope_refusal(rules, draft.uri, draft.name)


def check_open(rules: EditRules, name: str, uri: str = "") -> Refusal | None:
    """Return the refusal to open the file named `name`, at `uri`, in the editor, if any."""
    if not rules.settings.can_navigate:
        return Refusal(
            "edit.canNavigate",
            f"The user wants no files opened (edit.canNavigate is off): {name!r}.",
        )
    return rules.path_status(uri).refusal if uri else None


def check_text(name: str, new: Iterable[str], old: Iterable[str] = ()) -> Refusal | None:
    """Return the refusal of the texts `new`, instead of `old`, in a file named `name`, if any.

    Characters that are in `old` already are allowed.
    """
    new = tuple(new)
    for n, unit, most in (
        (sum(map(len, new)), "characters", MAX_TEXT),
        (sum(map(n_breaks, new)), "lines", MAX_LINES),
    ):
        if n > most:
            message = f"The text for {name!r} has {n:,} {unit}; the maximum is {most:,} at once."
            return Refusal("text", message)
    odd = {found for text in new for found in _NO_TEXT.findall(text)}
    if odd:
        odd -= {found for text in old for found in _NO_TEXT.findall(text)}
    if not odd:
        return None
    what = "a NUL" if "\0" in odd else "half a character (a lone surrogate)"
    return Refusal("text", f"The text for {name!r} holds {what}, which no text file can hold.")


def _mode_refusal(rules: EditRules) -> Refusal | None:
    if rules.read_only:
        return Refusal("mode", "This turn only answers: no edits in mode 'ask'.")
    return None


def _scope_refusal(rules: EditRules, uri: str, name: str) -> Refusal | None:
    return None if rules.editable(uri) else _outside_scope(rules, name, _SCOPES)


def _outside_scope(rules: EditRules, name: str, sentences: Mapping[str, str]) -> Refusal:
    scope = rules.settings.scope
    message = f"{name!r} is outside the editable scope ({scope!r}): {sentences[scope]}"
    return Refusal("edit.scope", message)


def _new_file_refusal(rules: EditRules, uri: str, name: str, status: PathStatus) -> Refusal | None:
    """Return the refusal of a new file at `uri`, if any."""
    if not rules.settings.can_create:
        return Refusal(
            "edit.canCreate", f"The user allows no new files (edit.canCreate is off): {name!r}."
        )
    if refusal := status.refusal or _outside_refusal(status, name) or status.creation_refusal:
        return refusal
    return None if rules.may_create(uri) else _outside_scope(rules, name, _NEW_IN)


def _whole_file_refusal(status: PathStatus, name: str) -> Refusal | None:
    """Return the refusal of an operation on a whole file, if any."""
    if refusal := status.refusal or _outside_refusal(status, name):
        return refusal
    if status.is_link:
        return Refusal(
            "link", (f"{name!r} is a link and can't be changed: use the file it points to.")
        )
    return None


def _outside_refusal(status: PathStatus, name: str) -> Refusal | None:
    """Return the refusal of a path outside the roots, if any.

    An open file may be edited anywhere, but no other operation is allowed outside.
    """
    if not status.is_outside:
        return None
    if status.is_outside_by_link:
        return Refusal("link", f"{name!r} is outside the workspace (through a symbolic link).")
    return Refusal("outside", f"{name!r} is outside the workspace.")


def _is_known(rules: EditRules, draft: MoveDraft) -> bool:
    """Return whether a file without text is known because all files that link to it are."""
    return (
        rules.settings.scope == "context"
        and not draft.holds_text
        and rules.may_create(draft.uri)
        and bool(draft.linked_from)
        and all(map(rules.editable, draft.linked_from))
    )


def _is_case_change(draft: MoveDraft) -> bool:
    """Return whether the new name differs from the old one in case or Unicode form only."""
    same = folded(draft.name) == folded(draft.new_name)
    return same and draft.name != draft.new_name


def _only_inserts(hunk: LineHunk) -> bool:
    """Return whether the new text is the old text with text inserted, so that nothing is lost.

    The insertion is at one place of the hunk, or at one place of each of its lines.
    """
    if len(hunk.old) == len(hunk.new) and hunk.old:
        pairs = zip(hunk.old, hunk.new, strict=True)
        if all(one == other or _is_put_into(one, other) for one, other in pairs):
            return True
    return _is_put_into("".join(hunk.old), "".join(hunk.new))


def _is_put_into(old: str, new: str) -> bool:
    """Return whether `new` is `old` with one text inserted."""
    return len(new) > len(old) and new.endswith(old[n_common(old, new) :])


_SENTENCES = {
    "edit.canAdd": "Forbidden: adding text (`edit.canAdd` is off).",
    "edit.canDelete": "Forbidden: replacing or deleting text, and deleting files (`edit.canDelete` is off).",
    "edit.canCreate": "Forbidden: creating files, also by position `create`, and moving them.",
    "edit.canNavigate": "Forbidden: opening files, also by position `open`.",
    "parent home scheme network encoded backslash no-root ambiguous untitled outside link": (
        "A file is named by its path from the workspace root, with `/`: no `..`, `~`, URI or "
        "percent-encoding, nothing outside the workspace, also not by a link."
    ),
    "nul invisible look-alike too-long windows-name alias special exists": (
        "Not a file to change: folders, devices, names with invisible or look-alike characters. A new "
        "name is one that Windows could have too, and where nothing is yet."
    ),
    "secret deny git excluded ignored own": (
        "Out of bounds, whatever you would do there: secrets (`.env`, keys), the inside of `.git`, "
        "Stet's own state, and what `.gitignore`, `.stetignore`, `context.excludedFolders` or "
        "`privacy.deny` name."
    ),
    "privacy.redactSecrets": (
        "Keys and passwords come to you as marks, `[redacted: AWS key #1]`: quote them as they are in "
        "edits of the same file; they are never written anywhere."
    ),
    "text": (
        f"No text with NUL or broken characters, or of more than {MAX_TEXT:,} characters or "
        f"{MAX_LINES:,} lines; no edit that changes a file in more than {MAX_HUNKS:,} places at once."
    ),
}
"""The sentences by the names of their rules, in the order for the model."""


def policy_sentences(rules: EditRules) -> dict[str, str]:
    """Return the sentences for the model about the rules that can refuse in a turn.

    The keys are the names of the rules that a sentence describes, as in a `Refusal`, separated by
    spaces.
    """
    if rules.read_only:
        return {"mode": "You only answer: nothing may be changed in this turn."}
    allowed = rules.settings
    capabilities = {
        "edit.canAdd": allowed.can_add,
        "edit.canDelete": allowed.can_delete,
        "edit.canCreate": allowed.can_create,
        "edit.canNavigate": allowed.can_navigate,
    }
    scope, new_in = _SCOPES[allowed.scope], _NEW_IN[allowed.scope]
    first = {"edit.scope": f"You may propose edits to: {scope} {new_in[0].upper()}{new_in[1:]}"}
    return first | {names: one for names, one in _SENTENCES.items() if not capabilities.get(names)}


_USUAL = frozenset(names for names in _SENTENCES if not names.startswith("edit."))
"""The rules that hold in every turn, whatever the user has set."""


def describe_restrictions(rules: EditRules) -> str:
    """Return for the model only the rules that the user has made stricter, one line each, or ""."""
    sentences = policy_sentences(rules)
    if rules.settings.scope == EditSettings().scope:
        sentences.pop("edit.scope", None)
    return "\n".join(f"- {one}" for names, one in sentences.items() if names not in _USUAL)


def describe_policy(rules: EditRules) -> str:
    """Return the rules for the model, one line each."""
    lines = [*policy_sentences(rules).values(), *(() if rules.read_only else (_ADVICE,))]
    return "\n".join(f"- {line}" for line in lines)
