"""What a session writes over lines that the user has changed since the session has read them."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from stet.bridges.session_view import MAX_SHOWN, SessionText, ViewError
from stet.review.proposal import HunkState
from stet.settings.values import Settings
from stet.text.diff import changes_between
from stet.text.lines import split_lines
from tests.support.review_pictures import check_picture
from tests.support.shared_page import TEXT, A, SharedPage, states_by_id


async def test_lines_that_both_have_changed_become_a_conflict_beside_other_hunks() -> None:
    page = SharedPage()
    page.change("two", "zwei")
    assert await page.write("two\nthree\nfour", "2\nthree\n4") == ["conflict", "pending"]
    check_picture(
        page,
        """
          one
        ~ two
        ! zwei
        + 2
          three
        - four
        + 4
        """,
    )
    assert page.text == TEXT.replace("two", "zwei")
    assert await page.view.read(A) == SessionText("one\nzwei\nthree\n4\n", is_live=False)


async def test_lines_that_the_user_has_moved_are_changed_in_their_new_place() -> None:
    text = "alpha one\nbravo two\ncharlie three\ndelta four\n"
    page = SharedPage(text)
    page.apply_lines((0, 1, ""), (3, 3, "alpha one\n"))
    assert await page.write("alpha one", "ALPHA ONE", read=text) == ["pending"]
    check_picture(
        page,
        """
          bravo two
          charlie three
          delta four
        - alpha one
        + ALPHA ONE
        """,
    )


async def test_line_that_the_user_has_moved_beside_another_changed_line_is_found() -> None:
    text = "alpha one\nbravo two\ncharlie three\ndelta four\n"
    page = SharedPage(text)
    page.apply_lines((3, 4, ""), (1, 1, "delta four\n"))
    changed = text.replace("bravo two", "B\nBRAVO TWO").replace("delta four", "D\nDELTA FOUR")
    await page.view.write(A, text, changed)
    assert page.states == ["pending", "pending"]
    check_picture(
        page,
        """
          alpha one
        @@ h2
        - delta four
        + D
        + DELTA FOUR
        @@ h1
        - bravo two
        + B
        + BRAVO TWO
          charlie three
        """,
    )


async def test_agent_is_sent_the_users_lines() -> None:
    page = SharedPage()
    page.change("two", "zwei")
    hunks = await page.view.write(A, TEXT, TEXT.replace("two", "2"))
    assert await page.view.describe_conflicts(hunks) == (
        "The user has changed the same lines of a.txt since then. Your lines wait as h1, in "
        "conflict with those of the user, who decides: don't make this edit again. The user's "
        "lines are now:\nzwei\n"
    )


async def test_conflict_ends_with_the_lines_that_the_agent_had_read() -> None:
    page = SharedPage()
    page.change("two", "zwei")
    assert await page.write("two", "2") == ["conflict"]
    page.change("zwei", "two")
    check_picture(
        page,
        """
          one
        - two
        + 2
          three
          four
        """,
    )


async def test_later_edit_of_the_agents_lines_replaces_its_conflict() -> None:
    page = SharedPage()
    page.change("two", "zwei")
    assert await page.write("two", "2") == ["conflict"]
    assert await page.write("2", "II", read=TEXT.replace("two", "2")) == ["conflict"]
    assert page.states == ["superseded", "conflict"]
    page.change("zwei", "two")
    now = page.ledger.hunk("h2")
    assert (now.state, now.old, now.new) == (HunkState.PENDING, "two\n", "II\n")


async def test_later_edit_finds_the_lines_that_another_hunk_has_left() -> None:
    text = "alpha one\nbravo two\ncharlie three\ndelta four\n"
    page = SharedPage(text)
    other = page.session("codex-1")
    await other.write(A, text, text.replace("charlie three\ndelta four", "3"))
    page.change("bravo two", "zwei")
    seen = text.replace("bravo two", "2")
    assert await page.write("bravo two", "2", read=text) == ["conflict"]
    page.change("charlie three\n", "charlie three\nbravo two\n")
    page.ledger.reject("h1")
    assert await page.write("2", "II", read=seen) == ["pending"]
    assert page.states == ["superseded", "rejected", "pending"]
    check_picture(
        page,
        """
          alpha one
        @@ h2 superseded
          zwei
        @@ h1 rejected
          charlie three
        @@ h3
        - bravo two
        + II
          delta four
        """,
    )


async def test_agent_that_undoes_its_edit_ends_the_conflict() -> None:
    page = SharedPage()
    page.change("two", "zwei")
    assert await page.write("two", "2") == ["conflict"]
    assert await page.write("2", "two", read=TEXT.replace("two", "2")) == []
    assert page.states == ["withdrawn"]
    assert page.text == TEXT.replace("two", "zwei")


async def test_edit_of_the_users_lines_replaces_the_conflict() -> None:
    page = SharedPage()
    page.change("two", "zwei")
    assert await page.write("two", "2") == ["conflict"]
    assert await page.write("zwei", "zwei, 2", read=page.text) == ["pending"]
    assert page.states == ["superseded", "pending"]


async def test_user_ends_the_conflict_with_either_text() -> None:
    page = SharedPage()
    page.change("two", "zwei")
    page.change("four", "vier")
    assert await page.write("two\nthree\nfour", "2\nthree\n4") == ["conflict", "conflict"]
    page.ledger.take_mine("h1")
    page.ledger.take_theirs("h2")
    page.accept("h2")
    assert page.states == ["rejected", "accepted"]
    assert page.text == "one\nzwei\nthree\n4\n"


async def test_lines_that_the_user_has_removed_are_a_conflict() -> None:
    page = SharedPage()
    page.change("two\n", "")
    assert await page.write("two", "2") == ["conflict"]
    assert page.text == "one\nthree\nfour\n"
    page.ledger.take_theirs("h1")
    page.accept("h1")
    assert page.text == "one\n2\nthree\nfour\n"


async def test_rules_hold_for_the_edit_as_it_was_made() -> None:
    edit = replace(Settings().edit, can_delete=False)
    page = SharedPage(settings=replace(Settings(), edit=edit))
    page.change("two\n", "")
    with pytest.raises(ViewError):
        await page.write("two", "2")
    assert page.hunks == ()


async def test_lines_that_both_add_in_one_place_are_no_conflict() -> None:
    page = SharedPage()
    page.change("two\n", "two\nadded\n")
    assert await page.write("two\n", "two\nalso\n") == ["pending"]
    page.accept()
    assert page.text == "one\ntwo\nadded\nalso\nthree\nfour\n"


async def test_edit_of_lines_that_the_user_has_amended_is_a_conflict() -> None:
    page = SharedPage()
    assert await page.write("two", "2") == ["pending"]
    page.ledger.amend("h1", "zwei\n")
    seen = TEXT.replace("two", "2")
    hunks = await page.view.write(A, seen, seen.replace("2", "II").replace("four", "4"))
    assert [hunk.state for hunk in hunks] == [HunkState.CONFLICT, HunkState.PENDING]
    check_picture(
        page,
        """
          one
        @@ superseded
        @@
        ~ 2
        ! two
        + II
          three
        - four
        + 4
        """,
    )
    assert page.ledger.hunk("h2").reason == "you changed the earlier proposal h1"
    note = await page.view.describe_conflicts(hunks)
    assert note.endswith("The user's lines are now:\nzwei\n")
    assert "zwei" in await page.view.begin_turn()


async def test_amended_hunk_is_back_if_the_user_takes_their_text() -> None:
    page = SharedPage()
    await page.write("two", "2")
    page.ledger.amend("h1", "zwei\n")
    seen = TEXT.replace("two", "2")
    assert await page.write("2", "II", read=seen) == ["conflict"]
    assert await page.write("II", "ii", read=seen.replace("2", "II")) == ["conflict"]
    page.ledger.take_mine("h3")
    assert states_by_id(page) == ["pending", "superseded", "rejected"]
    page.accept()
    assert page.text == TEXT.replace("two", "zwei")


async def test_agents_text_replaces_the_amended_text_if_the_user_takes_it() -> None:
    page = SharedPage()
    await page.write("two", "2")
    page.ledger.amend("h1", "zwei\n")
    assert await page.write("2", "II", read=TEXT.replace("two", "2")) == ["conflict"]
    page.ledger.take_theirs("h2")
    page.accept("h2")
    assert page.text == TEXT.replace("two", "II")
    assert page.states == ["superseded", "accepted"]


async def test_agent_that_undoes_its_edit_of_amended_lines_leaves_them() -> None:
    page = SharedPage()
    await page.write("two", "2")
    page.ledger.amend("h1", "zwei\n")
    seen = TEXT.replace("two", "2")
    assert await page.write("2", "II", read=seen) == ["conflict"]
    assert await page.write("II", "2", read=seen.replace("2", "II")) == []
    assert states_by_id(page) == ["pending", "withdrawn"]
    assert page.ledger.hunk("h1").new == "zwei\n"


async def test_agent_that_has_seen_the_amended_text_replaces_it() -> None:
    page = SharedPage()
    await page.write("two", "2")
    page.ledger.amend("h1", "zwei\n")
    assert await page.write("zwei", "drei", read=TEXT.replace("two", "zwei")) == ["pending"]
    assert page.states == ["superseded", "pending"]
    page.accept()
    assert page.text == TEXT.replace("two", "drei")


async def test_edit_of_other_lines_of_an_amended_hunk_is_merged_with_it() -> None:
    page = SharedPage()
    assert await page.write("two\nthree\n", "2\n3\n5\n") == ["pending"]
    page.ledger.amend("h1", "zwei\n3\n5\n")
    seen = TEXT.replace("two\nthree\n", "2\n3\n5\n")
    assert await page.write("5", "V", read=seen) == ["pending"]
    page.accept()
    assert page.text == TEXT.replace("two\nthree\n", "zwei\n3\nV\n")


async def test_conflict_has_the_whole_amended_hunk() -> None:
    page = SharedPage()
    assert await page.write("two\nthree\n", "2\n3\n5\n") == ["pending"]
    page.ledger.amend("h1", "zwei\n3\n5\n")
    seen = TEXT.replace("two\nthree\n", "2\n3\n5\n")
    assert await page.write("2\n3\n5\n", "II\n3\nV\n", read=seen) == ["conflict"]
    check_picture(
        page,
        """
          one
        @@ superseded
        @@
        ~ 2
        ~ 3
        ~ 5
        ! two
        ! three
        + II
        + 3
        + V
          four
        """,
    )


async def test_amended_insertion_and_deletion_are_in_conflict_too() -> None:
    page = SharedPage()
    assert await page.write("one\n", "one\nnew\n") == ["pending"]
    seen = TEXT.replace("one\n", "one\nnew\n")
    assert await page.write("three", "3", read=seen) == ["pending"]
    page.ledger.amend("h1", "neu\n")
    page.ledger.amend("h2", "")
    seen = seen.replace("three", "3")
    edited = seen.replace("new", "NEW").replace("3", "III")
    hunks = await page.view.write(A, seen, edited)
    assert [(hunk.state, hunk.old, hunk.new) for hunk in hunks] == [
        (HunkState.CONFLICT, "", "NEW\n"),
        (HunkState.CONFLICT, "three\n", "III\n"),
    ]
    assert page.text == TEXT
    page.ledger.take_mine("h3")
    page.ledger.take_theirs("h4")
    page.accept()
    assert page.text == "one\nneu\ntwo\nIII\nfour\n"


async def test_edit_of_rejected_lines_does_not_bring_them_back_unnoticed() -> None:
    page = SharedPage()
    assert await page.write("two", "2") == ["pending"]
    page.ledger.reject("h1")
    page.change("four", "vier")
    seen = TEXT.replace("two", "2")
    assert await page.write("three", "3", read=seen) == ["pending"]
    assert await page.write("2", "II", read=seen.replace("three", "3")) == ["conflict"]
    check_picture(
        page,
        """
          one
        @@ h1 rejected
        @@ h3
        ~ 2
        ! two
        + II
        @@ h2
        - three
        + 3
          vier
        """,
    )


async def test_secrets_of_the_user_are_marks_in_what_the_agent_is_sent() -> None:
    page = SharedPage()
    key = "AKIA" + "QWERTYUIOPASDFGH"
    page.change("two", f"key = '{key}'")
    hunks = await page.view.write(A, TEXT, TEXT.replace("two", "2"))
    note = await page.view.describe_conflicts(hunks)
    assert "The user's lines are now:\nkey = '" in note
    assert key not in note


async def test_long_text_of_the_user_is_cut() -> None:
    page = SharedPage()
    page.change("two", "zwei " * MAX_SHOWN)
    hunks = await page.view.write(A, TEXT, TEXT.replace("two", "2"))
    assert len(await page.view.describe_conflicts(hunks)) < MAX_SHOWN + 300


async def test_conflict_takes_the_place_of_another_session() -> None:
    page = SharedPage()
    other = page.session("codex-1")
    page.change("two", "zwei")
    await other.write(A, page.text, page.text.replace("zwei", "dos"))
    assert await page.write("two", "2") == ["conflict"]
    assert page.states == ["superseded", "conflict"]


words = st.sampled_from(["a", "b c", "d = 1", "e, f", ""])
lines = st.lists(words.map("{}\n".format), max_size=6)


@given(base=lines, ours=lines, theirs=lines, last=st.sampled_from(["", "end"]))
@limits(max_examples=150, deadline=None)
def test_nothing_of_the_user_is_written_over_and_nothing_of_the_agent_is_lost(
    base: list[str], ours: list[str], theirs: list[str], last: str
) -> None:
    mine = [f"my {line}" if line not in base else line for line in ours]
    its = [f"its {line}" if line not in base else line for line in theirs]
    read, typed, written = ("".join((*each, last)) for each in (base, mine, its))
    page = SharedPage(read)
    page.apply(*changes_between(read, typed))
    try:
        hunks = asyncio.run(page.view.write(A, read, written))
    except ViewError:  # a conflict and another change are in one gap
        assert (page.text, page.hunks) == (typed, ())
        return
    assert page.text == typed
    for line in its:
        if line not in base:
            assert line in typed or any(line in hunk.proposed for hunk in hunks)
    places = [(hunk.range.start, hunk.range.end) for hunk in page.hunks]
    assert places == sorted(places)
    pending = [hunk.id for hunk in hunks if hunk.state is HunkState.PENDING]
    accepted = page.ledger.edit_of(page.document, pending).apply(typed)
    left = split_lines(accepted)
    for line in mine:
        if line not in base:
            assert left.count(line) >= mine.count(line)


@given(base=lines, first=lines, amended=st.lists(lines, max_size=3), then=lines)
@limits(max_examples=150, deadline=None)
def test_nothing_that_the_user_has_amended_is_lost(
    base: list[str], first: list[str], amended: list[list[str]], then: list[str]
) -> None:
    its = [f"its {line}" if line not in base else line for line in first]
    again = [f"then {line}" if line not in its else line for line in then]
    read, written, rewritten = ("".join(each) for each in (base, its, again))
    page = SharedPage(read)
    hunks = asyncio.run(page.view.write(A, read, written))
    for hunk, new in zip(hunks, amended, strict=False):
        page.ledger.amend(hunk.id, "".join(f"my {line}" for line in new))
    before = {hunk.id: hunk for hunk in page.hunks}
    try:
        made = asyncio.run(page.view.write(A, written, rewritten))
    except ViewError:
        assert {hunk.id: hunk for hunk in page.hunks} == before
        return
    assert page.text == read
    texts = "".join(hunk.new for hunk in page.hunks)
    assert all(line in texts for line in again if line.startswith("then "))
    for hunk in made:
        if hunk.state is HunkState.CONFLICT:
            page.ledger.take_mine(hunk.id)
    left = "".join(hunk.new for hunk in page.hunks if hunk.state is HunkState.PENDING)
    for hunk_id in before.keys() & {hunk.id for hunk in page.hunks}:
        for line in split_lines(before[hunk_id].new):
            assert not line.startswith("my ") or line in left
