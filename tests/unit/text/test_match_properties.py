"""Edits that a model gets slightly wrong end as a person would expect, or are refused."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.text.buffer import TextBuffer
from stet.text.encoding import Encoding
from stet.text.match import find_block
from stet.text.match_result import MatchError, MatchKind
from stet.text.normalized_text import BOM, ShownText
from tests.support.model_edits import FILE_FORMS, is_plainly_unique, perturbed
from tests.support.naive_text import NASTY

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", FILE_FORMS)
def test_a_block_is_replaced_at_its_place_or_refused_and_found_if_unique(kind: str) -> None:
    rng = random.Random(kind)
    n_found = 0
    for _ in range(400):
        case = perturbed(rng, kind)
        try:
            match = find_block(case.live, case.old, case.new)
        except MatchError:
            assert not is_plainly_unique(case), case
            continue
        assert match.edit.apply(case.live) == case.expected, case
        n_found += 1
    assert n_found > 200


@pytest.mark.parametrize("kind", FILE_FORMS)
def test_a_block_is_found_though_the_user_types_meanwhile(kind: str) -> None:
    rng = random.Random(kind)
    n_found = 0
    for _ in range(300):
        case = perturbed(rng, kind)
        buffer, wanted = TextBuffer(case.live), TextBuffer(case.expected)
        grown = len(wanted.lines) - len(buffer.lines)
        changes = []
        for _ in range(3):
            above = rng.random() < 0.5 or case.first + case.n > 20
            line, text = (0 if above else 22), rng.choice(("typed", "typed\n", case.old[:9]))
            changes.append(buffer.splice(line, 0, line, 0, text, Encoding.UTF16))
            shift = 0 if above else grown
            wanted.splice(line + shift, 0, line + shift, 0, text, Encoding.UTF16)
            if above and case.first == 0:
                break
        if case.first == 0 and not changes[-1].text.endswith("\n"):
            continue  # typed into the block itself
        try:
            match = find_block(
                buffer.text, case.old, case.new, ShownText(case.live, tuple(changes))
            )
        except MatchError:
            continue
        assert match.edit.apply(buffer.text) == wanted.text, case
        n_found += 1
    assert n_found > 100


pieces = st.lists(
    st.sampled_from((*NASTY, "a\n", "b \n", "  a\n", "\tb\r\n", "“", '"')), max_size=9
)
nasty = pieces.map("".join)


def plainly(text: str) -> str:
    return text.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n")


def forgets_its_line_end(head: str, old: str, new: str) -> bool:
    """Whether whole lines are replaced by a text that lacks the last line end."""
    whole = old.endswith("\n") and old.strip() and not head.rpartition("\n")[2].strip()
    return bool(whole and new) and not new.endswith("\n")


@given(live=nasty, old=nasty, new=nasty, start=st.integers(0, 9), length=st.integers(1, 9))
@settings(max_examples=250, deadline=None)
def test_any_text_is_edited_at_its_one_place_or_refused(
    live: str, old: str, new: str, start: int, length: int
) -> None:
    for wanted in (old, live[start : start + length]):
        try:
            match = find_block(live, wanted, new)
        except MatchError:
            continue
        after = match.edit.apply(live)
        assert after != live
        if match.kind is MatchKind.EXACT and plainly(wanted):
            head, found, tail = plainly(live).partition(plainly(wanted))
            assert found
            assert plainly(wanted) not in found[1:] + tail
            expected_text = plainly(new)
            if forgets_its_line_end(head, plainly(wanted), expected_text):
                expected_text += "\n"
            # The next first character may be another such character, which is text.
            assert (
                plainly(f"x{after}")
                == f"x{live[: live.startswith(BOM)]}{head}{expected_text}{tail}"
            )
        else:
            assert len(after) <= len(live) + len(new) * 4


@given(
    live=nasty, edits=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), nasty)), new=nasty
)
@settings(max_examples=150, deadline=None)
def test_what_was_shown_is_never_edited_where_it_was_not(
    live: str, edits: list[tuple[int, int, str]], new: str
) -> None:
    """A block that was shown once and not touched since is edited there and nowhere else."""
    marked = live + "\nTHE BLOCK\n" + live
    buffer = TextBuffer(marked)
    changes = tuple(
        buffer.splice(line, 0, line, units, text, Encoding.UTF16) for line, units, text in edits
    )
    now = buffer.text
    try:
        match = find_block(
            now, "THE BLOCK", "DONE" + new.replace("\r", ""), ShownText(marked, changes)
        )
    except MatchError:
        assert now.count("THE BLOCK") != 1 or "\r" in now
        return
    assert plainly(match.edit.apply(now)) == plainly(now).replace(
        "THE BLOCK", "DONE" + new.replace("\r", ""), 1
    )
