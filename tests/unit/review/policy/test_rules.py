"""The policy check refuses by rule and names it; the statements for the model come from the same
rules.
"""

from dataclasses import replace

import pytest

from stet.review.ledger import ReviewLedger
from stet.review.policy.authorization import authorize
from stet.review.policy.protected_files import is_protected
from stet.review.policy.rules import EditRules, ProposalRefused, check_open
from stet.review.proposal import CreateDraft, Draft, EditDraft, MoveDraft, RemoveDraft
from stet.review.resolve.prepared_edit import prepare_draft
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.workspace.path_status import PathStatus
from tests.support.review_harness import rules

OLD = "one\ntwo\n"


def rule_against(new: str, edit_rules: EditRules, old: str = OLD) -> str | None:
    """Which rule refuses that `old` becomes `new`."""
    document = TextDocument("file:///ws/a.md", old, version=1)
    edit = TextEdit((Replacement(0, len(old), new),))
    draft = EditDraft(turn="t1", author="m", document=document, name="a.md", edit=edit, summary="s")
    ledger = ReviewLedger()
    try:
        ledger.propose(prepare_draft(draft, edit_rules))
    except ProposalRefused as refused:
        return refused.refusal.rule if not ledger.hunks() else "kept all the same"
    return None


@pytest.mark.parametrize(
    ("new", "edit_rules", "rule"),
    [
        ("one\n2\n", rules(), None),
        ("one\n2\n", rules(read_only=True), "mode"),
        ("one\n2\n", rules(editable=False), "edit.scope"),
        ("one\n2\n", rules(can_delete=False), "edit.canDelete"),
        ("one\n", rules(can_delete=False), "edit.canDelete"),
        ("one\nnew\ntwo\n", rules(can_delete=False), None),
        ("one more\ntwo\n", rules(can_delete=False), None),
        ("one more\ntwo more\n", rules(can_delete=False), None),
        ("one more\n2 and more\n", rules(can_delete=False), "edit.canDelete"),
        ("one\nnew\ntwo\n", rules(can_add=False), "edit.canAdd"),
        ("one more\ntwo\n", rules(can_add=False), "edit.canAdd"),
        ("one\n2\n", rules(can_add=False), None),
        ("one\n", rules(can_add=False), None),
    ],
)
def test_every_rule_of_editing_is_held(new: str, edit_rules: EditRules, rule: str | None) -> None:
    assert rule_against(new, edit_rules) == rule


def test_line_added_after_a_last_line_without_an_end_is_an_addition() -> None:
    assert rule_against("one\ntwo", rules(can_delete=False), old="one") is None


@pytest.mark.parametrize(
    ("edit_rules", "rule"),
    [
        (rules(), None),
        (rules(read_only=True), "mode"),
        (rules(editable=False), "edit.scope"),
        (rules(can_create=False), "edit.canCreate"),
        (rules(can_add=False, can_delete=False), None),
    ],
)
def test_every_rule_of_creating_is_held(edit_rules: EditRules, rule: str | None) -> None:
    draft = CreateDraft(
        turn="t1", author="m", uri="file:///ws/b.md", name="b.md", text="b", summary="s"
    )
    broken: list[str | None] = []
    try:
        ReviewLedger().propose(prepare_draft(draft, edit_rules))[0]
    except ProposalRefused as refused:
        broken.append(refused.refusal.rule)
    assert broken == ([rule] if rule else [])


@pytest.mark.parametrize(
    ("edit_rules", "rule"),
    [
        (rules(), None),
        (rules(read_only=True), "mode"),
        (rules(editable=False), "edit.scope"),
        (rules(can_create=False), "edit.canCreate"),
        (rules(can_add=False, can_delete=False), None),
    ],
)
def test_every_rule_of_moving_is_held(edit_rules: EditRules, rule: str | None) -> None:
    draft = MoveDraft(
        turn="t1",
        author="m",
        uri="file:///ws/a.md",
        name="a.md",
        new_uri="file:///ws/b.md",
        new_name="b.md",
        summary="s",
    )
    assert rule_of(draft, edit_rules) == rule


