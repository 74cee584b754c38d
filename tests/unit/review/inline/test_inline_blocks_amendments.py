"""A block's new lines become others: by an amendment, or by typing in it."""

import pytest

from tests.support.inline_review_harness import CODE, MARKED, NOTE, shown, texts


@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_a_block_can_be_amended_and_its_undo_takes_the_amendment_back(uri: str) -> None:
    page = shown(uri)
    before = page.text
    page.amend(h1="zwei\nII\n", h2="sechs")
    assert [texts(hunk) for hunk in page.hunks] == [
        ("pending", "two\n", "zwei\nII\n", True),
        ("pending", "", "sechs\n", True),
    ]
    page.replace(before)
    assert [hunk.new for hunk in page.hunks] == ["2\n", "six\n"]
    assert page.ledger.blocks.rewrite(page.document, {"h1": "2\n", "h2": "six\n"}) is None


def test_an_amendment_that_no_block_can_show_waits_in_the_margin() -> None:
    page = shown()
    page.amend(h1="2\rII\r")
    assert page.text == MARKED.replace(MARKED[4 : MARKED.index("three")], "two\n")
    assert texts(page.hunk(1)) == ("pending", "two\n", "2\rII\r", False)
    page.accept("h1")
    assert page.text.startswith("one\n2\rII\rthree\n")


def test_what_is_typed_into_a_block_is_accepted_with_it() -> None:
    page = shown()
    page.edit("=======\n2\n", "=======\n2 and more\n")
    assert page.hunk(1).new == "2 and more\n"
    page.edit("six\n", "six\nseven\n")
    page.accept("h1", "h2")
    assert page.text == "one\n2 and more\nthree\nfour\nfive\nsix\nseven\n"


def test_what_is_typed_into_the_old_lines_stays_when_it_is_rejected() -> None:
    page = shown()
    page.edit("two\n", "two, mine\n")
    page.take_out("h1")
    assert page.text.startswith("one\ntwo, mine\nthree\n")
