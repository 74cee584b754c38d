"""Places on the real disk: files moved and removed, links that are turned, names nobody thought of."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.review.drafts import CreateDraft, EditDraft, MoveDraft, RemoveDraft
from stet.review.gate import Draft, admit, still_allowed
from stet.review.ledger import ReviewLedger
from stet.review.proposal import HunkState
from stet.review.rules import EditRules, Refused
from stet.settings.parse import parse
from stet.settings.values import EditSettings, Settings
from stet.system.os_system import OsSystem
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.workspace.ground import survey
from stet.workspace.names import PathRefused
from stet.workspace.uris import path_of, uri_of
from stet.workspace.workspace import Workspace
from tests.support.hostile import SETTINGS, VICTIM, build
from tests.support.world import open_document


@pytest.fixture(scope="module")
def trapped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("traps"))


def world_at(*roots: Path, settings: Settings | None = None, folds_case: bool = False) -> Workspace:
    """The workspace of these folders on the real disk."""
    settings = settings or parse(SETTINGS).settings
    world = Workspace(OsSystem(folds_case=folds_case), settings)
    for root in roots:
        world.add_root(uri_of(root))
    return world


def rules_in(world: Workspace, **settings: object) -> EditRules:
    """Rules under which only the disk and the ignore files matter."""
    return EditRules(
        EditSettings(**settings),  # type: ignore[arg-type]
        editable=lambda uri: True,
        may_create=lambda uri: True,
        ground=lambda uri: survey(world.snapshot(), uri),
    )


def creation(path: Path, text: str = "x\n") -> CreateDraft:
    return CreateDraft(
        turn="t", author="m", uri=uri_of(path), name=path.name, text=text, summary="s"
    )


def edit_of(path: Path, new: str = "pwned\n") -> EditDraft:
    return EditDraft(
        turn="t",
        author="m",
        document=TextDocument(uri_of(path), VICTIM),
        name=path.name,
        edit=TextEdit((Replacement(0, len(VICTIM), new),)),
        summary="s",
    )


def move(path: Path, new: Path, *links: EditDraft) -> MoveDraft:
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
    return RemoveDraft(
        turn="t", author="m", uri=uri_of(path), name=path.name, text=VICTIM, summary="s"
    )


def verdict(draft: Draft, rules: EditRules) -> str:
    """The rule against a draft, `protected`, or nothing."""
    try:
        admitted = admit(draft, rules)
    except Refused as refused:
        return refused.refusal.rule
    return "protected" if admitted.protected else ""


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
    assert verdict(move(root / old, root / new), rules_in(world_at(root))) == rule


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
    assert verdict(removal(root / file), rules_in(world_at(root))) == rule


def test_a_move_passes_with_all_its_links_or_not_at_all(tmp_path: Path) -> None:
    root = build(tmp_path)
    world = world_at(root)
    good, guarded = edit_of(root / "notes/b.md"), edit_of(root / "AGENTS.md")
    admitted = admit(move(root / "a.md", root / "c.md", good, guarded), rules_in(world))
    assert not admitted.protected
    assert [link.protected for link in admitted.links] == [False, True]
    bad = move(root / "a.md", root / "c.md", good, edit_of(root / "diary/today.md"))
    with pytest.raises(Refused, match=r"'a.md' can't be moved, because of its links. .*stetignore"):
        admit(bad, rules_in(world))
    kept = move(root / "a.md", root / "c.md", good)
    assert verdict(kept, rules_in(world, can_delete=False)) == "edit.canDelete"


def test_a_file_may_change_the_case_of_its_name_where_the_disk_folds_it(tmp_path: Path) -> None:
    root = build(tmp_path)
    spelled_anew = move(root / "a.md", root / "A.md")
    assert verdict(spelled_anew, rules_in(world_at(root, folds_case=True))) == ""
    assert verdict(creation(root / "A.md"), rules_in(world_at(root, folds_case=True))) == "exists"
    assert verdict(spelled_anew, rules_in(world_at(root))) == ""


@pytest.mark.parametrize("file", [".GIT/config", ".Git/hooks/x", "VAULT/x", "BUILD/x"])
def test_a_folded_folder_is_the_one_on_the_disk(file: str, tmp_path: Path) -> None:
    root = build(tmp_path)
    assert verdict(creation(root / file), rules_in(world_at(root, folds_case=True))) in (
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
    assert verdict(draft, rules) == rule
    assert verdict(replace(move(tmp_path / "ws/a.md", tmp_path / "x"), new_uri=uri), rules) == rule


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
        assert verdict(draft, rules) == "own"
    assert verdict(creation(root / "state/other/x"), rules) == ""


def test_what_the_user_has_open_may_be_edited_wherever_it_lies_but_not_moved(
    tmp_path: Path,
) -> None:
    root = build(tmp_path)
    world = world_at(root)
    away, linked = tmp_path / "outside/victim.md", root / "out.md"
    for path in (away, linked):
        open_document(world, uri_of(path), VICTIM)
    rules = rules_in(world)
    assert verdict(edit_of(away), rules) == ""
    assert verdict(edit_of(linked), rules) == "protected"
    assert verdict(removal(away), rules) == "outside"
    assert verdict(move(away, root / "x.md"), rules) == "outside"
    assert verdict(move(linked, root / "x.md"), rules) == "link"


def test_nothing_new_is_made_outside_though_the_editor_has_it_open(tmp_path: Path) -> None:
    root = build(tmp_path)
    world, new = world_at(root), root / "out/new.md"
    away = tmp_path / "outside/other.md"
    for path in (new, away):
        open_document(world, uri_of(path), "")
    rules = rules_in(world)
    assert verdict(creation(new), rules) == "link"
    assert verdict(creation(away), rules) == "outside"
    assert verdict(move(root / "a.md", new), rules) == "link"


@pytest.mark.parametrize(
    ("there", "twin"),
    [("n\u00e4her.md", "na\u0308her.md"), ("na\u0308her.md", "n\u00e4her.md")],
)
def test_a_name_has_no_twin_in_another_unicode_form(there: str, twin: str, tmp_path: Path) -> None:
    root = build(tmp_path)
    (root / there).write_text(VICTIM)
    assert verdict(creation(root / twin), rules_in(world_at(root))) == "exists"


def test_an_ignored_file_is_edited_only_by_who_asks_in_it(tmp_path: Path) -> None:
    root = build(tmp_path)
    world, log = world_at(root), uri_of(root / "x.log")
    open_document(world, log, VICTIM)
    open_document(world, uri_of(root / "a.md"), VICTIM)
    rules = rules_in(world)
    assert verdict(edit_of(root / "x.log"), rules) == "ignored"
    asking = replace(rules, ground=lambda uri: survey(world.snapshot().asked_about(log), uri))
    assert verdict(edit_of(root / "x.log"), asking) == ""


def test_of_several_roots_every_one_is_a_place(tmp_path: Path) -> None:
    root = build(tmp_path)
    rules = rules_in(world_at(root, tmp_path / "outside"))
    assert verdict(edit_of(root / "out.md"), rules) == ""
    assert verdict(creation(root / "out/new.md"), rules) == ""
    assert verdict(creation(root / "up/new.md"), rules) == "link"


def test_an_insertion_of_invisible_text_needs_a_yes_of_its_own(tmp_path: Path) -> None:
    rules = rules_in(world_at(build(tmp_path)))
    path = tmp_path / "ws/notes/b.md"
    assert verdict(edit_of(path, "victim \u202e\n"), rules) == "protected"
    assert verdict(edit_of(path, "vic\U000e0061tim\n"), rules) == "protected"
    assert verdict(edit_of(path, "Fa\u0308hre \u200d \ufe0f \u05d0\u200f\n"), rules) == ""


PUBLISHED = [
    ".stet.toml", ".vscode/settings.json", ".vscode/tasks.json", ".vscode/mcp.json",
    "a.code-workspace", ".git/hooks/pre-commit", ".git/config", ".envrc", "conftest.py",
    "package.json", "Makefile", ".idea/workspace.xml", ".zed/settings.json", ".nvim.lua", ".exrc",
    ".dir-locals.el", ".helix/config.toml", ".claude/settings.json", ".cursor/mcp.json",
    ".github/workflows/ci.yml", ".gitlab-ci.yml", ".circleci/config.yml", ".husky/pre-push",
    ".cursorrules", "AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md",
]  # fmt: skip
"""What agents were made to write in published attacks, to get out of their limits."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_published_attacks_wrote_is_never_taken_with_everything_else(
    name: str, trapped: Path
) -> None:
    rules = rules_in(world_at(trapped))
    for spelled in (name, name.upper(), name.title(), f"sub/deep/{name}", f"{name} ", f"{name}."):
        where = trapped / "fresh" / spelled
        assert verdict(creation(where), rules) in {"protected", "git", "secret", "alias"}
        assert verdict(edit_of(where), rules) in {"protected", "git", "secret"}
        assert verdict(removal(where), rules) in {"protected", "git", "secret"}
        assert verdict(move(where, trapped / "x.md"), rules) in {"protected", "git", "secret"}
        assert verdict(move(trapped / "a.md", where), rules) in {
            "protected",
            "git",
            "secret",
            "alias",
        }


