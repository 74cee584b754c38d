"""Hunks as blocks in the text: put in, taken out, decided by action and by hand."""

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.review.drafts import EditDraft
from stet.review.errors import ReviewError, WrongState
from stet.review.journal import Footing, Kept
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk, HunkState
from stet.text.diff import changes_between
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.without_blocks import strip_blocks
from tests.support.page import Page, rules

CODE = "file:///ws/a.py"
NOTE = "file:///ws/a.md"
OLD = "one\ntwo\nthree\nfour\nfive\n"
NEW = "one\n2\nthree\nfour\nfive\nsix\n"
MARKED = (
    "one\n<<<<<<< yours\ntwo\n=======\n2\n>>>>>>> stet h1 (s)\nthree\nfour\nfive\n"
    "<<<<<<< yours\n=======\nsix\n>>>>>>> stet h2 (s)\n"
)
FENCED = (
    'one\n```ai-edit\n{"id":"h1","type":"replace","before":"two","after":"2"}\n```\n#ai_edit\n'
    'three\nfour\nfive\n```ai-edit\n{"id":"h2","type":"add","before":"","after":"six"}\n```\n'
    "#ai_edit\n"
)


class BlockPage(Page):
    """A page whose hunks are shown in its text."""

    def show(self, *hunk_ids: str) -> None:
        """Put in blocks, all showable ones by default; the editor reports the smallest change."""
        ids = hunk_ids or self.ledger.blocks.showable(self.document)
        self._do(self.ledger.blocks.show(self.document, ids))

    def take_out(self, *hunk_ids: str, then: HunkState = HunkState.REJECTED) -> None:
        self._do(
            self.ledger.blocks.take_out(
                self.document, hunk_ids, then, dict.fromkeys(hunk_ids, "no")
            )
        )

    def amend(self, **new: str) -> None:
        self._do(self.ledger.blocks.rewrite(self.document, new))

    def _do(self, edit: object) -> None:
        assert edit is not None
        self.apply(*changes_between(self.text, edit.apply(self.text)))  # type: ignore[attr-defined]

    def hunk(self, nth: int) -> Hunk:
        return self.ledger.hunk(f"h{nth}")

    def edit(self, old: str, new: str) -> None:
        """The user replaces a piece of the text that stands there once."""
        assert self.text.count(old) == 1
        self.replace(self.text.replace(old, new))


def shown(uri: str = CODE, old: str = OLD, new: str = NEW) -> BlockPage:
    page = BlockPage(old, uri)
    page.propose(new)
    page.show()
    return page


def texts(hunk: Hunk) -> tuple[str, str, str, bool]:
    return hunk.state, hunk.old, hunk.new, hunk.inline


@pytest.mark.parametrize(("uri", "text"), [(CODE, MARKED), (NOTE, FENCED)])
def test_hunks_stand_in_the_text_and_wait_there(uri: str, text: str) -> None:
    page = shown(uri)
    assert page.text == text
    assert [texts(hunk) for hunk in page.hunks] == [
        ("pending", "two\n", "2\n", True),
        ("pending", "", "six\n", True),
    ]
    assert [page.document.text_in(hunk.range) for hunk in page.hunks] == [
        "".join(page.document.lines[1 : 6 if uri == CODE else 5]),
        "".join(page.document.lines[9 if uri == CODE else 8 :]),
    ]


@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_accepting_writes_the_new_lines_and_rejecting_the_old(uri: str) -> None:
    page = shown(uri)
    page.accept("h1")
    page.take_out("h2")
    assert page.text == "one\n2\nthree\nfour\nfive\n"
    assert page.states == ["accepted", "rejected"]
    assert page.hunk(2).reason == "no"


@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_an_accepted_block_can_be_undone_and_a_rejected_one_restored(uri: str) -> None:
    page = shown(uri)
    page.accept("h1")
    page.take_out("h2")
    edit = page.ledger.outbox.send(page.document, ("h1",), back=True)
    page.apply(*changes_between(page.text, edit.apply(page.text)))
    assert page.text == OLD
    assert page.states == ["undone", "rejected"]
    page.ledger.restore("h2")
    page.accept("h2")
    assert page.text == OLD + "six\n"


@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_blocks_folded_away_leave_the_text_as_it_was_and_wait_in_the_margin(uri: str) -> None:
    page = shown(uri)
    page.take_out("h1", "h2", then=HunkState.PENDING)
    assert page.text == OLD
    assert [(h.state, h.inline) for h in page.hunks] == [("pending", False)] * 2
    page.accept()
    assert page.text == NEW


