"""Definitions that a grammar finds: their order."""

from stet.outline.grammar_definitions import definitions_by_grammar


def test_definitions_on_one_line_are_in_order_of_place() -> None:
    names = [f"{letter}{n}" for n in range(4) for letter in "moor"]
    text = " ".join(f"namespace {name} {{ }}" for name in names)
    found = definitions_by_grammar(f"{text}\n", ".cpp")
    assert found is not None
    assert [each.name for each in found] == names