# -- at the moment of delivery -------------------------------------------------------------------


def turned(link: Path, target: Path) -> Callable[[], None]:
    """What lets a link, or a file that becomes one, lead elsewhere."""

    def turn() -> None:
        link.unlink(missing_ok=True)
        link.symlink_to(target)

    return turn


def after(draft: Draft, world: Workspace, happens: Callable[[], object]) -> str:
    """The rule that holds up the delivery of a draft's first hunk, for what happens meanwhile."""
    ledger, rules = ReviewLedger(), rules_in(world)
    if isinstance(draft, EditDraft):
        (hunk,) = ledger.propose_edit(draft, rules)
    elif isinstance(draft, CreateDraft):
        hunk = ledger.propose_create(draft, rules)
    elif isinstance(draft, MoveDraft):
        hunk = ledger.propose_move(draft, rules)[0]
    else:
        hunk = ledger.propose_remove(draft, rules)
    assert still_allowed(world.snapshot(), hunk) is None
    happens()
    refusal = still_allowed(world.snapshot(), hunk)
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
def test_a_link_that_was_turned_meanwhile_holds_the_delivery_up(
    target: str, rule: str, tmp_path: Path
) -> None:
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


def test_a_file_that_got_another_name_is_not_written_without_a_word(tmp_path: Path) -> None:
    root = build(tmp_path)
    path, other = root / "notes/b.md", root / "notes/other.md"
    assert after(edit_of(path), world_at(root), lambda: other.hardlink_to(path)) == "protected"


