"""What of a model's answer is offered: the cursor is `|`, the answer follows, then the offer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.completion.cursor_context import CursorContext
from stet.completion.middle import MAX_LINES, Middle, fit, is_one_line

CASES = [
    # (text with the cursor, answer, offered text, whether more of the answer changes nothing)
    ("x = |\n", "1", "1", False),
    ("x = |\n", "1\n", "1", False),
    ("x = |\n", " 1", "1", False),
    ("x =|\n", " 1", " 1", False),
    ("x = |\n", "1 + \\\n    2\n\nprint", "1 + \\\n    2", True),
    # A part of the line follows: one line.
    ("f(|, 2)\n", "1, 3, 2)\nprint", "1, 3", True),
    ("if | else 2\n", "x", "x", False),
    # Brackets that the editor has closed.
    ("f(|)\n", "a, b)", "a, b", False),
    ("f(|):\n", "a, b):\n    return a", "a, b):\n    return a", False),
    ("f(|)\n", "\n    a,\n    b,\n)\nprint()", "\n    a,\n    b,\n", True),
    ('s = "|"\n', 'text"', "text", False),
    # The lines after the cursor are repeated.
    ("a\n|\nb = 2\n", "c = 3\nb = 2\nd", "c = 3", True),
    ("a\n|\nb = 2\n", "b = 2", "", False),
    ("a\nb |\nb = 2\n", "= 2\nc", "", False),
    ("{\n  a|\n}\n", ": 1,\n  b: 2\n}\n", ": 1,\n  b: 2", True),
    # The block ends, or the paragraph.
    ("def f():\n    |\n", "return 1\n\ndef g():", "return 1", True),
    ("def f():\n    |\n", "a = 1\n    b = 2\nf()", "a = 1\n    b = 2", True),
    ("def f():|\n", "\n    return 1\n\n", "\n    return 1", True),
    ("|\n", "\n\nText.\nMore.\n\n", "\n\nText.\nMore.", True),
    ("|\n", "   \n\n", "", False),
    ("- one\n- |\n", "".join(f"{n}\n- " for n in range(20)), "\n- ".join(map(str, range(8))), True),
]  # fmt: skip


@pytest.mark.parametrize(("text", "answer", "offered", "is_complete"), CASES)
def test_fit_ends_the_answer_where_it_fits(
    text: str, answer: str, offered: str, is_complete: bool
) -> None:
    found = fit(answer, context_of(text))
    assert (found.text, found.is_complete) == (offered, is_complete)


def test_one_line_is_offered_before_text_but_not_before_closing_brackets() -> None:
    follows = {"": False, ")": False, '");': False, "): # note": True, " else": True}
    assert {rest: is_one_line(context_of(f"x|{rest}\n")) for rest in follows} == follows


@given(st.text("a \n)}\t", max_size=80), st.sampled_from([case[0] for case in CASES]))
def test_fit_of_a_complete_answer_does_not_depend_on_the_rest(answer: str, text: str) -> None:
    context = context_of(text)
    whole = fit(answer, context)
    assert whole.text.count("\n") < MAX_LINES + answer.count("\n\n")
    for n in range(len(answer)):
        if fit(answer[:n], context).is_complete:
            assert fit(answer[:n], context) == Middle(whole.text, is_complete=True)


def context_of(text: str) -> CursorContext:
    prefix, _, suffix = text.partition("|")
    return CursorContext(prefix, suffix, 0, text.count("\n"))
