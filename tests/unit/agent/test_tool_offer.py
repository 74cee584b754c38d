"""The tools that a model with the short prompt is offered, by the words of a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.agent.tool_offer import FIRST_TOOLS, ToolOffer, tools_called_for
from stet.agent.toolbox import TOOL_NAMES


@pytest.mark.parametrize(
    ("question", "tools"),
    [
        ("All calls of append_tag() share one list. Fix it.", ()),
        ("Rename the parameter size to n", ()),
        ("Add a docstring to the function", ()),
        ("Create a function in a.py that adds two numbers", ()),
        ("Add a parameter and delete the old one", ()),
        ("Create a file util.py", ("create_file",)),
        ("Write a test file for this", ("create_file",)),
        ("Put it into a new module", ("create_file",)),
        ("Erstelle eine Datei util.py", ("create_file",)),
        ("Rename a.py to b.py", ("move_file",)),
        ("Move this note to the folder archive", ("move_file",)),
        ("Verschiebe die Notiz ins Archiv", ("move_file",)),
        ("Delete the file old.md", ("delete_file",)),
        ("Is https://example.org/x still true?", ("read_webpage",)),
        ("Find the broken links", ("get_links", "find_dead_links")),
        ("Which notes are drafts?", ("query_files",)),
        ("Set the property status to done", ("get_properties", "update_properties")),
        ("Ask me before you start", ("ask_user",)),
    ],
)
def test_words_call_for_tools(question: str, tools: tuple[str, ...]) -> None:
    assert tools_called_for(question) == tools


@given(st.text(max_size=300), st.lists(st.sampled_from(sorted(TOOL_NAMES))))
def test_offer_only_grows_at_its_end(question: str, called: list[str]) -> None:
    offer = ToolOffer()
    for names in (tools_called_for(question), called):
        before = offer.names
        is_longer = offer.add(names)
        assert offer.names[: len(before)] == before
        assert is_longer == (len(offer.names) > len(before))
    assert len(set(offer.names)) == len(offer.names)
    assert offer.names[: len(FIRST_TOOLS)] == FIRST_TOOLS


@given(st.text(max_size=300))
def test_words_call_for_tools_that_exist(question: str) -> None:
    assert set(tools_called_for(question)) <= set(TOOL_NAMES)
