"""The policy for files that the user has open."""

from dataclasses import replace
from pathlib import Path

from stet.workspace.path_status import inspect_path
from stet.workspace.uris import uri_of
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
from tests.support.workspaces import open_document


def test_what_the_user_has_open_may_be_edited_wherever_it_lies_but_not_moved(
    tmp_path: Path,
) -> None:
    root = build(tmp_path)
    world = world_at(root)
    away, linked = tmp_path / "outside/victim.md", root / "out.md"
    for path in (away, linked):
        open_document(world, uri_of(path), VICTIM)
    rules = rules_in(world)
    assert policy_result(edit_of(away), rules) == ""
    assert policy_result(edit_of(linked), rules) == "protected"
    assert policy_result(removal(away), rules) == "outside"
    assert policy_result(move(away, root / "x.md"), rules) == "outside"
    assert policy_result(move(linked, root / "x.md"), rules) == "link"


def test_nothing_new_is_made_outside_though_the_editor_has_it_open(tmp_path: Path) -> None:
    root = build(tmp_path)
    world, new = world_at(root), root / "out/new.md"
    away = tmp_path / "outside/other.md"
    for path in (new, away):
        open_document(world, uri_of(path), "")
    rules = rules_in(world)
    assert policy_result(creation(new), rules) == "link"
    assert policy_result(creation(away), rules) == "outside"
    assert policy_result(move(root / "a.md", new), rules) == "link"


def test_an_ignored_file_is_edited_only_by_who_asks_in_it(tmp_path: Path) -> None:
    root = build(tmp_path)
    world, log = world_at(root), uri_of(root / "x.log")
    open_document(world, log, VICTIM)
    open_document(world, uri_of(root / "a.md"), VICTIM)
    rules = rules_in(world)
    assert policy_result(edit_of(root / "x.log"), rules) == "ignored"
    asking = replace(
        rules, path_status=lambda uri: inspect_path(world.snapshot().asked_about(log), uri)
    )
    assert policy_result(edit_of(root / "x.log"), asking) == ""