@pytest.mark.parametrize(
    ("block", "by_hand", "state", "reason"),
    [
        (1, "2\n", "accepted", ""),
        (1, "two\n", "rejected", ""),
        (1, "2, I think\n", "accepted", "amended by hand"),
        (2, "six\n", "accepted", ""),
        (2, "", "rejected", ""),
        (2, "sechs\n", "accepted", "amended by hand"),
    ],
)
@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_what_stands_where_the_marks_were_taken_away_tells_the_decision(
    uri: str, block: int, by_hand: str, state: str, reason: str
) -> None:
    page = shown(uri)
    whole = page.document.text_in(page.hunk(block).range)
    page.edit(whole, by_hand)
    assert (page.hunk(block).state, page.hunk(block).reason) == (state, reason)
    assert page.hunk(3 - block).state == "pending"
    assert page.document.text_in(page.hunk(block).range) == by_hand


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


def conflicting() -> tuple[BlockPage, str]:
    """A conflict in a block, and the block."""
    page = BlockPage(OLD, CODE)
    page.propose("one\n2\nthree\nfour\nfive\n")
    page.edit("two", "zwei")
    page.show("h1")
    return page, page.document.text_in(page.hunk(1).range)


def test_a_conflicts_block_that_is_gone_in_one_step_decides_nothing() -> None:
    page, block = conflicting()
    for _ in range(3):
        page.edit(block, "zwei\n")
        assert texts(page.hunk(1)) == ("conflict", "zwei\n", "2\n", False)
        page.edit("zwei\n", block)
        assert texts(page.hunk(1)) == ("pending", "zwei\n", "2\n", True)
    page.edit(block, "zwei\n")
    page.edit("zwei", "two")
    page.accept("h1")
    assert page.text == "one\n2\nthree\nfour\nfive\n"


def test_a_conflict_is_decided_by_hand_where_its_marks_go_one_by_one_or_more_than_the_marks() -> (
    None
):
    page, block = conflicting()
    page.edit("<<<<<<< yours\n", "")
    page.edit("=======\n2\n>>>>>>> stet h1 (s)\n", "")
    assert page.states == ["rejected"]
    page, block = conflicting()
    page.edit("\n2\n", "\nII\n")
    page.edit(block.replace("\n2\n", "\nII\n"), "zwei\n")
    assert page.states == ["rejected"]


def test_an_insertion_whose_place_is_lost_is_lost_again_when_its_block_is_undone() -> None:
    page = BlockPage("one\ntwo\nthree\nfour\n", CODE)
    page.propose("one\ntwo\nnew\nthree\nfour\n")
    page.type(1, 0, 3, 0, "zweidrei\n")
    before = page.text, texts(page.hunk(1)), page.hunk(1).range
    assert page.states == ["conflict"]
    page.show("h1")
    assert page.states == ["pending"]
    page.replace(before[0])
    assert (page.text, texts(page.hunk(1)), page.hunk(1).range) == before
    page.edit("zweidrei\n", "two\nthree\n")
    page.accept("h1")
    assert page.text == "one\ntwo\nnew\nthree\nfour\n"


def test_taking_the_marks_away_line_by_line_decides_with_the_last_one() -> None:
    page = shown()
    states = []
    for line in ("<<<<<<< yours\ntwo", "two\n", "=======\n2", ">>>>>>> stet h1 (s)\n"):
        page.edit(line, "2" if "2" in line else "two" if "<" in line else "")
        states.append(str(page.hunk(1).state))
    assert states == ["conflict", "conflict", "conflict", "accepted"]
    assert page.text.startswith("one\n2\nthree\n")


def test_a_block_that_is_whole_again_waits_again() -> None:
    page = shown()
    for mark in ("<<<<<<< yours\ntwo", ">>>>>>> stet h1 (s)\n", "=======\n2"):
        before = page.text
        page.edit(mark, "")
        assert page.hunk(1).state == "conflict"
        page.replace(before)
        assert texts(page.hunk(1)) == ("pending", "two\n", "2\n", True)
    page.accept("h1")
    assert page.text == MARKED.replace(MARKED[4:60].partition("three")[0], "2\n")


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


