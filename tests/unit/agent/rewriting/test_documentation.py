"""Which requests ask for documentation, so that the code stays as it is."""

import pytest

from stet.agent.rewriting.documentation import wants_documentation
from stet.agent.rewriting.rewrite_passage import RewritePassage
from stet.text.document import TextDocument
from stet.text.position import Position, Range


@pytest.mark.parametrize(
    ("request_text", "is_wanted"),
    [
        ("Document this", True),
        ("Please document the function.", True),
        ("Add a docstring to this function.", True),
        ("docstring", True),
        ("Docstring, please!", True),
        ("Write JSDoc for it", True),
        ("It is missing a comment.", True),
        ("Comment this code", True),
        ("Give the functions short docstrings", True),
        ("Ergänze einen Docstring.", True),
        ("Dokumentiere die Funktion", True),
        ("Lines that begin with a semicolon are comments, too.", False),
        ("It does not do what its docstring says. Fix it.", False),
        ("Remove the comments.", False),
        ("Translate the comments into English", False),
        ("parse() fails for a document without a title", False),
        ("Return the document instead of its name", False),
    ],
)
def test_wants_documentation(request_text: str, *, is_wanted: bool) -> None:
    document = TextDocument("file:///ws/a.py", "def f():\n    return 1\n", language_id="python")
    whole = Range(Position(0, 0), Position(2, 0))
    passage = RewritePassage.of(document, "a.py", whole, request_text)
    assert wants_documentation(passage) is is_wanted
