"""Names that published attacks wrote to, and names nobody thought of."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.workspace.names import PathRefused
from stet.workspace.uris import path_of
from tests.support.hostile_workspace import build
from tests.support.policy_drafts import (
    creation,
    edit_of,
    move,
    policy_result,
    removal,
    rules_in,
    world_at,
)


@pytest.fixture(scope="module")
def trapped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("traps"))


PUBLISHED = [
    ".stet.toml", ".vscode/settings.json", ".vscode/tasks.json", ".vscode/mcp.json",
    "a.code-workspace", ".git/hooks/pre-commit", ".git/config", ".envrc", "conftest.py",
    "package.json", "Makefile", ".idea/workspace.xml", ".zed/settings.json", ".nvim.lua", ".exrc",
    ".dir-locals.el", ".helix/config.toml", ".claude/settings.json", ".cursor/mcp.json",
    ".github/workflows/ci.yml", ".gitlab-ci.yml", ".circleci/config.yml", ".husky/pre-push",
    ".cursorrules", "AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md",
]  # fmt: skip
"""What agents were made to write in published attacks, to get out of their limits."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_targets_of_published_attacks_need_their_own_approval(name: str, trapped: Path) -> None:
    rules = rules_in(world_at(trapped))
    for spelled in (name, name.upper(), name.title(), f"sub/deep/{name}", f"{name} ", f"{name}."):
        where = trapped / "fresh" / spelled
        assert policy_result(creation(where), rules) in {"protected", "git", "secret", "alias"}
        assert policy_result(edit_of(where), rules) in {"protected", "git", "secret"}
        assert policy_result(removal(where), rules) in {"protected", "git", "secret"}
        assert policy_result(move(where, trapped / "x.md"), rules) in {"protected", "git", "secret"}
        assert policy_result(move(trapped / "a.md", where), rules) in {
            "protected",
            "git",
            "secret",
            "alias",
        }


PARTS = [
    "..", ".", "", "a.md", "notes", "out", "up", "git", "ci", "chain", "proc", "loop", "pipe",
    "out.md", "new-out.md", "hook.md", "env.md", ".git", "ws-evil", "outside", "root", "tmp", "%2e%2e",
    "~", "\\", "\uff0e\uff0e", "new",
]  # fmt: skip


@given(
    st.lists(st.sampled_from(PARTS) | st.text(max_size=4), min_size=1, max_size=6),
    st.sampled_from(["", "/", "//", "file://"]),
)
def test_no_name_yields_a_proposal_that_leads_out_of_the_roots(
    trapped: Path, parts: list[str], before: str
) -> None:
    world = world_at(trapped)
    snapshot, rules = world.snapshot(), rules_in(world)
    try:
        located = snapshot.locate(before + "/".join(parts))
    except PathRefused:
        return
    assert located.path is not None
    there = located.path
    for draft in (creation(there), edit_of(there), move(trapped / "a.md", there), removal(there)):
        if policy_result(draft, rules) in ("", "protected"):
            assert trapped.resolve() in there.resolve().parents
            assert ".git" not in there.resolve().parts


@pytest.mark.slow
@given(st.lists(st.sampled_from(PARTS) | st.text(max_size=4), max_size=6), st.booleans())
def test_no_uri_yields_a_proposal_that_leads_out_of_the_roots(
    trapped: Path, parts: list[str], below: bool
) -> None:
    world = world_at(trapped)
    rules = rules_in(world)
    uri = f"file://{trapped if below else ''}/{'/'.join(parts)}"
    draft = replace(creation(trapped / "x"), uri=uri)
    target = replace(move(trapped / "a.md", trapped / "x"), new_uri=uri)
    source = replace(removal(trapped / "x"), uri=uri)
    for each in (draft, target, source):
        if policy_result(each, rules) in ("", "protected"):
            path = path_of(uri)
            assert path is not None
            assert trapped.resolve() in path.resolve().parents