@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_a_block_that_the_editors_undo_brings_back_waits_again(uri: str) -> None:
    page = shown(uri)
    with_blocks = page.text
    page.accept("h1")
    page.take_out("h2")
    page.replace(with_blocks)
    assert [texts(hunk) for hunk in page.hunks] == [
        ("pending", "two\n", "2\n", True),
        ("pending", "", "six\n", True),
    ]
    page.accept()
    assert page.text == NEW


def test_undoing_the_editors_edit_that_put_the_blocks_in_rejects_them() -> None:
    page = shown()
    page.replace(OLD)
    assert page.states == ["rejected", "rejected"]
    page.replace(MARKED)
    assert page.states == ["pending", "pending"]


def test_a_block_that_is_moved_is_decided_where_it_is() -> None:
    page = shown()
    block = page.document.text_in(page.hunk(1).range)
    page.replace(page.text.replace(block, "").replace("four\n", f"four\n{block}"))
    assert page.hunk(1).state == "pending"
    page.accept("h1", "h2")
    assert page.text == "one\nthree\nfour\n2\nfive\nsix\n"


def test_typing_round_blocks_leaves_them_alone() -> None:
    page = shown()
    page.type(0, 0, 0, 0, "zero\n")
    page.edit("three\n", "drei\n")
    page.edit("h1 (s)\n", "h1 (s)\nbehind\n")
    page.edit("<<<<<<< yours\ntwo", "before\n<<<<<<< yours\ntwo")
    page.accept("h1")
    assert (
        page.text
        == "zero\none\nbefore\n2\nbehind\ndrei\nfour\nfive\n" + MARKED[-57:].partition("five\n")[2]
    )
    assert page.states == ["accepted", "pending"]


def test_a_conflict_can_be_put_into_the_text_to_be_sorted_out_there() -> None:
    page = BlockPage(OLD, CODE)
    page.propose(OLD.replace("two", "2"))
    page.edit("two", "zwei")
    assert page.states == ["conflict"]
    page.show("h1")
    assert page.text == MARKED.replace("\ntwo\n", "\nzwei\n").partition("<<<<<<< yours\n====")[0]
    assert texts(page.hunk(1)) == ("pending", "zwei\n", "2\n", True)
    page.take_out("h1")
    assert page.text == OLD.replace("two", "zwei")


def test_protected_files_and_front_matter_are_not_written_to() -> None:
    page = BlockPage("---\na: 1\n---\ntext\n", NOTE)
    page.propose("---\na: 2\n---\nmore text\n")
    assert page.ledger.blocks.showable(page.document) == ("h2",)
    guarded = BlockPage("all:\n", "file:///ws/Makefile")
    guarded.propose("none:\n", name="Makefile")
    assert guarded.ledger.blocks.showable(guarded.document) == ()


def test_an_edit_that_does_not_come_about_leaves_the_hunks_in_the_margin() -> None:
    page = BlockPage(OLD, CODE)
    page.propose(NEW)
    assert page.ledger.blocks.show(page.document, ("h1", "h2"))
    page.unsend()
    assert [(h.state, h.inline) for h in page.hunks] == [("pending", False)] * 2
    page.accept()
    assert page.text == NEW


def test_a_whole_block_is_not_decided_behind_its_back() -> None:
    page = shown()
    with pytest.raises(WrongState):
        page.ledger.reject("h1")
    with pytest.raises(WrongState):
        page.ledger.amend("h1", "x\n")
    page.edit("=======\n2\n", "2\n")
    assert "no longer whole" in page.hunk(1).reason
    page.ledger.take_mine("h1")
    assert page.states == ["rejected", "pending"]
    rest = page.text
    page.ledger.restore("h1")
    page.accept("h1")
    assert page.text == rest.replace("<<<<<<< yours\ntwo\n2\n>>>>>>> stet h1 (s)\n", "2\n")


def test_blocks_are_found_again_after_a_restart() -> None:
    page = shown()
    footing = page.ledger.footing(page.uri)
    assert isinstance(footing, Footing)
    again = BlockPage("zero\n" + MARKED, CODE)
    again.ledger = ReviewLedger()
    kept = tuple(
        Hunk(**{name: getattr(h, name) for name in Hunk.__dataclass_fields__}) for h in page.hunks
    )
    again.ledger.take_back(Kept(kept, (footing,)), {CODE: again.text})
    again.ledger.opened(CODE, again.buffer.lines)
    assert [texts(hunk) for hunk in again.hunks] == [texts(hunk) for hunk in page.hunks]
    again.accept()
    assert again.text == "zero\n" + NEW


