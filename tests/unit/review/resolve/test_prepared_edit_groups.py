"""Which hunks of a proposal are one decision."""

from textwrap import dedent

import pytest

from stet.outline.indent_outline import Style
from stet.review.ledger import ReviewLedger
from stet.review.proposal import EditDraft
from stet.review.resolve.prepared_edit import group_label, prepare_draft, section_key, style_of
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.position import Position, Range
from tests.support.review_harness import ReviewHarness, rules

SHAPES = dedent(
    """\
    import math

    class Shape:
        def area(self):
            x = 1
            return x

        def name(self):
            return "shape"
    """
)


def document(text: str = SHAPES, uri: str = "file:///ws/a.py", language: str = "") -> TextDocument:
    """A text of the workspace."""
    return TextDocument(uri, text, 1, language)


def lines(first: int, end: int) -> Range:
    """Whole lines, 0-based."""
    return Range(Position(first, 0), Position(end, 0))


def test_hunks_in_one_function_share_a_group_that_names_it() -> None:
    groups = [section_key(document(), lines(n, n + 1)) for n in (4, 5, 3)]
    assert groups == [":Shape.area"] * 3
    assert group_label(groups[0]) == "Shape.area"


def test_another_proposal_has_groups_of_its_own() -> None:
    ledger = ReviewLedger()
    for turn, place in (("t1", 0), ("t2", 55)):
        draft = EditDraft(
            turn=turn, author="m", document=document(), name="a.py", summary="s",
            edit=TextEdit((Replacement(place, place + 1, "q"),)),
        )  # fmt: skip
        _ = ledger.propose(prepare_draft(draft, rules()))
    assert {hunk.group for hunk in ledger.hunks()} == {"p1@h1", "p2:Shape.area"}


def test_hunk_outside_of_all_symbols_has_its_own_group() -> None:
    assert section_key(document(), lines(0, 1)) == ""
    assert group_label("p3@h1") is None
    assert group_label("p3") is None


def test_a_hunk_over_two_functions_belongs_to_neither() -> None:
    assert section_key(document(), lines(5, 8)) == ""


def test_addition_belongs_to_the_symbol_of_its_indent() -> None:
    at = lines(6, 6)
    assert section_key(document(), at, "\n        # Done.\n") == ":Shape.area"
    assert section_key(document(), at, "    side = 1\n") == ":Shape"
    assert section_key(document(), at, "def other():\n    pass\n") == ""


def test_hunks_in_a_markdown_section_share_a_group() -> None:
    page = document("# Guide\n\nOne.\n\n## Install\n\nTwo.\n", "file:///ws/a.md")
    assert section_key(page, lines(2, 3)) == ":Guide"
    assert section_key(page, lines(6, 7)) == ":Guide > Install"
    assert section_key(page, lines(4, 4), "More.\n") == ":Guide"


@pytest.mark.parametrize(
    ("uri", "language", "style"),
    [
        ("file:///a.py", "", Style.CODE),
        ("file:///a.MD", "", Style.MARKDOWN),
        ("untitled:Untitled-1", "markdown", Style.MARKDOWN),
        ("file:///a.txt", "python", Style.CODE),
        ("file:///a.txt", "", Style.PLAIN),
        ("file:///README", "", Style.PLAIN),
        ("file:///a.txt", "plaintext", Style.PLAIN),
    ],
)
def test_the_editors_language_decides_before_the_name(
    uri: str, language: str, style: Style
) -> None:
    assert style_of(document("", uri, language)) is style


JAVA = """\
class A {
    void add(int x) {
        one();
    }

    void sub(int x) {
        two();
    }

    void add(String x) {
        three();
    }
}
"""
PROPERTY = """\
class A:
    @property
    def v(self):
        return 1

    def other(self):
        return 0

    @v.setter
    def v(self, x):
        self.x = 1
"""
INSTALL = "# T\n\n## Install\n\na\n\n## Use\n\nb\n\n## Install\n\nc\n"


@pytest.mark.parametrize(
    ("uri", "text", "first", "second", "label"),
    [
        ("file:///ws/A.java", JAVA, 2, 10, "A.add"),
        ("file:///ws/a.py", PROPERTY, 3, 10, "A.v"),
        ("file:///ws/a.md", INSTALL, 4, 12, "T > Install"),
    ],
)
def test_symbols_of_the_same_name_have_different_groups(
    uri: str, text: str, first: int, second: int, label: str
) -> None:
    one, other = (section_key(document(text, uri), lines(n, n + 1)) for n in (first, second))
    assert one == f":{label}"
    assert other == f"@2:{label}"
    assert group_label(f"p1{other}") == label


def test_hunks_outside_of_all_symbols_have_different_groups_when_lines_move() -> None:
    page = ReviewHarness("a\nb\nc\nd\ne\n", "file:///ws/a.py")
    page.propose("a\nB\nc\nd\ne\n")
    page.type(0, 0, 0, 0, "n1\nn2\n")
    page.propose(page.text.replace("n2\n", "N2\n"))
    assert len({hunk.group for hunk in page.hunks}) == 2
