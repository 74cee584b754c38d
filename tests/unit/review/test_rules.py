"""The gate refuses by rule and says which; what the model is told comes from the same rules."""

import pytest

from stet.review.drafts import CreateDraft, EditDraft
from stet.review.ledger import ReviewLedger
from stet.review.protected import is_protected
from stet.review.rules import EditRules, Refused, describe
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from tests.support.page import rules

OLD = "one\ntwo\n"


def rule_against(new: str, gate: EditRules, old: str = OLD) -> str | None:
    """Which rule refuses that `old` becomes `new`."""
    document = TextDocument("file:///ws/a.md", old, version=1)
    edit = TextEdit((Replacement(0, len(old), new),))
    draft = EditDraft(turn="t1", author="m", document=document, name="a.md", edit=edit, summary="s")
    ledger = ReviewLedger()
    try:
        ledger.propose_edit(draft, gate)
    except Refused as refused:
        return refused.refusal.rule if not ledger.hunks() else "kept all the same"
    return None


@pytest.mark.parametrize(
    ("new", "gate", "rule"),
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
def test_every_rule_of_editing_is_held(new: str, gate: EditRules, rule: str | None) -> None:
    assert rule_against(new, gate) == rule


def test_a_line_added_behind_a_last_one_without_end_only_adds() -> None:
    assert rule_against("one\ntwo", rules(can_delete=False), old="one") is None


@pytest.mark.parametrize(
    ("gate", "rule"),
    [
        (rules(), None),
        (rules(read_only=True), "mode"),
        (rules(editable=False), "edit.scope"),
        (rules(can_create=False), "edit.canCreate"),
        (rules(can_add=False, can_delete=False), None),
    ],
)
def test_every_rule_of_creating_is_held(gate: EditRules, rule: str | None) -> None:
    draft = CreateDraft(
        turn="t1", author="m", uri="file:///ws/b.md", name="b.md", text="b", summary="s"
    )
    broken: list[str | None] = []
    try:
        ReviewLedger().propose_create(draft, gate)
    except Refused as refused:
        broken.append(refused.refusal.rule)
    assert broken == ([rule] if rule else [])


def test_the_model_is_told_what_the_gate_will_hold() -> None:
    assert describe(rules()) == (
        "- You may propose edits to: the files shown to you, and those you have read in this turn."
    )
    told = describe(rules(scope="current", can_add=False, can_delete=False, can_create=False))
    assert told.splitlines() == [
        "- You may propose edits to: only the file that was active when the question was asked.",
        "- Forbidden: adding text (`edit.canAdd` is off).",
        "- Forbidden: replacing or deleting text (`edit.canDelete` is off).",
        "- Forbidden: creating files, also by position `create`.",
    ]
    assert "nothing may be changed" in describe(rules(read_only=True))


@pytest.mark.parametrize(
    "name",
    [
        ".git/hooks/pre-commit", ".GIT/config", "sub/.vscode/tasks.json", ".VSCode/Settings.json",
        ".stet.toml", "CLAUDE.md", "AGENTS.md", "sub/Makefile", "conftest.py", "package.json",
        "a.code-workspace", ".envrc", ".exrc", ".nvim.lua", ".idea/workspace.xml",
        "\uff0egit/config", ".g\u200bit/config", ".git::$INDEX_ALLOCATION/config", ".git./config",
        ".v\u017fcode/tasks.json",
    ],
)  # fmt: skip
def test_files_that_instruct_machines_are_protected_however_they_are_spelt(name: str) -> None:
    assert is_protected(name)


@pytest.mark.parametrize("name", ["src/app.py", "git/config", "notes/vscode.md", "", "makefile.md"])
def test_other_files_are_not_protected(name: str) -> None:
    assert not is_protected(name)


def test_a_link_to_a_protected_file_is_protected() -> None:
    draft = CreateDraft(
        turn="t1",
        author="m",
        uri="file:///ws/docs/ci.yml",
        name="docs/ci.yml",
        text="on: push\n",
        summary="s",
        real_name=".github/workflows/ci.yml",
    )
    assert ReviewLedger().propose_create(draft, rules()).protected
