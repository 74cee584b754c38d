from hypothesis import given
from hypothesis import strategies as st

from stet.completion.cursor_context import CHARACTERS_PER_TOKEN, cut_context
from stet.text.lines import split_lines
from stet.text.position import Position, Range

TEXT = "one\ntwo\nthree four\nfive\nsix\n"


def at(line: int, character: int) -> Range:
    return Range(Position(line, character), Position(line, character))


def test_context_has_whole_lines_around_the_cursor() -> None:
    context = cut_context(split_lines(TEXT), at(2, 5), 64)
    assert (context.prefix, context.suffix) == ("one\ntwo\nthree", " four\nfive\nsix\n")
    assert (context.line_before, context.line_after) == ("three", " four")
    assert (context.first_line, context.last_line) == (0, 5)


def test_context_has_another_text_in_place_of_the_replaced_one() -> None:
    replaced = Range(Position(2, 2), Position(2, 5))
    context = cut_context(split_lines(TEXT), replaced, 64, inserted="reshold")
    assert (context.line_before, context.line_after) == ("threshold", " four")


def test_context_keeps_its_first_line_while_lines_are_added() -> None:
    lines = [f"line {n:03}\n" for n in range(300)]
    starts = [cut_context(lines, at(line, 0), 200).first_line for line in range(200, 216)]
    assert len(set(starts)) == 2
    assert all(start % 16 == 0 for start in starts)


@given(
    st.lists(st.text("ab\u00e9\U0001f600 ", max_size=60), min_size=1, max_size=60),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(64, 300),
    st.data(),
)
def test_context_is_a_part_of_the_text_and_fits(
    texts: list[str], end: str, n_tokens: int, data: st.DataObject
) -> None:
    lines = split_lines(end.join(texts))
    line = data.draw(st.integers(0, len(lines) - 1))
    column = data.draw(st.integers(0, len(lines[line].rstrip("\r\n"))))
    context = cut_context(lines, at(line, column), n_tokens)
    before = "\n".join([*texts[:line], texts[line][:column]])
    after = "\n".join([texts[line][column:], *texts[line + 1 :]])
    assert before.endswith(context.prefix)
    assert after.startswith(context.suffix)
    assert len(context.prefix) <= n_tokens * CHARACTERS_PER_TOKEN * 3 / 4
    assert len(context.suffix) <= n_tokens * CHARACTERS_PER_TOKEN / 4 + 1