def test_what_lies_at_a_new_place_meanwhile_holds_the_delivery_up(tmp_path: Path) -> None:
    root = build(tmp_path)
    world, new = world_at(root), root / "new.md"
    for draft in (creation(new), move(root / "a.md", new)):
        assert after(draft, world, lambda: new.write_text("theirs")) == "exists"
        new.unlink()


def test_rules_for_the_model_do_not_hold_up_a_users_yes(tmp_path: Path) -> None:
    root = build(tmp_path)
    world = world_at(root)
    ignore = root / "notes/.gitignore"
    assert after(edit_of(root / "notes/b.md"), world, lambda: ignore.write_text("*")) == ""


def test_to_take_back_what_was_made_it_may_lie_there(tmp_path: Path) -> None:
    root = build(tmp_path)
    world, ledger = world_at(root), ReviewLedger()
    made = ledger.propose_create(creation(root / "new.md"), rules_in(world))
    (root / "new.md").write_text("x\n")
    assert still_allowed(world.snapshot(), replace(made, state=HunkState.ACCEPTED)) is None


# -- names nobody thought of ---------------------------------------------------------------------


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
        if verdict(draft, rules) in ("", "protected"):
            assert trapped.resolve() in there.resolve().parents
            assert ".git" not in there.resolve().parts


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
        if verdict(each, rules) in ("", "protected"):
            path = path_of(uri)
            assert path is not None
            assert trapped.resolve() in path.resolve().parents
