"""Places on the real disk: where files may be made, moved and removed, and text be put in."""

from dataclasses import replace
from pathlib import Path

import pytest

from stet.review.policy.authorization import authorize
from stet.review.policy.rules import ProposalRefused
from tests.support.hostile_workspace import VICTIM, build
from tests.support.policy_drafts import (
    creation,
    edit_of,
    move,
    policy_result,
    removal,
    rules_in,
    world_at,
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("a.md", "notes/new.md", ""),
        ("a.md", "../x.md", "outside"),
        ("a.md", "../ws-evil/x.md", "outside"),
        ("a.md", "out/x.md", "link"),
        ("a.md", "new-out.md", "link"),
        ("a.md", "notes/b.md", "exists"),
        ("a.md", "notes", "special"),
        ("a.md", "pipe", "special"),
        ("a.md", "a.md", "exists"),
        ("a.md", "git/hooks/pre-commit", "git"),
        ("a.md", ".git/hooks/pre-commit", "git"),
        ("a.md", ".env.new", "secret"),
        ("a.md", "build/a.md", "ignored"),
        ("a.md", "vault/a.md", "excluded"),
        ("a.md", "CON", "alias"),
        ("a.md", "a\n.md", "invisible"),
        ("a.md", ".github/workflows/ci.yml", "protected"),
        ("a.md", "ci/ci.yml", "protected"),
        ("a.md", "CLAUDE.md", "protected"),
        (".vscode/settings.json", "notes/settings.json", "protected"),
        ("AGENTS.md", "notes/agents.txt", "protected"),
        ("hard.md", "notes/soft.md", "protected"),
        (".git/config", "notes/config", "git"),
        (".env", "notes/env.md", "secret"),
        ("key.pem", "key.txt", "secret"),
        ("x.log", "x.md", "ignored"),
        ("diary/today.md", "notes/today.md", "ignored"),
        ("p.secret", "p.md", "deny"),
        ("../outside/victim.md", "notes/x.md", "outside"),
        ("out.md", "notes/x.md", "link"),
        ("env.md", "notes/x.md", "secret"),
        ("settings.md", "notes/x.md", "link"),
        ("pipe", "notes/x.md", "special"),
        ("notes", "elsewhere", "special"),
        ("loop", "notes/x.md", "special"),
    ],
)
def test_a_move_is_judged_at_both_ends(old: str, new: str, rule: str, tmp_path: Path) -> None:
    root = build(tmp_path)
    assert policy_result(move(root / old, root / new), rules_in(world_at(root))) == rule


@pytest.mark.parametrize(
    ("file", "rule"),
    [
        ("a.md", ""),
        ("notes/b.md", ""),
        ("../outside/victim.md", "outside"),
        ("out.md", "link"),
        ("settings.md", "link"),
        ("out/victim.md", "link"),
        ("pipe", "special"),
        ("notes", "special"),
        (".env", "secret"),
        (".git/config", "git"),
        ("x.log", "ignored"),
        ("p.secret", "deny"),
        ("vault/deep/c.md", "excluded"),
        ("AGENTS.md", "protected"),
        ("hard.md", "protected"),
    ],
)
def test_a_removal_is_judged_by_its_place(file: str, rule: str, tmp_path: Path) -> None:
    root = build(tmp_path)
    assert policy_result(removal(root / file), rules_in(world_at(root))) == rule


def test_a_move_passes_with_all_its_links_or_not_at_all(tmp_path: Path) -> None:
    root = build(tmp_path)
    world = world_at(root)
    good, guarded = edit_of(root / "notes/b.md"), edit_of(root / "AGENTS.md")
    admitted = authorize(move(root / "a.md", root / "c.md", good, guarded), rules_in(world))
    assert not admitted.protected
    assert [link.protected for link in admitted.links] == [False, True]
    bad = move(root / "a.md", root / "c.md", good, edit_of(root / "diary/today.md"))
    with pytest.raises(
        ProposalRefused, match=r"'a.md' can't be moved, because of its links. .*stetignore"
    ):
        authorize(bad, rules_in(world))
    kept = move(root / "a.md", root / "c.md", good)
    assert policy_result(kept, rules_in(world, can_delete=False)) == "edit.canDelete"


