"""The policy is checked again at the delivery: changed links, new files."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stet.review.ledger import ReviewLedger
from stet.review.policy.authorization import reauthorize
from stet.review.proposal import Draft, HunkState
from stet.review.resolve.prepared_edit import prepare_draft
from stet.workspace.workspace import Workspace
from tests.support.hostile_workspace import VICTIM, build
from tests.support.policy_drafts import creation, edit_of, move, removal, rules_in, world_at


def turned(link: Path, target: Path) -> Callable[[], None]:
    """What lets a link, or a file that becomes one, lead elsewhere."""

    def turn() -> None:
        link.unlink(missing_ok=True)
        link.symlink_to(target)

    return turn


def after(draft: Draft, world: Workspace, happens: Callable[[], object]) -> str:
    """The rule that holds up the delivery of a draft's first hunk, for what happens meanwhile."""
    ledger, rules = ReviewLedger(), rules_in(world)
    hunk = ledger.propose(prepare_draft(draft, rules))[0]
    assert reauthorize(world.snapshot(), hunk) is None
    happens()
    refusal = reauthorize(world.snapshot(), hunk)
    return refusal.rule if refusal else ""


@pytest.mark.parametrize(
    ("target", "rule"),
    [
        ("../outside", "link"),
        (".git", "git"),
        (".vscode", "protected"),
        ("vault", "excluded"),
        ("/proc/self/root", "link"),
        ("notes", ""),
    ],
)
def test_changed_link_stops_the_delivery(target: str, rule: str, tmp_path: Path) -> None:
    root = build(tmp_path)
    world, link, new = world_at(root), root / "shelf", root / "shelf/new.md"
    # Of the last, the user must give a yes of its own anyway: to that, the new place may be one too.
    guarded = creation(new, "\u202e\n")
    for draft in (creation(new), move(root / "a.md", new), guarded):
        turned(link, root / "notes")()
        expected = "" if draft is guarded and rule == "protected" else rule
        assert after(draft, world, turned(link, root / target)) == expected


@pytest.mark.parametrize(
    ("target", "rule"),
    [("../outside/victim.md", "link"), (".env", "secret"), ("pipe", "special")],
)
def test_a_file_that_became_a_link_is_not_written_where_that_leads(
    target: str, rule: str, tmp_path: Path
) -> None:
    root = build(tmp_path)
    path = root / "notes/b.md"
    for draft in (edit_of(path), removal(path)):
        path.unlink()
        path.write_text(VICTIM)
        assert after(draft, world_at(root), turned(path, root / target)) == rule


def test_a_file_that_became_a_link_is_neither_moved_nor_removed(tmp_path: Path) -> None:
    root = build(tmp_path)
    path = root / "notes/b.md"
    for draft in (move(path, root / "c.md"), removal(path)):
        path.unlink()
        path.write_text(VICTIM)
        assert after(draft, world_at(root), turned(path, root / "a.md")) == "link"


def test_renamed_file_is_not_written_without_a_notice(tmp_path: Path) -> None:
    root = build(tmp_path)
    path, other = root / "notes/b.md", root / "notes/other.md"
    assert after(edit_of(path), world_at(root), lambda: other.hardlink_to(path)) == "protected"


def test_file_at_the_target_stops_the_delivery(tmp_path: Path) -> None:
    root = build(tmp_path)
    world, new = world_at(root), root / "new.md"
    for draft in (creation(new), move(root / "a.md", new)):
        assert after(draft, world, lambda: new.write_text("theirs")) == "exists"
        new.unlink()


def test_rules_for_the_model_do_not_stop_a_users_approval(tmp_path: Path) -> None:
    root = build(tmp_path)
    world = world_at(root)
    ignore = root / "notes/.gitignore"
    assert after(edit_of(root / "notes/b.md"), world, lambda: ignore.write_text("*")) == ""


def test_undo_of_a_creation_allows_an_existing_file(tmp_path: Path) -> None:
    root = build(tmp_path)
    world, ledger = world_at(root), ReviewLedger()
    made = ledger.propose(prepare_draft(creation(root / "new.md"), rules_in(world)))[0]
    (root / "new.md").write_text("x\n")
    assert reauthorize(world.snapshot(), replace(made, state=HunkState.ACCEPTED)) is None
