"""Drafts for paths on the real disk, and the answers of the policy."""

from pathlib import Path

from stet.review.policy.authorization import authorize
from stet.review.policy.rules import EditRules, ProposalRefused
from stet.review.proposal import CreateDraft, Draft, EditDraft, MoveDraft, RemoveDraft
from stet.settings.values import EditSettings, Settings
from stet.system.system import System
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.workspace.path_status import inspect_path
from stet.workspace.uris import uri_of
from stet.workspace.workspace import Workspace
from tests.support.hostile_workspace import SETTINGS, VICTIM
from tests.support.settings_parsing import parse_settings


def world_at(*roots: Path, settings: Settings | None = None, folds_case: bool = False) -> Workspace:
    """Make the workspace of these folders on the real disk."""
    settings = settings or parse_settings(SETTINGS).settings
    world = Workspace(System(folds_case=folds_case), settings)
    for root in roots:
        world.add_root(uri_of(root))
    return world


def rules_in(world: Workspace, **settings: object) -> EditRules:
    """Make rules that depend only on the disk and the ignore files."""
    return EditRules(
        EditSettings(**settings),  # type: ignore[arg-type]
        editable=lambda uri: True,
        may_create=lambda uri: True,
        path_status=lambda uri: inspect_path(world.snapshot(), uri),
    )


def creation(path: Path, text: str = "x\n") -> CreateDraft:
    """Make a draft that creates a file."""
    return CreateDraft(
        turn="t", author="m", uri=uri_of(path), name=path.name, text=text, summary="s"
    )


def edit_of(path: Path, new: str = "pwned\n") -> EditDraft:
    """Make a draft that replaces the whole text of a file."""
    return EditDraft(
        turn="t",
        author="m",
        document=TextDocument(uri_of(path), VICTIM),
        name=path.name,
        edit=TextEdit((Replacement(0, len(VICTIM), new),)),
        summary="s",
    )


def move(path: Path, new: Path, *links: EditDraft) -> MoveDraft:
    """Make a draft that moves a file, with edits of the links to it."""
    return MoveDraft(
        turn="t",
        author="m",
        uri=uri_of(path),
        name=path.name,
        new_uri=uri_of(new),
        new_name=new.name,
        summary="s",
        links=links,
    )


def removal(path: Path) -> RemoveDraft:
    """Make a draft that removes a file."""
    return RemoveDraft(
        turn="t", author="m", uri=uri_of(path), name=path.name, text=VICTIM, summary="s"
    )


def policy_result(draft: Draft, rules: EditRules) -> str:
    """Return the rule against a draft, `protected`, or an empty string."""
    try:
        admitted = authorize(draft, rules)
    except ProposalRefused as refused:
        return refused.refusal.rule
    return "protected" if admitted.protected else ""