def test_a_file_may_change_the_case_of_its_name_where_the_disk_folds_it(tmp_path: Path) -> None:
    root = build(tmp_path)
    spelled_anew = move(root / "a.md", root / "A.md")
    assert policy_result(spelled_anew, rules_in(world_at(root, folds_case=True))) == ""
    assert (
        policy_result(creation(root / "A.md"), rules_in(world_at(root, folds_case=True)))
        == "exists"
    )
    assert policy_result(spelled_anew, rules_in(world_at(root))) == ""


@pytest.mark.parametrize("file", [".GIT/config", ".Git/hooks/x", "VAULT/x", "BUILD/x"])
def test_a_folded_folder_is_the_one_on_the_disk(file: str, tmp_path: Path) -> None:
    root = build(tmp_path)
    assert policy_result(creation(root / file), rules_in(world_at(root, folds_case=True))) in (
        "git",
        "excluded",
        "ignored",
    )


@pytest.mark.parametrize(
    ("uri", "rule"),
    [
        ("file://host/ws/a.md", "scheme"),
        ("git:/ws/a.md", "scheme"),
        ("https://x.org/a.md", "scheme"),
        ("file:///ws/a%00.md", "scheme"),
        ("/ws/a.md", "scheme"),
        ("", "scheme"),
        ("untitled:none", "untitled"),
        ("file:///ws/../etc/passwd", "outside"),
        ("file:///%2e%2e/etc/passwd", "outside"),
    ],
)
def test_a_uri_that_is_no_file_of_the_workspace_is_refused(
    uri: str, rule: str, tmp_path: Path
) -> None:
    rules = rules_in(world_at(build(tmp_path)))
    draft = replace(creation(tmp_path / "ws/x.md"), uri=uri)
    assert policy_result(draft, rules) == rule
    assert (
        policy_result(replace(move(tmp_path / "ws/a.md", tmp_path / "x"), new_uri=uri), rules)
        == rule
    )


def test_stets_own_state_is_out_of_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = build(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(root / "state"))
    rules = rules_in(world_at(root))
    for draft in (
        creation(root / "state/stet/x"),
        edit_of(root / "state/stet/chat.md"),
        move(root / "a.md", root / "state/stet/state.db"),
        removal(root / "state/stet/state.db"),
    ):
        assert policy_result(draft, rules) == "own"
    assert policy_result(creation(root / "state/other/x"), rules) == ""


@pytest.mark.parametrize(
    ("there", "twin"),
    [("n\u00e4her.md", "na\u0308her.md"), ("na\u0308her.md", "n\u00e4her.md")],
)
def test_a_name_has_no_twin_in_another_unicode_form(there: str, twin: str, tmp_path: Path) -> None:
    root = build(tmp_path)
    (root / there).write_text(VICTIM)
    assert policy_result(creation(root / twin), rules_in(world_at(root))) == "exists"


def test_of_several_roots_every_one_is_a_place(tmp_path: Path) -> None:
    root = build(tmp_path)
    rules = rules_in(world_at(root, tmp_path / "outside"))
    assert policy_result(edit_of(root / "out.md"), rules) == ""
    assert policy_result(creation(root / "out/new.md"), rules) == ""
    assert policy_result(creation(root / "up/new.md"), rules) == "link"


def test_an_insertion_of_invisible_text_needs_a_yes_of_its_own(tmp_path: Path) -> None:
    rules = rules_in(world_at(build(tmp_path)))
    path = tmp_path / "ws/notes/b.md"
    assert policy_result(edit_of(path, "victim \u202e\n"), rules) == "protected"
    assert policy_result(edit_of(path, "vic\U000e0061tim\n"), rules) == "protected"
    assert policy_result(edit_of(path, "Fa\u0308hre \u200d \ufe0f \u05d0\u200f\n"), rules) == ""
