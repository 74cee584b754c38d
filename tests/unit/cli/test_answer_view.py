"""The growing answer on a terminal: what is printed once, and what is drawn again."""

import io

import pytest
from rich.console import Console

from stet.cli.answer_view import AnswerView, can_show, finished_length

ANSWER = "# Cart\n\nIt adds `total`.\n\n- one\n- two\n\n```python\nx = 1\n```\n\nSee [it](https://a.b).\n"


def console(**options: object) -> Console:
    settings = {"force_terminal": True, "width": 80, "height": 24, "color_system": "standard"}
    return Console(file=io.StringIO(), _environ={}, **settings | options)  # type: ignore[arg-type]


def written(shown: Console) -> str:
    assert isinstance(shown.file, io.StringIO)
    return shown.file.getvalue()


def append_all(view: AnswerView, text: str, size: int = 5) -> None:
    for start in range(0, len(text), size):
        view.append(start, text[start : start + size])


def interrupt(view: AnswerView, text: str) -> None:
    with view.shown():
        append_all(view, text)
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("text", "finished"),
    [
        ("", ""),
        ("One par", ""),
        ("One.\n\nTwo", "One.\n\n"),
        ("One.\n\n- a\n\n- b\n", "One.\n\n"),
        ("One.\n\n```py\n\nx = 1\n", "One.\n\n"),
        ("```py\n\nx = 1\n```\n\nTwo", "```py\n\nx = 1\n```\n\n"),
        ("Title\n===", ""),
        ("| a |\n| - |\n| 1", ""),
    ],
)
def test_finished_length_is_that_of_all_blocks_but_the_last(text: str, finished: str) -> None:
    assert text[: finished_length(text)] == finished


def test_answer_view_prints_each_block_once_rendered() -> None:
    shown = console()
    view = AnswerView(shown)
    append_all(view, ANSWER)
    view.finish(ANSWER.strip())
    text = written(shown)
    for part in ("Cart", "total", "one", "two", "https://a.b"):
        assert text.count(part) == 1
    assert not any(mark in text for mark in ("# Cart", "```", "`total`", "]8;"))


def test_answer_view_prints_an_answer_again_that_was_written_anew() -> None:
    shown = console()
    view = AnswerView(shown)
    append_all(view, "Apple.\n\nPear.\n\nPl")
    view.append(0, "Fig.\n\nPlum.")
    view.finish("Fig.\n\nPlum.")
    assert [written(shown).count(word) for word in ("Apple", "Pear", "Fig", "Plum")] == [1] * 4


def test_answer_view_leaves_the_cursor_shown_and_the_text_after_an_interrupt() -> None:
    shown = console()
    view = AnswerView(shown)
    with pytest.raises(KeyboardInterrupt):
        interrupt(view, "An answer that is cut")
    assert written(shown).rindex("\x1b[?25h") > written(shown).rindex("\x1b[?25l")
    assert "An answer that is cut" in written(shown)


def test_answer_view_draws_no_more_lines_than_the_terminal_has() -> None:
    shown = console(height=10)
    view = AnswerView(shown)
    view.append(0, "```\n" + "".join(f"line {n}\n" for n in range(50)))
    lines = shown.render_lines(view, shown.options, pad=False)
    assert len(lines) < 10
    assert any("line 49" in segment.text for line in lines for segment in line)


def test_can_show_needs_a_terminal_with_colours() -> None:
    assert can_show(console())
    assert not can_show(console(force_terminal=False))
    assert not can_show(console(no_color=True))
