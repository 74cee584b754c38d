"""Authorization: the only path from a draft to a proposal.

`authorize` is called for every draft before the ledger takes the draft, and raises the refusal. An
authorized draft may have a caution: then the user must approve this file by name. `reauthorize`
checks again when an accepted hunk is about to be written, because a link may have changed its
target since.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from stet.privacy.redactor import new_marks
from stet.review.policy.protected_files import is_protected
from stet.review.policy.rules import (
    EditRules,
    ProposalRefused,
    check_create,
    check_edit,
    check_hunks,
    check_move,
    check_remove,
    check_text,
)
from stet.review.proposal import (
    WHOLE_FILE,
    CreateDraft,
    Draft,
    EditDraft,
    Hunk,
    HunkKind,
    HunkState,
    MoveDraft,
    RemoveDraft,
)
from stet.text.block_codec import InlineBlock
from stet.text.diff import LineHunk, diff_lines
from stet.text.document import TextDocument
from stet.text.spoofing import describe_spoofing
from stet.workspace.names import Refusal
from stet.workspace.path_status import PathStatus, inspect_path
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import uri_of


@dataclass(frozen=True, slots=True)
class AuthorizedDraft:
    """The result of the policy check of a draft that is allowed.

    Attributes:
        hunks: The changed lines of an edit; empty for other drafts, and if nothing changes.
        caution: The reason why the user must approve this file by name; empty if there is none.
        links: The results for a move's edits of other files, in the draft's order.
    """

    hunks: tuple[LineHunk, ...] = ()
    caution: str = ""
    links: tuple["AuthorizedDraft", ...] = ()

    @property
    def protected(self) -> bool:
        """Whether the draft needs its own approval."""
        return bool(self.caution)


def authorize(draft: Draft, rules: EditRules) -> AuthorizedDraft:
    """Check a draft against the policy; may read the disk.

    Raises:
        ProposalRefused: If a rule refuses the draft; with the first such rule.
    """
    # Read the status of each path once, so that all checks use the same status.
    rules = replace(rules, path_status=cache(rules.path_status))
    match draft:
        case EditDraft():
            return _authorize_edit(draft, rules)
        case CreateDraft():
            _raise_refusal(check_create(rules, draft.uri, draft.name))
            _raise_refusal(
                check_text(draft.name, (draft.text,)) or _check_marks(draft.name, (draft.text,), "")
            )
            place = (draft.uri, draft.name)
            return AuthorizedDraft(caution=_caution(rules, place, new=(draft.text,)))
        case MoveDraft():
            return _authorize_move(draft, rules)
        case RemoveDraft():
            _raise_refusal(check_remove(rules, draft))
            return AuthorizedDraft(caution=_caution(rules, (draft.uri, draft.name)))


def reauthorize(snapshot: Snapshot, hunk: Hunk) -> Refusal | None:
    """Return why an accepted hunk must not be written or undone in the disk's current state.

    This function reads the disk: call it in a worker thread. Scope, capabilities and `.gitignore`
    are not checked again: they limit the model, and the user has accepted the hunk.
    """
    old = inspect_path(snapshot, hunk.uri, by_user=True)
    new = inspect_path(snapshot, hunk.new_uri, by_user=True) if hunk.kind is HunkKind.MOVE else None
    is_open = snapshot.document(hunk.uri) is not None
    for status in (old, new):
        if status is not None and (refusal := _changed_status(status, hunk, is_open=is_open)):
            return refusal
    if hunk.state is HunkState.ACCEPTED:  # an undo: the created file exists
        return None
    if hunk.kind is HunkKind.CREATE:
        return old.creation_refusal
    if old.is_link and hunk.kind in WHOLE_FILE:
        return Refusal("link", f"{old.names[0]!r} has become a link and can't be deleted.")
    return new.creation_refusal if new is not None and new.real != old.real else None


def authorize_blocks(
    snapshot: Snapshot, document: TextDocument, blocks: Sequence[InlineBlock]
) -> str:
    """Authorize the blocks in a note as proposals. This function reads the disk.

    Returns:
        The reason why the user must approve this file by name; empty if there is none.

    Raises:
        ProposalRefused: If the file may not be written to.
    """
    status = inspect_path(snapshot, document.uri, by_user=True)
    _raise_refusal(status.refusal)
    name = snapshot.name_of(document.uri)
    new, old = [block.after for block in blocks], [block.before for block in blocks]
    _raise_refusal(check_text(name, new, old))
    return _warning(status) or describe_spoofing(new, old, name)


def refusal_at(snapshot: Snapshot, real: Path, hunk: Hunk) -> Refusal | None:
    """Return why a hunk must not be written at `real`, the present target of its path.

    This function reads the disk. A link that is created afterwards is not followed.
    """
    return _changed_status(inspect_path(snapshot, uri_of(real), by_user=True), hunk, is_open=False)


def _raise_refusal(refusal: Refusal | None) -> None:
    if refusal is not None:
        raise ProposalRefused(refusal)


def _authorize_edit(draft: EditDraft, rules: EditRules) -> AuthorizedDraft:
    """Authorize an edit; check its size before comparing lines."""
    document, name = draft.document, draft.name
    new = [replacement.text for replacement in draft.edit.replacements]
    old = [document.text[one.start : one.end] for one in draft.edit.replacements]
    _raise_refusal(check_edit(rules, document.uri, name, ()))
    _raise_refusal(check_text(name, new, old))
    after = draft.edit.apply(document.text)
    hunks = diff_lines(document.lines, TextDocument(document.uri, after).lines)
    # Check whole lines: a few letters may complete a mark that is partly in the text.
    _raise_refusal(_check_marks(name, (line for hunk in hunks for line in hunk.new), document.text))
    _raise_refusal(check_hunks(rules, name, hunks))
    return AuthorizedDraft(hunks, _caution(rules, (document.uri, name), new=new, old=old))


def _check_marks(name: str, new: Iterable[str], known: str) -> Refusal | None:
    """Return the refusal of a new mark of a redacted secret, unless `known` contains the mark."""
    if mark := new_marks(new, known):
        return Refusal(
            "privacy.redactSecrets",
            f"{mark!r} stands for a secret that you were not shown, and is never written: it would "
            f"take the secret's place in {name!r}. Quote marks of this file as you were shown them, or "
            "leave the lines that hold them as they are.",
        )
    return None


def _authorize_move(draft: MoveDraft, rules: EditRules) -> AuthorizedDraft:
    """Authorize a move with all its links or not at all, so that no link breaks."""
    _raise_refusal(check_move(rules, draft))
    links = []
    for link in draft.links:
        try:
            links.append(_authorize_edit(link, rules))
        except ProposalRefused as refused:
            rule, message = refused.refusal.rule, refused.refusal.message
            message = f"{draft.name!r} can't be moved, because of its links. {message}"
            raise ProposalRefused(Refusal(rule, message)) from refused
    places = ((draft.uri, draft.name), (draft.new_uri, draft.new_name))
    return AuthorizedDraft(caution=_caution(rules, *places), links=tuple(links))


def _caution(
    rules: EditRules, *places: tuple[str, str], new: Iterable[str] = (), old: Iterable[str] = ()
) -> str:
    """Return why a draft needs its own approval; "" if it doesn't.

    `places` are URIs of files, each with its name in the draft.
    """
    for uri, name in places:
        status = rules.path_status(uri)
        # Check the draft's name too: one question too many is safer than one too few.
        if warning := _warning(replace(status, names=(*status.names, name))):
            return warning
    return describe_spoofing(new, old, places[0][1])


def _warning(status: PathStatus) -> str:
    """Return the warning that the user must read before a change of a file; "" if there is none."""
    at_root = [name for name in status.project_paths if is_protected(name, at_root=True)]
    instructs = [*at_root, *filter(is_protected, status.names)]
    if instructs:
        return f"{instructs[0]!r} may control an editor, an agent, version control or a build."
    if status.is_outside_by_link:
        return f"{status.names[0]!r} is outside the workspace (through a symbolic link)."
    if status.has_hard_links:
        return f"{status.names[0]!r} has another hard link, which would change too."
    return ""


def _changed_status(status: PathStatus, hunk: Hunk, *, is_open: bool) -> Refusal | None:
    """Return why a file must not be written now, if this has changed since the proposal."""
    if status.refusal is not None:
        return status.refusal
    # If the file is open, the user sees the change, and has approved the link.
    is_known = is_open and hunk.protected and hunk.kind not in WHOLE_FILE
    if status.is_outside_by_link and not is_known:
        return Refusal(
            "link", (f"{status.names[0]!r} is outside the workspace (through a symbolic link).")
        )
    if hunk.protected or not (warning := _warning(status)):
        return None
    again = "This has changed since the proposal: ask for it again."
    return Refusal("protected", f"{warning} {again}")