@pytest.mark.parametrize("opens", [True, False])
@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_blocks_that_were_closed_unsaved_are_not_decided_and_wait_in_the_margin(
    uri: str, opens: bool
) -> None:
    page = shown(uri)
    page.ledger.closed(uri)
    page.buffer.replace_all("zero\n" + OLD)
    if opens:
        page.ledger.opened(uri, page.buffer.lines)
    else:
        page.ledger.on_disk(uri, page.text)
        page.ledger.opened(uri, page.buffer.lines)
    assert [texts(hunk) for hunk in page.hunks] == [
        ("pending", "two\n", "2\n", False),
        ("pending", "", "six\n", False),
    ]
    page.accept()
    assert page.text == "zero\n" + NEW


def test_of_blocks_in_a_file_read_again_only_those_that_are_missing_wait_in_the_margin() -> None:
    page = shown()
    page.ledger.closed(page.uri)
    page.buffer.replace_all(MARKED.replace(MARKED[4 : MARKED.index("three")], "two, too\n"))
    page.ledger.opened(page.uri, page.buffer.lines)
    assert [texts(hunk) for hunk in page.hunks] == [
        ("conflict", "two, too\n", "2\n", False),
        ("pending", "", "six\n", True),
    ]


def test_blocks_that_were_never_saved_are_not_decided_by_a_restart() -> None:
    page = shown()
    footing = page.ledger.footing(page.uri)
    assert isinstance(footing, Footing)
    again = BlockPage(OLD, CODE)
    again.ledger.take_back(Kept(page.hunks, (footing,)), {CODE: again.text})
    again.ledger.opened(CODE, again.buffer.lines)
    assert [texts(hunk) for hunk in again.hunks] == [
        ("pending", "two\n", "2\n", False),
        ("pending", "", "six\n", False),
    ]
    again.accept()
    assert again.text == NEW


lines = st.lists(st.sampled_from(["a\n", "b\n", "\n", "=======\n", "c\r\n", "```\n"]), max_size=7)


@given(
    old=lines.map("".join),
    new=lines.map("".join),
    uri=st.sampled_from([CODE, NOTE]),
    ends=st.booleans(),
    data=st.data(),
)
@settings(max_examples=150, deadline=None)
def test_any_hunks_in_any_order_of_decision_lead_to_the_text_decided_on(
    old: str, new: str, uri: str, ends: bool, data: st.DataObject
) -> None:
    if not ends:
        old, new = old.rstrip("\r\n"), new.rstrip("\r\n")
    page = BlockPage(old, uri)
    hunks = page.propose(new)
    margin = Page(old, uri)
    margin.propose(new)
    if not page.ledger.blocks.showable(page.document):
        return
    page.show()
    stripped = strip_blocks(page.document, {h.id for h in hunks})
    assert stripped is not None
    assert stripped.plain.text == old
    taken = [h.id for h in hunks if data.draw(st.booleans())]
    for hunk_id in data.draw(st.permutations([h.id for h in hunks])):
        if hunk_id in taken:
            page.accept(hunk_id)
        elif page.hunk(int(hunk_id[1:])).inline:
            page.take_out(hunk_id)
    document = TextDocument(uri, old, 1)
    assert page.text == margin.ledger.edit_of(document, taken).apply(old)


@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_a_block_that_comes_back_in_the_place_of_another_leaves_that_one_waiting(uri: str) -> None:
    page = shown(uri, new=OLD.replace("two", "2"))
    with_first = page.text
    page.take_out("h1")
    page.propose(OLD.replace("two", "zwei"), turn="t2")
    page.show()
    with_second = page.text
    page.replace(with_first)
    assert [texts(hunk) for hunk in sorted(page.hunks, key=lambda hunk: hunk.id)] == [
        ("pending", "two\n", "2\n", True),
        ("conflict", "", "zwei\n", False),
    ]
    assert page.hunk(1).range.start >= page.hunk(2).range.end
    page.replace(with_second)
    assert texts(page.hunk(2)) == ("pending", "two\n", "zwei\n", True)


