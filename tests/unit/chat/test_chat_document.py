"""What is written into a chat document while its user does what they like in it."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.agent.turn import Ask, Mode, Turn, TurnState
from stet.chat.chat_document import ChatDocument, ChatTurn
from stet.chat.chat_layout import YOU, ChatSections, new_document
from stet.chat.chat_transcript import ChatTranscript, ending, transcript_of
from stet.context.context_builder import EditorLocation
from stet.llm.model import Usage
from stet.review.policy.rules import RejectedEdit
from stet.text.lines import split_lines
from stet.tools.tool_state import ToolRun, ToolState
from stet.web.web_address import WebSource
from tests.support.chat_text import adopt, draft, has_ended, parts, write_all, written

ASK = Ask(prompt="Why?", mode=Mode.AGENT, place=EditorLocation(), chat="main")
OVER = Turn(
    id="t1", ask=ASK, state=TurnState.COMPLETED, answer="Because.\n\nSo.", summary="Because."
)


def file_name(name: str) -> str:
    """The name of a file in a workspace at `/ws`."""
    return name.removeprefix("file:///ws/")


def make_page(turn: Turn = OVER, turn_text: ChatTranscript | None = None) -> ChatDocument:
    """A page that one turn is to be written into."""
    page = ChatDocument("main", "chat-main.md", "file:///state/chat-main.md")
    transcript = turn_text or transcript_of(turn, (), file_name)
    is_over = transcript.is_over
    page.add(
        ChatTurn(
            turn.id, turn.ask.prompt, transcript, ending(turn, (), file_name) if is_over else ""
        )
    )
    return page


@dataclass(frozen=True)
class Typing:
    """The user types `text`, at a share of the document's length."""

    text: str
    share: float


MARKS = [chr(0xE000 + n) for n in range(200)]
TYPING = st.builds(
    Typing, st.sampled_from(["x", "\n", " y\n", "## ", "*", "\r\n", "z" * 30]), st.floats(0, 1)
)


@pytest.mark.slow
@given(
    st.lists(st.text("ab c\n#!<", max_size=12), max_size=12),
    st.lists(st.lists(TYPING, max_size=3), min_size=12, max_size=12),
)
def test_random_typing_between_what_is_written_loses_no_character(
    pieces: list[str], typed: list[list[Typing]]
) -> None:
    turn_text = ChatTranscript(file_name)
    page = make_page(Turn(id="t1", ask=ASK), turn_text)
    text = new_document("main") + "Why?\n"
    page.sent("t1", "Why?")
    marks, keys = iter(MARKS), []
    for piece, keystrokes in zip([*pieces, ""], [*typed, []], strict=False):
        turn_text.add_text(piece)
        for one in keystrokes:
            # Each keystroke carries a mark, which shows where it went, and is surrounded by one.
            mark = next(marks)
            key = f"{mark}{one.text}{mark}"
            at = round(one.share * len(text))
            text = text[:at] + key + text[at:]
            keys.append((mark, key))
        before = text
        while step := page.next_insertion(ChatSections(split_lines(text))):
            text = step.insertion.apply(text)
            step.done()
            assert _is_subsequence(before, text)
    for mark, key in keys:
        assert text.count(mark) == 2
        inside = text[text.index(mark) : text.rindex(mark) + 1]
        assert _is_subsequence(key, inside)


def _is_subsequence(part: str, whole: str) -> bool:
    rest = iter(whole)
    return all(character in rest for character in part)


@given(st.lists(st.text("ab c\n#!<[`~", max_size=12), max_size=12))
def test_streamed_answer_is_written_once_however_it_is_cut(pieces: list[str]) -> None:
    turn_text, whole = ChatTranscript(file_name), ChatTranscript(file_name)
    page = make_page(Turn(id="t1", ask=ASK), turn_text)
    text = new_document("main") + "Why?\n"
    page.sent("t1", "Why?")
    for piece in pieces:
        turn_text.add_text(piece)
        text = write_all(page, text)
    turn_text.finish_message()
    text = write_all(page, text)
    whole.add_text("".join(pieces))
    whole.finish_message()
    assert written(text, "t1") == whole.text.strip()


@given(st.lists(st.tuples(st.text("ab c\n#*…`", max_size=9), st.booleans()), max_size=9))
def test_status_line_leaves_no_trace(pieces: list[tuple[str, bool]]) -> None:
    turn_text, whole = ChatTranscript(file_name), ChatTranscript(file_name)
    page = make_page(Turn(id="t1", ask=ASK), turn_text)
    text = new_document("main") + "Why?\n"
    page.sent("t1", "Why?")
    for n, (piece, is_quiet) in enumerate(pieces):
        turn_text.add_text(piece)
        text = write_all(page, text)
        if is_quiet:
            page.entries["t1"].status = f"round {n}"
            text = write_all(page, text)
            assert written(text, "t1").endswith(f"*… round {n}*")
    turn_text.finish_message()
    page.entries["t1"].status = ""
    text = write_all(page, text)
    whole.add_text("".join(piece for piece, _ in pieces))
    whole.finish_message()
    assert written(text, "t1") == whole.text.strip()


def test_status_line_of_a_saved_document_is_removed() -> None:
    text = f"{new_document('main')}Why?\n\n## Stet (t1)\n\nBecause.\n\n*… round 2*\n\n{YOU}\n\n"
    assert written(make_page().frozen().fill(text), "t1") == "Because.\n\nSo.\n\n*completed*"


