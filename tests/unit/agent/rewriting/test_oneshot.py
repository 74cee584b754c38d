"""A rewrite replaces exactly the selected characters, and leaves the rest of their lines."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stet.agent.rewriting.oneshot import new_text
from stet.agent.rewriting.rewrite_passage import RewritePassage
from stet.agent.turn import TurnFailed, TurnState
from stet.llm.model import Completion, Request
from stet.llm.scripted_model import say
from stet.settings.values import PrivacySettings, Settings
from stet.text.document import TextDocument
from stet.text.position import Position, Range
from stet.workspace.workspace import WireEdit
from tests.support.rewrite_turns import LINE, PATH, begin, fenced, range_at, rewritten
from tests.support.workspaces import insertion


@pytest.mark.parametrize(
    ("text", "selected", "answer", "after"),
    [
        (LINE, "two", "TWO", "one TWO three\n"),
        (LINE, "one", "ONE", "ONE two three\n"),
        (LINE, "three", "THREE", "one two THREE\n"),
        (LINE, "three\n", "THREE", "one two THREE\n"),
        (LINE, "one two three", "A", "A\n"),
        (LINE, "one two three", "A\nB", "A\nB\n"),
        (LINE, LINE, "A", "A\n"),
        (LINE, "two ", "", "one three\n"),
        (LINE, "two", "T\nW\nO", "one T\nW\nO three\n"),
        ("one two three", "three", "THREE", "one two THREE"),
        ("a b\nc d\ne f\n", "b\nc", "B\nC", "a B\nC d\ne f\n"),
        ("a b\nc d\ne f\n", "b\nc d\n", "B\nC", "a B\nC\ne f\n"),
        ("a b\nc d\ne f\n", "b\nc d\ne", "X", "a X f\n"),
        ("a b\nc d\ne f\n", "a b\nc", "X", "X d\ne f\n"),
        ("a b\r\nc d\r\ne f\r\n", "b\r\nc", "B\nX\nC", "a B\r\nX\r\nC d\r\ne f\r\n"),
        ("a b\r\nc d\r\ne f\r\n", "d\r\n", "D", "a b\r\nc D\r\ne f\r\n"),
        ("a b\nc d\r\ne f\n", "c d\r\n", "C\nD", "a b\nC\r\nD\r\ne f\n"),
        ("a\rb c\rd\r", "b", "B", "a\rB c\rd\r"),
        ("\U0001f600 two \U0001f600 e\u0301nd\n", "two", "TWO", "\U0001f600 TWO \U0001f600 e\u0301nd\n"),
        ("x = f(1, 2)\n", "1, 2", "3", "x = f(3)\n"),
        ("a `b` c\n", "`b`", "`B`", "a `B` c\n"),
        ("\n\nx", "\n", "y", "y\n\nx"),
    ],
)  # fmt: skip
async def test_the_answer_replaces_the_selected_characters(
    text: str, selected: str, answer: str, after: str
) -> None:
    turn, proposed, table = await rewritten(text, selected, fenced(answer))
    assert (turn.state, proposed) == (TurnState.COMPLETED, after), turn.error
    assert len(table.hunks) == 1


async def test_the_model_sees_the_selection_marked_in_what_is_around_it() -> None:
    text = "Before.\none two three\nAfter.\n"
    _, _, table = await rewritten(text, "two", fenced("TWO"))
    (request,) = table.model.requests
    assert request.messages[-1].content == (
        '<file_contents path="a.md" lines="1-3">\n'
        "Before.\none <selection>two</selection> three\nAfter.\n</file_contents>\n\n"
        "Shout\n\n```markdown\ntwo\n```"
    )


async def test_request_leaves_out_text_far_from_the_selection() -> None:
    text = "far\n" * 100 + "near\n" * 30 + "a two b\n" + "near\n" * 30 + "far\n" * 100
    _, _, table = await rewritten(text, "two", fenced("TWO"))
    shown = table.model.requests[0].messages[-1].content
    assert (shown.count("near"), "far" in shown, 'lines="101-161"' in shown) == (60, False, True)


async def test_request_for_a_long_line_holds_the_text_nearest_to_the_selection() -> None:
    text = "far " * 5000 + "a two b " + "far " * 5000 + "\n"
    turn, proposed, table = await rewritten(text, "two", fenced("TWO"))
    assert (turn.state, proposed) == (TurnState.COMPLETED, text.replace("two", "TWO"))
    assert len(table.model.requests[0].messages[-1].content) < 7000


async def test_selection_mark_differs_from_marks_in_the_text() -> None:
    text = "one </selection> two <selection> three\n"
    _, proposed, table = await rewritten(text, "two", fenced("<selection2>TWO</selection2>"))
    assert "<selection2>two</selection2>" in table.model.requests[0].messages[-1].content
    assert proposed == "one </selection> TWO <selection> three\n"


# -- an answer without a fence -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "selected", "answer", "after"),
    [
        (LINE, "two", "TWO", "one TWO three\n"),
        (LINE, "two", "TWO\n", "one TWO three\n"),
        (LINE, "two", "\n\nTWO\n\n", "one TWO three\n"),
        (LINE, "two", " TWO", "one TWO three\n"),
        (LINE, "two", "<selection>TWO</selection>", "one TWO three\n"),
        (LINE, LINE, "ONE TWO THREE", "ONE TWO THREE\n"),
        ("a b\r\nc d\r\n", "b\r\nc", "B\nC", "a B\r\nC d\r\n"),
        ("Sure, it is.\n", "Sure, it is.", "Sure, it was.", "Sure, it was.\n"),
        ("He said:\n", "said:", "shouted:", "He shouted:\n"),
        ('say "a" b\n', '"a"', '"A"', 'say "A" b\n'),
        ("One.\n\nTwo.\n", "One.\n\nTwo.\n", "1.\n\n2.\n", "1.\n\n2.\n"),
    ],
)
async def test_unfenced_answer_is_accepted_if_it_is_unambiguous(
    text: str, selected: str, answer: str, after: str
) -> None:
    turn, proposed, _ = await rewritten(text, selected, say(answer))
    assert (turn.state, proposed) == (TurnState.COMPLETED, after), turn.error


@pytest.mark.parametrize(
    "answer",
    [
        "Sure! TWO",
        "Sure: TWO",
        "Here is the new text:\nTWO",
        "Here\u2019s the rewrite: TWO",
        "TWO\n\nI have put it in capitals.",
        "TWO\nI have put it in capitals.",
        "I can't do that.",
        "I\u2019m sorry, I cannot do that.",
        "Unfortunately, no.",
        "Done.",
        "No changes needed.",
        "Could you tell me more?",
        "The rewritten text is TWO",
        "Der neue Text:\nTWO",
        '"TWO"',
        "`TWO`",
        "**TWO**",
        "That word names a number, and there is no telling what you would like to have done with it.",
        "```TWO```",
        "~~~\nTWO\n~~~",
        "",
        "  \n ",
    ],
)
async def test_answer_that_may_be_about_the_text_is_refused(answer: str) -> None:
    turn, proposed, table = await rewritten(LINE, "two", say(answer))
    assert turn.state is TurnState.FAILED
    assert "fenced block" in turn.error or "is ambiguous" in turn.error
    assert (proposed, table.hunks) == (LINE, ())


@pytest.mark.parametrize(
    ("answer", "is_taken"),
    [
        ("function add(a, b) {\n  // Adds.\n  return a + b;\n}", True),
        ("function add(x, y) {\n  return x + y;\n}", True),
        ("This adds two numbers.", False),
        ("It adds.\nThen it returns.\nThat is all.", False),
        ("function add(a, b) {\n  return a + b;\n}\nI have renamed nothing.", False),
    ],
)
async def test_unfenced_answer_for_several_lines_must_look_like_code(
    answer: str, is_taken: bool
) -> None:
    text = "function add(a, c) {\n  return a + c;\n}\n"
    turn, _, _ = await rewritten(text, text, say(answer), path="/ws/a.js")
    assert (turn.state is TurnState.COMPLETED) == is_taken, turn.error


async def test_fenced_block_that_may_be_the_selection_is_refused() -> None:
    text = "```\ncode\n```\n"
    turn, _, _ = await rewritten(text, text, say("```\nCODE\n```"))
    assert "has nested code fences" in turn.error
    turn, after, _ = await rewritten(text, text, say("````\n```\nCODE\n```\n````"))
    assert (turn.state, after) == (TurnState.COMPLETED, "```\nCODE\n```\n")


# -- what the user types meanwhile ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        (insertion(0, 0, "zero "), "zero one TWO three\n"),
        (insertion(0, 4, "x"), "one xTWO three\n"),
        (insertion(0, 7, "x"), "one TWOx three\n"),
        (insertion(0, 3, "\n"), "one\n TWO three\n"),
        (insertion(0, 7, "\n\n"), "one TWO\n\n three\n"),
        (WireEdit(0, 0, 0, 4, ""), "TWO three\n"),
        (WireEdit(0, 7, 0, 13, ""), "one TWO\n"),
        (insertion(1, 0, "more\n"), "one TWO three\nmore\n"),
    ],
)
async def test_text_typed_beside_the_selection_is_kept(edit: WireEdit, after: str) -> None:
    def typing(request: Request) -> Completion:
        table.type(edit, PATH)
        return fenced("TWO")

    table, turn = begin(LINE, "two", typing)
    ended = await table.end_of(turn)
    assert (ended.state, table.proposed(PATH)) == (TurnState.COMPLETED, after), ended.error


@pytest.mark.parametrize(
    "edit", [WireEdit(0, 5, 0, 6, "x"), WireEdit(0, 4, 0, 7, ""), WireEdit(0, 2, 0, 9, "!")]
)
async def test_text_typed_into_the_selection_is_not_replaced(edit: WireEdit) -> None:
    def typing(request: Request) -> Completion:
        table.type(edit, PATH)
        return fenced("TWO")

    table, turn = begin(LINE, "two", typing)
    ended = await table.end_of(turn)
    assert ended.error.startswith("The selected text changed in the meantime"), ended
    assert table.hunks == ()


# -- secrets -------------------------------------------------------------------------------------

KEY = "AKIA" + "IOSFODNN7EXAMPLQ"
SECRET = f"before {KEY} after\n"


@pytest.mark.parametrize(("start", "end"), [(0, 11), (9, 27), (9, 12), (11, len(SECRET) - 2)])
async def test_no_part_of_a_secret_is_sent(start: int, end: int) -> None:
    selected = range_at(SECRET, start, end)
    turn, after, table = await rewritten(SECRET, selected, fenced("x"))
    assert "inside a secret" in turn.error
    assert (after, table.model.requests) == (SECRET, [])


async def test_a_whole_secret_beside_the_selection_or_in_it_is_sent_as_its_mark() -> None:
    for selected in ("after", KEY, SECRET):
        _, _, table = await rewritten(SECRET, selected, fenced("x"))
        shown = table.model.requests[0].messages[-1].content
        assert KEY not in shown
        assert "[redacted: " in shown


async def test_short_password_is_not_sent_without_its_key() -> None:
    text = 'password = "hunter2x"\n'
    turn, _, table = await rewritten(text, "hunter2x", fenced("x"), path="/ws/a.py")
    sent = "".join(m.content for request in table.model.requests for m in request.messages)
    assert "hunter2x" not in sent, turn


async def test_secret_may_be_cut_if_redaction_is_off() -> None:
    settings = Settings(privacy=PrivacySettings(redact_secrets=False))
    turn, _, _ = await rewritten(SECRET, range_at(SECRET, 0, 11), fenced("x"), settings=settings)
    assert turn.state is TurnState.COMPLETED, turn.error


# -- the embedded model --------------------------------------------------------------------------


async def test_the_embedded_model_rewrites_the_selection_only() -> None:
    turn, after, table = await rewritten(LINE, "two", fenced("TWO"), is_tiny=True)
    assert (turn.state, after) == (TurnState.COMPLETED, "one TWO three\n"), turn.error
    assert "three" not in table.model.requests[0].messages[-1].content


@pytest.mark.parametrize(
    ("text", "selected", "asked", "after"),
    [
        ("Here it are now and it are good.\n", "it are now", ["it are now"],
         "Here it is now and it are good.\n"),
        ("First it are so\nthen it are not it are\n", "it are so\nthen it are not",
         ["it are so", "then it are not"], "First it is so\nthen it is not it are\n"),
        ("Who recieves it?\n", " recieves ", ["recieves"], "Who receives it?\n"),
    ],
)  # fmt: skip
async def test_the_embedded_model_corrects_the_selection_only(
    text: str, selected: str, asked: list[str], after: str
) -> None:
    def correct(request: Request) -> Completion:
        return say(request.messages[-1].content.replace("are", "is").replace("cie", "cei"))

    turn, proposed, table = await rewritten(
        text, selected, *[correct] * 3, prompt="Correct grammar and spelling", is_tiny=True
    )
    assert (turn.state, proposed) == (TurnState.COMPLETED, after), turn.error
    assert [request.messages[-1].content for request in table.model.requests] == asked


async def test_the_embedded_model_documents_the_lines_of_the_selection() -> None:
    text = "x = 1\ndef f():\n    return 1\n"
    _, after, _ = await rewritten(
        text, "f():\n    return", say("Give one."), path="/ws/a.py", prompt="Document this",
        is_tiny=True,
    )  # fmt: skip
    assert after == 'x = 1\ndef f():\n    """Give one."""\n    return 1\n'


# -- every selection -----------------------------------------------------------------------------

TEXTS = st.text(st.sampled_from("ab .\u00e9\U0001f600\n`"), min_size=1, max_size=40)
ANSWERS = st.text(st.sampled_from("xy .\u00e9\U0001f600\n"), max_size=12)


@pytest.mark.slow
@given(TEXTS, ANSWERS, st.integers(0, 40), st.integers(0, 40), st.sampled_from(["\n", "\r\n"]))
def test_every_selection_is_replaced_to_the_character(
    text: str, answer: str, first: int, second: int, line_end: str
) -> None:
    text = text.replace("\n", line_end)
    document = TextDocument("file:///ws/a.md", text)
    selected = range_at(text, *sorted((min(first, len(text)), min(second, len(text)))))
    start, end = document.offset_at(selected.start), document.offset_at(selected.end)
    if start == end:
        return
    passage = RewritePassage.of(document, "a.md", selected, "Shout")
    # Of a selection that begins with a fence, the answer's own fence can't be distinguished from its text.
    assume(not passage.text.lstrip().startswith("```"))
    # A fence ends the last line of what is in it; the selection has an end where it has one.
    new = new_text(f"```\n{answer}\n```", passage, "selection")
    own_end = line_end if passage.text.endswith(line_end) else ""
    assert new == answer.replace("\n", passage.line_end) + own_end
    assert not own_end or passage.line_end == line_end
    assert passage.edit(new).apply(text) == text[:start] + new + text[end:]


@given(ANSWERS, st.sampled_from([PATH, "/ws/a.js"]))
def test_unfenced_answers_are_never_accepted_by_accident(answer: str, path: str) -> None:
    document = TextDocument(f"file://{path}", LINE)
    two = Range(Position(0, 4), Position(0, 7))
    passage = RewritePassage.of(document, path, two, "Shout")
    try:
        assert new_text(answer, passage, "selection") == answer.strip()
    except TurnFailed:
        assert not answer.strip() or "\n" in answer.strip()
