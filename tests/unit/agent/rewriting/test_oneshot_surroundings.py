"""What models answer to a rewrite besides the new text: the line, its indentation, the tags, no
blanks.
"""

from collections.abc import Callable

import pytest

from stet.agent.turn import TurnState
from stet.llm.model import Completion
from stet.llm.scripted_model import say
from tests.support.rewrite_turns import LINE, PATH, fenced, rewritten

CODE = "def f():\n    return  a+b\n    x=1\n"


@pytest.mark.slow
@pytest.mark.parametrize("form", [fenced, say])
@pytest.mark.parametrize(
    ("text", "selected", "answer", "after"),
    [
        (LINE, "two", "one TWO three", "one TWO three\n"),
        (LINE, "two", "one <selection>TWO</selection> three", "one TWO three\n"),
        ("a.\none two three\nb.\n", "two", "a.\none <selection>TWO</selection> three\nb.",
         "a.\none TWO three\nb.\n"),
        ("a b c\r\nd e f\r\n", "c\r\nd", "a b C\nD e f", "a b C\r\nD e f\r\n"),
        ("a b c\r\nd e f\r\n", "c\r\nd", "<selection>C\nD</selection>", "a b C\r\nD e f\r\n"),
        ("It was the end of all.\n", "end of all", "It was the start of all.",
         "It was the start of all.\n"),
        (LINE, "one", "ONE two three", "ONE two three\n"),
        (LINE, "two ", "TWO", "one TWO three\n"),
        (LINE, " two ", "TWO", "one TWO three\n"),
        (LINE, " two", "TWO", "one TWO three\n"),
        (LINE, " two", ", TWO", "one, TWO three\n"),
        (LINE, "two", "<selection>TWO</selection>\n", "one TWO three\n"),
        (CODE, "return  a+b", "    return a + b", "def f():\n    return a + b\n    x=1\n"),
        (CODE, "return  a+b\n    x=1\n", "    return a + b\n    x = 1",
         "def f():\n    return a + b\n    x = 1\n"),
    ],
)  # fmt: skip
async def test_text_around_the_selection_is_not_written_twice(
    form: Callable[[str], Completion], text: str, selected: str, answer: str, after: str
) -> None:
    path = "/ws/a.py" if text is CODE else PATH
    turn, proposed, _ = await rewritten(text, selected, form(answer), path=path)
    assert (turn.state, proposed) == (TurnState.COMPLETED, after), turn.error


@pytest.mark.parametrize(
    "answer",
    [
        "one <selection>TWO</selection> four",
        "<selection>TWO",
        "TWO</selection>",
        "<selection>T</selection><selection>WO</selection>",
        "</selection>TWO<selection>",
    ],
)
@pytest.mark.parametrize("form", [fenced, say])
async def test_selection_tags_are_not_proposed(
    form: Callable[[str], Completion], answer: str
) -> None:
    turn, proposed, _ = await rewritten(LINE, "two", form(answer))
    assert (turn.state, proposed) == (TurnState.FAILED, LINE)
    assert "<selection>" in turn.error


@pytest.mark.parametrize(
    ("selected", "answer"), [("two three", "one 2 3"), ("two", "one TWO"), ("two", "TWO three")]
)
async def test_unfenced_answer_that_repeats_one_word_beside_the_selection_is_ambiguous(
    selected: str, answer: str
) -> None:
    turn, proposed, _ = await rewritten(LINE, selected, say(answer))
    assert (turn.state, proposed) == (TurnState.FAILED, LINE)
