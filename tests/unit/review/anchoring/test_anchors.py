"""Hunks keep their place while the user types, break where it is gone, and come back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.review.proposal import HunkState
from stet.text.change import TextChange
from stet.text.diff import changes_between
from stet.text.edit import Replacement, TextEdit
from stet.text.position import Position, Range
from tests.support.page import Page

OLD = "one\ntwo\nthree\nfour\nfive\n"
REPLACED = "one\ntwo\nTHREE\nfour\nfive\n"
ADDED = "one\ntwo\nnew\nthree\nfour\nfive\n"
DELETED = "one\ntwo\nfour\nfive\n"


@pytest.mark.parametrize(
    ("typed", "accepted"),
    [
        ((0, 0, 0, 0, "zero\n"), "zero\none\ntwo\nTHREE\nfour\nfive\n"),
        ((0, 1, 0, 2, ""), "oe\ntwo\nTHREE\nfour\nfive\n"),
        ((4, 0, 5, 0, ""), "one\ntwo\nTHREE\nfour\n"),
        ((2, 0, 2, 0, "at the first edge\n"), "one\ntwo\nat the first edge\nTHREE\nfour\nfive\n"),
        ((3, 0, 3, 0, "at the last edge\n"), "one\ntwo\nTHREE\nat the last edge\nfour\nfive\n"),
        ((1, 0, 2, 0, ""), "one\nTHREE\nfour\nfive\n"),
        ((3, 0, 4, 0, ""), "one\ntwo\nTHREE\nfive\n"),
        ((0, 0, 2, 0, "2\n"), "2\nTHREE\nfour\nfive\n"),
    ],
)
def test_a_replacement_follows_what_is_typed_around_it(
    typed: tuple[int, int, int, int, str], accepted: str
) -> None:
    page = Page(OLD)
    page.propose(REPLACED)
    page.type(*typed)
    assert page.states == ["pending"]
    page.accept()
    assert (page.text, page.states) == (accepted, ["accepted"])


@pytest.mark.parametrize(
    ("typed", "accepted"),
    [
        ((0, 0, 0, 0, "zero\n"), "zero\none\ntwo\nnew\nthree\nfour\nfive\n"),
        ((2, 0, 2, 0, "mine\n"), "one\ntwo\nnew\nmine\nthree\nfour\nfive\n"),
        ((1, 3, 1, 3, "\nmine"), "one\ntwo\nnew\nmine\nthree\nfour\nfive\n"),
        ((1, 0, 2, 0, ""), "one\nnew\nthree\nfour\nfive\n"),
        ((2, 0, 3, 0, ""), "one\ntwo\nnew\nfour\nfive\n"),
    ],
)
def test_an_insertion_follows_what_is_typed_around_it(
    typed: tuple[int, int, int, int, str], accepted: str
) -> None:
    page = Page(OLD)
    page.propose(ADDED)
    page.type(*typed)
    page.accept()
    assert (page.text, page.states) == (accepted, ["accepted"])


@pytest.mark.parametrize("proposed", [REPLACED, DELETED])
def test_typing_inside_makes_a_conflict_and_undoing_it_makes_it_pending_again(
    proposed: str,
) -> None:
    page = Page(OLD)
    page.propose(proposed)
    page.type(2, 2, 2, 2, "x")
    (hunk,) = page.hunks
    assert hunk.state is HunkState.CONFLICT
    assert hunk.reason == "you have changed the text it was made for"
    page.type(2, 2, 2, 3, "")
    assert page.states == ["pending"]
    page.accept()
    assert page.text == proposed


def test_lines_deleted_with_the_hunk_and_brought_back_bring_it_back() -> None:
    page = Page(OLD)
    page.propose(REPLACED)
    page.type(1, 0, 4, 0, "")
    assert page.states == ["conflict"]
    page.type(1, 0, 1, 0, "two\nthree\nfour\n")
    assert page.states == ["pending"]
    page.accept()
    assert page.text == REPLACED


@pytest.mark.parametrize(
    ("typed", "undone"),
    [
        ((1, 0, 4, 0, ""), (1, 0, 1, 0, "two\nthree\nfour\n")),
        ((1, 3, 2, 0, ""), (1, 3, 1, 3, "\n")),
        ((1, 1, 2, 1, "x"), (1, 1, 1, 2, "wo\nt")),
    ],
)
def test_an_insertion_whose_surroundings_are_gone_is_a_conflict_until_they_are_back(
    typed: tuple[int, int, int, int, str], undone: tuple[int, int, int, int, str]
) -> None:
    page = Page(OLD)
    page.propose(ADDED)
    page.type(*typed)
    assert page.states == ["conflict"]
    page.type(*undone)
    assert (page.text, page.states) == (OLD, ["pending"])
    page.accept()
    assert page.text == ADDED


def test_text_typed_at_the_edges_of_a_conflict_does_not_keep_it_one() -> None:
    page = Page(OLD)
    page.propose(REPLACED)
    page.type(2, 2, 2, 2, "x")
    page.type(2, 0, 2, 0, "before\n")
    page.type(4, 0, 4, 0, "behind\n")
    page.type(3, 2, 3, 3, "")
    assert page.states == ["pending"]
    page.accept()
    assert page.text == "one\ntwo\nbefore\nTHREE\nbehind\nfour\nfive\n"


@pytest.mark.parametrize(
    ("typed", "accepted"),
    [
        # `    a1` is deleted; the common beginning of the two lines makes the cut go through both.
        ((0, 5, 1, 5, ""), "    A2\n    a3\n"),
        # `    b` is written above; again the smallest difference begins inside the hunk's line.
        ((1, 4, 1, 4, "b\n    "), "    a1\n    b\n    A2\n    a3\n"),
        # `    a3` is deleted, from the end of the hunk's last line on.
        ((1, 6, 2, 6, ""), "    a1\n    A2\n"),
    ],
)
def test_a_change_of_the_lines_beside_it_may_be_cut_through_its_own(
    typed: tuple[int, int, int, int, str], accepted: str
) -> None:
    page = Page("    a1\n    a2\n    a3\n")
    page.propose("    a1\n    A2\n    a3\n")
    page.type(*typed)
    assert page.states == ["pending"]
    page.accept()
    assert page.text == accepted


@pytest.mark.parametrize(
    ("typed", "accepted"),
    [
        ((0, 5, 1, 5, ""), "    new\n    a2\n"),
        ((0, 6, 0, 6, "\n    b"), "    a1\n    new\n    b\n    a2\n"),
    ],
)
def test_a_change_of_the_lines_beside_an_insertion_may_be_cut_through_its_place(
    typed: tuple[int, int, int, int, str], accepted: str
) -> None:
    page = Page("    a1\n    a2\n")
    page.propose("    a1\n    new\n    a2\n")
    page.type(*typed)
    assert page.states == ["pending"]
    page.accept()
    assert page.text == accepted


@pytest.mark.parametrize("typed", [(2, 0, 2, 0, "x"), (1, 3, 2, 0, ""), (2, 5, 2, 5, "x")])
def test_typing_at_the_ends_of_the_word_that_is_replaced_is_a_conflict(
    typed: tuple[int, int, int, int, str],
) -> None:
    page = Page(OLD)
    page.propose(REPLACED)
    page.type(*typed)
    assert page.states == ["conflict"]


def test_typing_in_other_words_of_the_line_is_kept() -> None:
    page = Page("total = price * count\n")
    page.propose("total = price * amount\n")
    page.type(0, 0, 0, 5, "grand_total")
    (hunk,) = page.hunks
    assert (hunk.state, hunk.old, hunk.new) == (
        "pending",
        "grand_total = price * count\n",
        "grand_total = price * amount\n",
    )
    page.accept()
    assert page.text == "grand_total = price * amount\n"


def test_the_old_line_written_again_behind_itself_stays_outside() -> None:
    page = Page("a\nb\nc\n")
    page.propose("a\nB\nc\n")
    page.type(1, 1, 1, 1, "\nb")
    page.accept()
    assert page.text == "a\nB\nb\nc\n"


def test_the_whole_text_coming_anew_is_followed_by_its_difference() -> None:
    page = Page(OLD)
    page.propose(REPLACED)
    page.replace("zero\n" + OLD.replace("five", "5"))
    page.accept()
    assert page.text == "zero\n" + REPLACED.replace("five", "5")


@pytest.mark.parametrize(
    ("typed", "accepted"),
    [
        ((1, 0, 2, 0, ""), "gap\nnew\ngap\n"),
        ((2, 0, 3, 0, ""), "gap\ngap\nnew\n"),
        ((0, 3, 1, 3, ""), "gap\nnew\ngap\n"),
        ((1, 0, 1, 0, "gap\n"), "gap\ngap\ngap\nnew\ngap\n"),
        ((1, 3, 1, 3, "\ngap"), "gap\ngap\nnew\ngap\ngap\n"),
    ],
)
def test_an_insertion_among_lines_that_read_alike_stays_between_those_it_was_made_for(
    typed: tuple[int, int, int, int, str], accepted: str
) -> None:
    page = Page("gap\ngap\ngap\n")
    page.propose("gap\ngap\nnew\ngap\n")
    page.type(*typed)
    page.accept()
    assert page.text == accepted


def test_a_last_line_without_end_is_followed() -> None:
    page = Page("a\nb")
    page.propose("a\nB")
    page.type(1, 1, 1, 1, "\n")
    assert page.states == ["pending"]
    page.accept()
    assert page.text == "a\nB\n"


LINE = st.sampled_from(["", "a", "  a", "  ab", "b", "é🙂"])
GAP = st.lists(LINE, max_size=4)
CHANGED = st.tuples(st.lists(LINE, max_size=3), st.lists(LINE, max_size=3))


@st.composite
def pairs(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Stretches of a text, each with what it is to become: gaps, which stay, and hunks, in turn."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    stretches: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(1, 4))):
        gap = "".join(line + end for line in draw(GAP)) + f"gap{end}"
        old, new = (tuple("".join(line + end for line in side)) for side in draw(CHANGED))
        stretches += [(gap, gap), ("".join(old), "".join(new))]
    return [*stretches, (f"gap{end}", f"gap{end}")]


@settings(max_examples=300, deadline=None)
@given(pairs(), st.data())
def test_edits_outside_the_hunks_end_in_both_texts(
    stretches: list[tuple[str, str]], data: st.DataObject
) -> None:
    page = Page("".join(old for old, _ in stretches))
    for number in range(1, len(stretches), 2):
        start = sum(len(old) for old, _ in stretches[:number])
        old, new = stretches[number]
        _propose_one(page, Replacement(start, start + len(old), new))
    # Keep what the ledger made of it: hunks of whole lines, with what stays between them.
    stretches = _stretches(page)
    for _ in range(data.draw(st.integers(0, 6))):
        number = data.draw(st.integers(0, len(stretches) // 2)) * 2
        gap = stretches[number][0]
        start = data.draw(st.integers(0, len(gap)))
        end = data.draw(st.integers(start, min(len(gap), start + 8)))
        text = data.draw(st.sampled_from(["", "x", "y\n", "\nz", "  a\n", "🙂"]))
        changed = gap[:start] + text + gap[end:]
        if not _is_allowed(stretches, number, start, end, changed):
            continue
        offset = sum(len(old) for old, _ in stretches[:number])
        document = page.document
        place = Range(document.position_at(offset + start), document.position_at(offset + end))
        page.type(
            place.start.line, place.start.character, place.end.line, place.end.character, text
        )
        stretches[number] = (changed, changed)
        assert page.text == "".join(old for old, _ in stretches)
    assert set(page.states) <= {"pending"}
    ids = [hunk.id for hunk in page.hunks]
    order = data.draw(st.permutations(ids))
    for group in data.draw(st.sampled_from([[ids], [[each] for each in order]])):
        if group:
            page.accept(*group)
    assert page.text == "".join(new for _, new in stretches)
    assert set(page.states) <= {"accepted"}


def _propose_one(page: Page, replacement: Replacement) -> None:
    text = TextEdit((replacement,)).apply(page.text)
    if text != page.text:
        page.propose(text)


def _stretches(page: Page) -> list[tuple[str, str]]:
    found, done = [], 0
    for hunk in page.hunks:
        start = page.document.offset_at(hunk.range.start)
        gap = page.text[done:start]
        found += [(gap, gap), (hunk.old, hunk.new)]
        done = start + len(hunk.old)
    return [*found, (page.text[done:], page.text[done:])]


def _is_allowed(
    stretches: list[tuple[str, str]], number: int, start: int, end: int, changed: str
) -> bool:
    """Whether the edit leaves no doubt about what is meant: it is one of the gap's own lines."""
    gap = stretches[number][0]
    torn = "\r" in (gap[start - 1 : start], gap[end - 1 : end]) or "\r" in gap[start:end]
    is_last = number + 1 == len(stretches)
    last_line = gap.splitlines(keepends=True)[-1] if gap else ""
    keeps_last = end <= len(gap) - len(last_line) and changed.endswith("\n" + last_line)
    old, new = stretches[number - 1] if number else ("", "")
    by_hand = old == "" != new and changed.startswith(new)  # then nothing is left to insert
    return (
        bool(gap) and not torn and not by_hand and (is_last or keeps_last or changed == last_line)
    )


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whole_lines_put_in_or_taken_out_beside_them_never_break_hunks_however_they_are_cut(
    data: st.DataObject,
) -> None:
    lines = [f"    line {n}\n" for n in range(12)]
    hunks = data.draw(st.sets(st.sampled_from(range(0, 12, 2)), min_size=1, max_size=3))
    page = Page("".join(lines))
    page.propose("".join("    new\n" if n in hunks else line for n, line in enumerate(lines)))
    for step in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(lines)))
        if at < len(lines) and lines[at] not in {f"    line {n}\n" for n in hunks}:
            lines = lines[:at] + lines[at + 1 :]
        else:
            lines = [*lines[:at], f"    typed {step}\n", *lines[at:]]
        page.apply(_smallest(page.text, "".join(lines)))
    page.accept()
    wanted = {f"    line {n}\n" for n in hunks}
    assert page.text == "".join("    new\n" if line in wanted else line for line in lines)


