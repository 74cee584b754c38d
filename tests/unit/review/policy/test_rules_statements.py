"""The rules that the model is sent are those that can refuse its edits."""

import ast
from pathlib import Path

import stet
from stet.review.policy.rules import EditRules, describe_policy, policy_sentences
from tests.support.hostile_workspace import ATTACKS, PROTECTED
from tests.support.review_harness import rules

SOURCES = [
    "review/policy/rules.py", "review/policy/authorization.py", "workspace/path_status.py", "workspace/names.py",
    "workspace/paths.py", "workspace/privacy_filter.py",
]  # fmt: skip
AT_DELIVERY = {"protected"}
"""Not for the model: it is reported to the user whose approval it stops."""


def rules_in_the_code() -> set[str]:
    """The first argument of every refusal that is made anywhere."""
    found = set()
    for name in SOURCES:
        for node in ast.walk(ast.parse((Path(stet.__file__).parent / name).read_text())):
            match node:
                case ast.Call(ast.Name("Refusal" | "PathRefused"), [ast.Constant(str(rule)), *_]):
                    found.add(rule)
    return found


def stated(edit_rules: EditRules) -> set[str]:
    """Return the rules that the model is sent."""
    return {rule for names in policy_sentences(edit_rules) for rule in names.split()}


OFF = {"can_add": False, "can_delete": False, "can_create": False, "can_navigate": False}


def test_every_rule_that_can_refuse_is_stated_and_no_other() -> None:
    everything = stated(rules(**OFF)) | stated(rules(read_only=True))
    assert everything == rules_in_the_code() - AT_DELIVERY


def test_every_stated_rule_refuses() -> None:
    # The others: capabilities and mode in test_rules, names of Windows and of several roots in test_paths.
    elsewhere = {"windows-name", "no-root", "ambiguous", "own", "mode"}
    refusing = {attack.rule for attack in ATTACKS} - {PROTECTED}
    assert refusing == stated(rules()) - elsewhere


def test_disabled_capability_is_stated() -> None:
    names = {"edit.canAdd", "edit.canDelete", "edit.canCreate", "edit.canNavigate"}
    assert stated(rules()) & names == set()
    assert stated(rules(**OFF)) & names == names


def test_turn_without_edits_gets_that_statement_only() -> None:
    assert describe_policy(rules(read_only=True)) == (
        "- You only answer: nothing may be changed in this turn."
    )


def test_the_model_reads_the_scope_first_and_then_what_is_forbidden() -> None:
    statements = describe_policy(rules(scope="current", can_add=False)).splitlines()
    assert statements[:2] == [
        "- You may propose edits to: only the file that was active when the question was asked. A "
        "new file must be in the folder of the active file.",
        "- Forbidden: adding text (`edit.canAdd` is off).",
    ]
    assert all(line.startswith("- ") and line.endswith(".") for line in statements)
    assert len("\n".join(statements)) < 2000