@pytest.mark.parametrize(
    ("linked_from", "changed", "rule"),
    [
        ((), {}, "edit.scope"),
        (("file:///ws/read.md",), {}, None),
        (("file:///ws/read.md", "file:///ws/other.md"), {}, "edit.scope"),
        (("file:///ws/read.md",), {"holds_text": True}, "edit.scope"),
        (("file:///ws/read.md",), {"uri": "file:///elsewhere/a.png"}, "edit.scope"),
        (("file:///ws/read.md",), {"scope": "linked"}, "edit.scope"),
    ],
)
def test_a_file_without_text_moves_when_all_that_link_to_it_are_read(
    linked_from: tuple[str, ...], changed: dict[str, object], rule: str | None
) -> None:
    changes = {"scope": "context"} | changed
    edit_rules = replace(
        rules(scope=changes.pop("scope")),
        editable=lambda uri: uri == "file:///ws/read.md",
        may_create=lambda uri: uri.startswith("file:///ws/"),
    )
    draft = MoveDraft(
        turn="t1",
        author="m",
        uri="file:///ws/a.png",
        name="a.png",
        new_uri="file:///ws/b.png",
        new_name="b.png",
        summary="s",
        holds_text=False,
        linked_from=linked_from,
    )
    assert rule_of(replace(draft, **changes), edit_rules) == rule  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("edit_rules", "rule"),
    [
        (rules(), None),
        (rules(read_only=True), "mode"),
        (rules(editable=False), "edit.scope"),
        (rules(can_delete=False), "edit.canDelete"),
        (rules(can_add=False, can_create=False), None),
    ],
)
def test_every_rule_of_removing_is_held(edit_rules: EditRules, rule: str | None) -> None:
    draft = RemoveDraft(
        turn="t1", author="m", uri="file:///ws/a.md", name="a.md", text=OLD, summary="s"
    )
    assert rule_of(draft, edit_rules) == rule


def rule_of(draft: Draft, edit_rules: EditRules) -> str | None:
    """Which rule is against a draft."""
    try:
        authorize(draft, edit_rules)
    except ProposalRefused as refused:
        return refused.refusal.rule
    return None


@pytest.mark.parametrize(
    ("edit_rules", "rule"),
    [(rules(), None), (rules(can_navigate=False), "edit.canNavigate")],
)
def test_the_rule_of_opening_is_held(edit_rules: EditRules, rule: str | None) -> None:
    refusal = check_open(edit_rules, "a.md", "file:///ws/a.md")
    assert (refusal and refusal.rule) == rule


@pytest.mark.parametrize(
    ("new", "rule"),
    [
        ("one\ntwo\0\n", "text"),
        ("one\n\udc80two\n", "text"),
        ("one\ntwo\n" + "x" * 5_000_001, "text"),
        ("one\r\ntwo\x1b\f\n", None),
    ],
)
def test_text_that_no_file_can_hold_is_refused(new: str, rule: str | None) -> None:
    assert rule_against(new, rules()) == rule


def test_text_already_in_the_file_is_allowed() -> None:
    assert rule_against("one\n2 \0\n", rules(), old="one\ntwo \0\n") is None
    assert rule_against("1 \0\ntwo \udc80\n", rules(), old="one \0\ntwo\n") == "text"


@pytest.mark.parametrize(
    "name",
    [
        ".git/hooks/pre-commit", ".GIT/config", "sub/.vscode/tasks.json", ".VSCode/Settings.json",
        ".stet.toml", "CLAUDE.md", "AGENTS.md", "sub/Makefile", "conftest.py", "package.json",
        "a.code-workspace", ".envrc", ".exrc", ".nvim.lua", ".idea/workspace.xml",
        "\uff0egit/config", ".g\u200bit/config", ".git::$INDEX_ALLOCATION/config", ".git./config",
        ".v\u017fcode/tasks.json", ".vs\u0441\u043ede/tasks.json", ".vscode\ufe0f/x", "a/.ESLINTRC.cjs",
        "sub/build.gradle.kts", "x.pth", ".husky/pre-commit", "bare/HEAD", ".stet.toml.", "Makefile ",
    ],
)  # fmt: skip
def test_files_that_instruct_machines_are_protected_however_they_are_spelt(name: str) -> None:
    assert is_protected(name)


@pytest.mark.parametrize(
    "name",
    [
        "src/app.py",
        "git/config",
        "notes/vscode.md",
        "",
        "makefile.md",
        "heading.md",
        "src/build.py",
        "agents/a.md",
        "\u043f\u0440\u0438\u0432\u0435\u0442.md",
        "config/a.toml",
        "package.json.md",
    ],
)
def test_other_files_are_not_protected(name: str) -> None:
    assert not is_protected(name)


def test_a_link_to_a_protected_file_is_protected_whatever_the_draft_calls_it() -> None:
    draft = CreateDraft(
        turn="t1",
        author="m",
        uri="file:///ws/docs/ci.yml",
        name="docs/ci.yml",
        text="on: push\n",
        summary="s",
    )
    leads = PathStatus(("docs/ci.yml", ".github/workflows/ci.yml"))
    linked = replace(rules(), path_status=lambda uri: leads)
    assert ReviewLedger().propose(prepare_draft(draft, linked))[0].protected
    assert not ReviewLedger().propose(prepare_draft(draft, rules()))[0].protected