def test_answer_begins_below_what_the_user_has_written_under_its_heading() -> None:
    page = make_page()
    text = f"{new_document('main')}Why?\n\n## Stet (t1)\n\nMy note\n\n{YOU}\n\n"
    assert written(page.frozen().fill(text), "t1").startswith("My note\n\n")


@given(st.integers(0, 400))
def test_a_document_that_was_saved_half_way_is_completed(n: int) -> None:
    page = make_page()
    whole = page.frozen().fill(new_document("main"))
    heading = "## Stet (t1)"
    body = whole.index(heading) + len(heading)
    end = whole.index(written(whole, "t1")) + len(written(whole, "t1"))
    cut = whole[: min(body + n, end)] + f"\n\n{YOU}\n\nmore"
    adopt(page, cut)
    full = page.frozen().fill(cut)
    assert written(full, "t1") == written(whole, "t1")
    now = draft(full)
    assert now is not None
    assert now.text == "more"


def test_question_is_written_once_if_the_document_is_closed_after_it() -> None:
    text = make_page().frozen().fill(f"{new_document('main')}Why?\n")
    assert [(part.turn, part.text) for part in parts(text)] == [
        ("", "Why?"),
        ("t1", "Because.\n\nSo.\n\n*completed*"),
        ("", ""),
    ]


def test_answer_that_the_user_edited_is_completed() -> None:
    page = make_page()
    text = f"{new_document('main')}Why?\n\n## Stet (t1)\n\nBecause (really?).\n\n{YOU}\n\n"
    assert written(page.frozen().fill(text), "t1") == "Because (really?).\n\n*completed*"


def test_answer_that_the_user_edits_while_it_streams_is_written_once() -> None:
    turn_text = ChatTranscript(file_name)
    page = make_page(Turn(id="t1", ask=ASK), turn_text)
    text = new_document("main") + "Why?\n"
    page.sent("t1", "Why?")
    for n in range(4):
        turn_text.add_text(f"word {n} ")
        # The file is written in a worker, and its text is read afterwards.
        scratch = page.frozen()
        text = scratch.fill(text)
        if n == 0:
            text = text.replace("word 0", "(word 0)")
        adopt(page, text, scratch.written())
    assert written(text, "t1") == "(word 0) word 1 word 2 word 3"


def test_completed_answers_are_dropped_from_memory() -> None:
    page = make_page()
    adopt(page, page.frozen().fill(new_document("main")))
    assert page.entries == {}


def test_an_answer_goes_on_under_a_new_heading_where_the_user_has_deleted_it() -> None:
    turn_text = ChatTranscript(file_name)
    page = make_page(Turn(id="t1", ask=ASK), turn_text)
    turn_text.add_text("One. ")
    text = page.frozen().fill(new_document("main"))
    adopt(page, text)
    turn_text.add_text("Two.")
    text = page.frozen().fill(text.replace("## Stet (t1)\n", ""))
    assert written(text, "t1").endswith("Two.")


def test_end_of_a_turn_reports_its_outcome() -> None:
    turn = Turn(
        id="t1",
        ask=ASK,
        state=TurnState.LIMITED,
        error="All 10 rounds are used.",
        sources=(
            WebSource("https://a.example/x y)(", "A [title]\n# No"),
            WebSource("https://b.example"),
        ),
        notes=("@nope.py: there is no such file",),
        rounds=(Usage(1200, 30, cached=900), Usage(1300, 5)),
        cost=0.0123,
        model="gpt-4.1",
    )
    end_text = ending(turn, (), file_name)
    assert end_text == (
        "**Limit reached.** All 10 rounds are used.\n\n"
        "- @nope.py: there is no such file\n\n"
        "Sources:\n\n- [A \\[title\\] # No](https://a.example/x%20y%29%28)\n"
        "- [https://b.example](https://b.example)\n\n"
        "*limited · 2,500 tokens in, 900 of them cached, 35 out · cost 0.0123 · gpt-4.1*"
    )
    assert has_ended(end_text)


def test_refused_tool_call_is_reported_once() -> None:
    refused = RejectedEdit("old.py", "", "edit.scope", "'old.py' may not be edited.")
    run = ToolRun(
        "c1", "delete_file", ToolState.ERROR, "old.py", f"Refused by edit.scope: {refused.message}"
    )
    turn = Turn(id="t1", ask=ASK, state=TurnState.COMPLETED, tool_calls=(run,), rejected=(refused,))
    turn_text = ChatTranscript(file_name)
    turn_text.add_tool(run)
    turn_text.end(turn, ())
    assert turn_text.text.count("may not be edited") == 1


def test_underscores_in_a_word_are_not_escaped() -> None:
    turn_text = ChatTranscript(file_name)
    turn_text.add_note("read_file_2 and _this_ and *that*")
    assert turn_text.text == "*read_file_2 and \\_this\\_ and \\*that\\**"


def test_answer_is_written_once_in_a_document_with_carriage_returns() -> None:
    page = make_page()
    text = page.frozen().fill(new_document("main").replace("\n", "\r"))
    assert [part.turn for part in parts(text)] == ["", "t1", ""]
    assert page.frozen().fill(text) == text