def test_blocks_that_come_back_within_what_is_left_of_another_share_no_lines_with_it() -> None:
    page = shown(NOTE)
    with_both = page.text
    page.take_out("h1", "h2")
    page.propose(OLD.replace("five", "5"), turn="t2")
    page.show()
    page.type(1, 0, len(page.buffer.lines) - 1, 0, with_both.removeprefix("one\n"))
    assert [(hunk.id, *texts(hunk)) for hunk in page.hunks] == [
        ("h1", "pending", "two\n", "2\n", True),
        ("h3", "conflict", "", "5\n", False),
        ("h2", "pending", "", "six\n", True),
    ]
    page.amend(h1="II\n")
    page.accept("h1", "h2")
    page.replace("one\n")
    page.ledger.amend("h3", "5\n")
    page.accept("h3")
    assert page.text == "one\n5\n"


@pytest.mark.parametrize("uri", [CODE, NOTE])
def test_a_hunk_in_the_margin_makes_room_for_a_block_that_comes_back(uri: str) -> None:
    page = shown(uri, new=OLD.replace("two", "2"))
    with_block = page.text
    page.accept("h1")
    page.propose(page.text.replace("2", "zwei"), turn="t2")
    page.replace(with_block)
    assert [(hunk.id, *texts(hunk)) for hunk in page.hunks] == [
        ("h2", "conflict", "", "zwei\n", False),
        ("h1", "pending", "two\n", "2\n", True),
    ]


def test_every_line_taken_away_from_a_block_can_come_back() -> None:
    n = MARKED.count("\n")
    for first, last in itertools.combinations(range(n + 1), 2):
        page = shown()
        page.type(first, 0, last, 0, "")
        page.replace(MARKED)
        assert [texts(hunk) for hunk in page.hunks] == [
            ("pending", "two\n", "2\n", True),
            ("pending", "", "six\n", True),
        ], (first, last)


ZWEI = "one\nzwei\nthree\nfour\nfive\n"


@pytest.mark.parametrize(
    "decide",
    [
        lambda page: page.ledger.reject("h1"),
        lambda page: page.ledger.amend("h1", "zwei\n"),
        lambda page: page.propose(ZWEI, turn="t2"),
        lambda page: propose_amended(page, ZWEI, "h1"),
    ],
    ids=["reject", "amend", "replace", "amend by the agent"],
)
@pytest.mark.parametrize("comes", [True, False])
def test_a_hunk_whose_block_is_on_its_way_is_not_decided_meanwhile(
    decide: Callable[[BlockPage], object], comes: bool
) -> None:
    page = BlockPage(OLD, CODE)
    page.propose(NEW)
    edit = page.ledger.blocks.show(page.document, ("h1", "h2"))
    assert edit is not None
    with pytest.raises(ReviewError, match=r"on its way|already have"):
        decide(page)
    if comes:
        page.apply(*changes_between(page.text, edit.apply(page.text)))
        assert page.text == MARKED
    else:
        page.unsend()
    assert [(h.state, h.inline) for h in page.hunks] == [("pending", comes)] * 2
    if comes:
        page.take_out("h1")
    else:
        page.ledger.reject("h1")
    assert page.hunk(1).state == "rejected"


def propose_amended(page: Page, text: str, *amends: str) -> None:
    """As `Page.propose`, in the place of pending hunks."""
    document = page.document
    edit = TextEdit((Replacement(0, len(document.text), text),))
    draft = EditDraft(turn="t1", author="m", document=document, name="a.py", edit=edit, summary="s")
    page.ledger.propose_edit(draft, rules(), amends)


def test_the_users_own_text_is_not_taken_while_the_markers_of_a_conflict_are_on_their_way() -> None:
    page = BlockPage(OLD, CODE)
    page.propose("one\n2\nthree\nfour\nfive\n")
    page.edit("two", "zwei")
    edit = page.ledger.blocks.show(page.document, ("h1",))
    assert edit is not None
    with pytest.raises(WrongState, match="h1 is on its way into the text"):
        page.ledger.take_mine("h1")
    page.apply(*changes_between(page.text, edit.apply(page.text)))
    page.take_out("h1")
    assert page.text == "one\nzwei\nthree\nfour\nfive\n"


@pytest.mark.parametrize("uri", [CODE, NOTE])
@pytest.mark.parametrize(("old", "new"), [("b", "b\n"), ("b\n", "b")])
def test_a_line_end_at_the_end_tells_the_old_text_from_the_new(
    uri: str, old: str, new: str
) -> None:
    for left, state in ((old, HunkState.REJECTED), (new, HunkState.ACCEPTED)):
        page = BlockPage(old, uri)
        page.propose(new)
        page.show()
        page.apply(*changes_between(page.text, left))
        assert (page.text, page.hunk(1).state) == (left, state)
