"""The lines of code that a model has written so far."""

from itertools import groupby

import pytest

from stet.agent.code_progress import CodeProgress
from stet.privacy.redactor import Redactor

KEY = "sk-proj-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWprbG1ub3A"
CODE = "def f():\n\n    return 1\n"


def reported(answer: str, *, begins_in_code: bool = False, size: int = 3) -> list[tuple[int, str]]:
    """Return what is reported of an answer in pieces of `size` characters, without repeats."""
    lines: list[tuple[int, str]] = []
    progress = CodeProgress(
        lambda n, line: lines.append((n, line)), Redactor(), begins_in_code=begins_in_code
    )
    for at in range(0, len(answer), size):
        progress.write(answer[at : at + size])
    return [line for line, _ in groupby(lines)]


def test_lines_of_blocks_are_counted_and_text_around_them_is_not() -> None:
    answer = f"I return one.\n\n```python\n{CODE}```\n\nAnd:\n~~~\nx = 2\n~~~\nThat is all.\n"
    lines = [(1, "def f():"), (2, "def f():"), (3, "return 1"), (4, "x = 2")]
    assert reported(answer, size=1) == lines


def test_piece_of_several_lines_is_reported_by_the_last_of_them() -> None:
    assert reported(f"```python\n{CODE}x = 2", size=1000) == [(3, "return 1")]


def test_answer_without_a_fence_is_code_where_code_is_expected() -> None:
    lines = [(1, "def f():"), (2, "def f():"), (3, "return 1")]
    assert reported(CODE, begins_in_code=True) == lines
    assert reported(CODE) == []


def test_lines_before_the_first_fence_are_not_counted_after_it() -> None:
    found = reported("Here it is:\n```\nx = 1\n```\nThat is all.\n", begins_in_code=True)
    assert found == [(1, "Here it is:"), (1, "x = 1")]


def test_fence_within_a_longer_fence_is_a_line_of_its_block() -> None:
    found = reported("````md\n```py\nx = 1\n```\n````\nThat is all.\n")
    assert found == [(1, "```py"), (2, "x = 1"), (3, "```")]


def test_line_that_is_not_finished_is_not_reported() -> None:
    assert reported(f"```\nKEY = 1\nTOKEN = {KEY[:20]}") == [(1, "KEY = 1")]


@pytest.mark.parametrize(
    "line", [f'TOKEN = "{KEY}"', "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"]
)
def test_line_with_a_secret_is_counted_and_not_shown(line: str) -> None:
    assert reported(f"```\nx = 1\n{line}\ny = 2\n```\n") == [(1, "x = 1"), (2, ""), (3, "y = 2")]


def test_secret_of_the_model_is_not_searched_for_in_other_texts() -> None:
    redactor = Redactor()
    progress = CodeProgress(lambda *_: None, redactor, begins_in_code=True)
    progress.write(f'TOKEN = "{KEY}"\n')
    assert redactor.known() == []


def test_known_secret_is_not_shown() -> None:
    redactor, lines = Redactor(), []
    redactor.add_known([("correct-horse-battery-7", "password")])
    progress = CodeProgress(lambda n, line: lines.append((n, line)), redactor, begins_in_code=True)
    progress.write("f('correct-horse-battery-7')\n")
    assert lines == [(1, "")]


def test_repeated_request_begins_again() -> None:
    lines: list[tuple[int, str]] = []
    waits: list[str] = []
    progress = CodeProgress(
        lambda n, line: lines.append((n, line)), Redactor(), begins_in_code=False
    )
    progress.write("```\nx = 1\nbroken")
    progress.restarting(waits.append)("The model is asked again.")
    progress.write("text\n```\ny = 2\n")
    assert (lines, waits) == ([(1, "x = 1"), (1, "y = 2")], ["The model is asked again."])
