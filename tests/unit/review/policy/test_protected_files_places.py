"""Where a file lies decides too: what a program reads in the top folder of a project is ordinary
elsewhere.
"""

from pathlib import Path

import pytest

from tests.support.hostile_workspace import VICTIM
from tests.support.policy_drafts import creation, move, policy_result, rules_in, world_at


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    for name in ("a.md", "deep/er/b.md", "checkout/.git/HEAD", "checkout/src/c.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(VICTIM)
    return folder


TOP = ("tool.toml", "Rules", "anything.yml", "tasks.py", "ci/x.sh", "debian/rules")


@pytest.mark.parametrize("name", TOP)
def test_file_needs_its_own_approval_in_a_root_only(name: str, root: Path) -> None:
    rules = rules_in(world_at(root))
    assert policy_result(creation(root / name), rules) == "protected"
    assert policy_result(move(root / "a.md", root / name), rules) == "protected"
    assert policy_result(creation(root / "deep/er" / name), rules) == ""
    assert policy_result(move(root / "a.md", root / "deep/er" / name), rules) == ""


@pytest.mark.parametrize("name", TOP)
def test_each_of_several_roots_counts_and_a_root_within_another(name: str, root: Path) -> None:
    rules = rules_in(world_at(root / "deep", root, root / "deep/er"))
    for folder in (root, root / "deep", root / "deep/er"):
        assert policy_result(creation(folder / name), rules) == "protected"
    assert policy_result(creation(root / "checkout/src" / name), rules) == ""


@pytest.mark.parametrize("name", TOP)
def test_a_checkout_within_the_workspace_is_a_project_too(name: str, root: Path) -> None:
    rules = rules_in(world_at(root))
    assert policy_result(creation(root / "checkout" / name), rules) == "protected"
    assert policy_result(creation(root / "checkout/src" / name), rules) == ""


@pytest.mark.parametrize("name", TOP)
def test_a_link_to_the_top_folder_leads_there(name: str, root: Path) -> None:
    (root / "deep/up").symlink_to(root)
    rules = rules_in(world_at(root))
    assert policy_result(creation(root / "deep/up" / name), rules) == "protected"


STATE = (
    ".jj/repo/config.toml", ".sl/config", "_darcs/prefs/defaults", ".bzr/branch/branch.conf", "CVS/Root",
    "cvs/entries", ".pijul/config", "_FOSSIL_", ".fslckout", "_MTN/options", "{arch}/x", "RCS/a.c,v",
    ".JJ/x", "_DARCS/x", "sub/.hg/hgrc", "deep/er/.jj/config", ".repo/manifest.xml",
)  # fmt: skip


@pytest.mark.parametrize("name", STATE)
def test_the_state_of_version_control_is_refused_by_whatever_way(name: str, root: Path) -> None:
    rules = rules_in(world_at(root))
    assert policy_result(creation(root / name), rules) == "git"
    assert policy_result(move(root / "a.md", root / name), rules) == "git"
    there = root / name
    there.parent.mkdir(parents=True, exist_ok=True)
    there.write_text(VICTIM)
    (root / "plain.md").symlink_to(there)
    assert policy_result(creation(root / "plain.md"), rules) == "git"
    (root / "folder").symlink_to(there.parent)
    if there.parent != root:
        assert policy_result(creation(root / "folder" / there.name), rules) == "git"


@pytest.mark.parametrize(
    "name", ["src/cvs/parser.py", "rcs/notes.md", "docs/cvs", "sccs/history.md"]
)
def test_sources_about_an_old_version_control_are_sources(name: str, root: Path) -> None:
    assert policy_result(creation(root / name), rules_in(world_at(root))) == ""