def _smallest(old: str, new: str) -> TextChange:
    """One change without what both texts begin and end with: what many editors report."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    place = Range(_at(old, head), _at(old, len(old) - tail))
    return TextChange(place, new[head : len(new) - tail])


def _at(text: str, offset: int) -> Position:
    before = text[:offset]
    return Position(before.count("\n"), len(before) - before.rfind("\n") - 1)


def test_the_change_between_two_texts_is_what_an_editor_would_send() -> None:
    assert changes_between("a\nb\n", "a\nc\n") == (_smallest("a\nb\n", "a\nc\n"),)


def test_a_last_line_taken_over_the_users_text_does_not_run_into_lines_written_behind() -> None:
    page = Page("a\nold")
    (hunk,) = page.propose("a\nnew")
    page.type(1, 3, 1, 3, "\nlast\n")
    page.type(1, 0, 1, 3, "mine")
    assert page.states == ["conflict"]
    page.ledger.take_theirs(hunk.id)
    page.accept()
    assert page.text == "a\nnew\nlast\n"


def test_an_insertion_behind_a_last_line_that_lost_its_end_takes_that_line_along() -> None:
    page = Page("a\nb\n")
    (hunk,) = page.propose("a\nb\nc\n")
    page.type(1, 1, 2, 0, "")
    assert (page.text, page.states) == ("a\nb", ["conflict"])
    page.ledger.take_theirs(hunk.id)
    page.accept()
    assert (page.text, page.states) == ("a\nb\nc", ["accepted"])


def test_an_insertion_behind_an_empty_line_that_is_gone_is_not_found_behind_the_end_of_the_text() -> (
    None
):
    page = Page("a\n\n")
    page.propose("a\n\nnew\n")
    page.type(0, 0, 2, 0, "b")
    page.type(0, 1, 0, 1, "\n")
    assert (page.text, page.states) == ("b\n", ["conflict"])
    page.type(1, 0, 1, 0, "\n")
    assert (page.text, page.states) == ("b\n\n", ["pending"])
    page.accept()
    for text, state in (("b\n\n", "undone"), ("b\n\nnew\n", "accepted")):
        page.replace(text)
        assert (page.text, page.states) == (text, [state])


def test_an_insertion_found_again_between_lines_with_other_ends_takes_their_ends() -> None:
    page = Page("a\nb\n")
    page.propose("a\nnew\nb\n")
    page.replace("x\r\na\r\nb\r\n")
    assert page.states == ["pending"]
    page.accept()
    assert page.text == "x\r\na\r\nnew\r\nb\r\n"


def test_a_block_deleted_with_three_hunks_in_it_and_brought_back_brings_all_back() -> None:
    page = Page("".join(f"line {n}\n" for n in range(9)))
    page.propose("".join(f"LINE {n}\n" if n in {2, 4, 6} else f"line {n}\n" for n in range(9)))
    before = page.text
    page.type(1, 0, 8, 0, "")
    assert page.states == ["conflict"] * 3
    page.type(1, 0, 1, 0, "".join(f"line {n}\n" for n in range(1, 8)))
    assert (page.text, page.states) == (before, ["pending"] * 3)


def test_the_editors_undo_and_redo_of_an_accepted_hunk_are_noticed() -> None:
    page = Page("a\nb\nc\n")
    page.propose("a\nB\nc\n")
    page.accept()
    page.replace("a\nb\nc\n")
    assert page.states == ["undone"]
    page.replace("a\nB\nc\n")
    assert page.states == ["accepted"]


def test_undo_and_redo_of_a_hunk_that_has_become_the_end_of_the_text_are_noticed() -> None:
    page = Page("a\n\nb")
    page.propose("a\nB\nC\n")
    page.type(1, 0, 2, 1, "")
    assert page.states == ["conflict"]
    page.ledger.take_theirs(page.hunks[0].id)
    page.accept()
    assert (page.text, page.states) == ("a\nB\nC\n", ["accepted"])
    page.type(1, 0, 3, 0, "")
    assert page.states == ["undone"]
    page.type(1, 0, 1, 0, "B\nC\n")
    assert page.states == ["accepted"]


def test_an_insertion_stays_behind_a_line_that_is_taken_away_and_put_back() -> None:
    page = Page("a\nb\nc\n")
    page.propose("a\nb\nnew\nc\n")
    page.type(1, 0, 2, 0, "")
    page.type(1, 0, 1, 0, "b\n")
    assert (page.text, page.states) == ("a\nb\nc\n", ["pending"])
    page.accept()
    assert page.text == "a\nb\nnew\nc\n"


def test_an_insertion_stays_before_another_line_put_where_one_was_taken_away() -> None:
    page = Page("a\nb\nc\n")
    page.propose("a\nb\nnew\nc\n")
    page.type(1, 0, 2, 0, "")
    page.type(1, 0, 1, 0, "x\n")
    page.accept()
    assert page.text == "a\nnew\nx\nc\n"


def test_a_deletion_made_by_hand_waits_again_once_it_and_a_deletion_above_are_undone() -> None:
    page = Page("a\nb\nc\nd\n")
    page.propose("a\nb\nd\n")
    page.type(2, 0, 3, 0, "")
    page.type(1, 0, 2, 0, "")
    page.type(1, 0, 1, 0, "b\n")
    page.type(2, 0, 2, 0, "c\n")
    page.accept()
    assert page.text == "a\nb\nd\n"


def test_a_line_put_back_between_a_conflict_and_an_insertion_belongs_behind_the_insertion() -> None:
    page = Page("a\nb\nc\nd\n")
    page.propose("A\nB\nc\nd\n")
    page.propose("a\nb\nnew\nc\nd\n", turn="t2")
    page.type(0, 0, 2, 0, "x\ny\n")
    assert page.states == ["conflict", "pending"]
    page.type(2, 0, 3, 0, "")
    page.type(2, 0, 2, 0, "c\n")
    page.accept()
    assert page.text == "x\ny\nnew\nc\nd\n"


def test_a_line_written_where_a_deletion_was_made_by_hand_hides_nothing_once_it_is_undone() -> None:
    page = Page("a\nb\nc\n")
    page.propose("a\nc\n")
    page.type(1, 0, 2, 0, "")
    page.type(1, 0, 1, 0, "x\ny\n")
    page.type(1, 0, 3, 0, "")
    page.type(1, 0, 1, 0, "b\n")
    page.accept()
    assert page.text == "a\nc\n"


def test_the_editors_undo_is_noticed_where_lines_come_back_behind_those_that_stayed() -> None:
    page = Page("x\n")
    page.propose("a\nc\n")
    page.type(0, 0, 0, 1, "c\nd\ne")
    page.ledger.take_theirs(page.hunks[0].id)
    page.accept()
    assert page.text == "a\nc\n"
    page.replace("c\nd\ne\n")
    assert page.states == ["undone"]


def test_a_line_above_a_conflict_that_is_taken_away_and_put_back_is_no_part_of_it() -> None:
    page = Page("a\nb\nc\n")
    page.propose("a\nB\nc\n")
    page.type(1, 0, 1, 0, "x")
    page.type(0, 0, 1, 0, "")
    page.type(0, 0, 0, 0, "a\n")
    page.ledger.take_theirs(page.hunks[0].id)
    page.accept()
    assert page.text == "a\nB\nc\n"


def test_a_hunk_whose_own_line_was_pushed_down_by_one_like_it_comes_back_when_that_goes() -> None:
    page = Page("a\n\n")
    page.propose("a\nb\nc\n")
    page.type(1, 0, 1, 0, "x")
    page.type(2, 0, 2, 0, "\n")
    page.type(2, 0, 3, 0, "")
    assert page.states == ["conflict"]
    page.type(1, 0, 1, 1, "")
    assert page.states == ["pending"]
    page.accept()
    assert page.text == "a\nb\nc\n"


def test_an_insertion_behind_a_conflict_keeps_its_side_of_a_line_that_is_put_back() -> None:
    page = Page("a\nb\nc\nd\n")
    page.propose("a\nA\nB\nc\nd\n")
    page.propose("a\nb\nc\nnew\nd\n", turn="t2")
    page.type(1, 0, 3, 0, "")
    page.type(1, 0, 1, 0, "x\n")
    page.type(1, 0, 2, 0, "")
    page.type(1, 0, 1, 0, "b\nc\n")
    assert page.states == ["pending", "pending"]
    page.accept()
    assert page.text == "a\nA\nB\nc\nnew\nd\n"


def test_an_insertion_stays_behind_the_line_that_the_undo_of_another_hunk_brings_back() -> None:
    page = Page("a\nb\nc\n")
    gone = page.propose("a\nc\n")[0]
    page.propose("a\nb\nnew\nc\n", turn="t2")
    page.accept(gone.id)
    page.type(1, 0, 1, 0, "b\n")
    assert page.states == ["undone", "pending"]
    page.accept()
    assert page.text == "a\nb\nnew\nc\n"


def test_a_hunk_cut_short_below_the_line_that_was_put_above_it_comes_back_when_that_goes() -> None:
    page = Page("a\n\nb\nc\n")
    page.propose("a\nA\nB\nc\n")
    page.type(1, 0, 1, 0, "\n")
    page.type(1, 0, 1, 0, "x\n")
    page.type(1, 0, 2, 0, "")
    page.type(1, 0, 2, 0, "")
    assert page.states == ["pending"]
    page.accept()
    assert page.text == "a\nA\nB\nc\n"


@pytest.fixture
def beside_a_conflict() -> Page:
    """An insertion behind a line that is in conflict, so lines put between them are above it."""
    page = Page("a\nb\nc\n")
    page.propose("A\nb\nc\n")
    page.propose("a\nnew\nb\nc\n", turn="t2")
    page.type(0, 0, 0, 1, "x")
    return page


def test_a_line_that_was_written_and_removed_and_comes_back_is_where_it_was(
    beside_a_conflict: Page,
) -> None:
    page = beside_a_conflict
    page.type(1, 0, 1, 0, "y\n")
    page.ledger.reject(page.hunks[0].id)
    page.type(1, 0, 2, 0, "")
    page.type(1, 0, 1, 0, "y\n")
    page.accept()
    assert page.text == "x\ny\nnew\nb\nc\n"


def test_a_line_removed_from_where_others_were_written_and_split_is_not_their_undo(
    beside_a_conflict: Page,
) -> None:
    page = beside_a_conflict
    line, inside = Position(1, 0), Position(1, 1)
    page.apply(TextChange(Range(line, line), "yz\n"), TextChange(Range(inside, inside), "\n"))
    page.ledger.reject(page.hunks[0].id)
    page.type(2, 0, 2, 0, "one more\n")
    page.type(2, 0, 3, 0, "")
    page.accept()
    assert page.text == "x\ny\nz\nnew\nb\nc\n"
