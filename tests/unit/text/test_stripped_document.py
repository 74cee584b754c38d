"""A text with blocks in it reads as if nothing were proposed."""

from stet.text.document import TextDocument
from stet.text.position import Position, Range
from stet.text.stripped_document import NO_REVISION, StrippedDocument, strip_blocks

TEXT = (
    "a\n"
    "<<<<<<< yours\none\ntwo\n=======\nnew\n>>>>>>> stet h1 (s)\n"
    "b\n"
    "<<<<<<< yours\n=======\nadded\n>>>>>>> stet h2\n"
    "<<<<<<< yours\nthree\n=======\n>>>>>>> stet h3\n"
    "c"
)


def stripped() -> StrippedDocument:
    document = TextDocument("file:///ws/a.py", TEXT, 3, "python", 9)
    found = strip_blocks(document, {"h1", "h2", "h3"})
    assert found is not None
    return found


def test_plain_text_has_the_old_lines_of_the_blocks() -> None:
    plain = TextDocument("file:///ws/a.py", "a\none\ntwo\nb\nthree\nc", 3, "python", NO_REVISION)
    assert stripped().plain == plain


def test_places_of_the_real_text_have_one_in_the_plain_text() -> None:
    lines = {
        0: (0, 1),  # a
        1: (1, 0),  # the mark
        2: (1, 2),  # one, as it is in the block
        3: (2, 2),  # two
        5: (1, 0),  # new
        7: (3, 1),  # b
        10: (4, 0),  # added
        16: (5, 1),  # c
    }
    found = {
        line: stripped().to_plain_position(Position(line, place[1]))
        for line, place in lines.items()
    }
    assert found == {line: Position(*place) for line, place in lines.items()}
    back = [stripped().to_real_line(line) for line in range(7)]
    assert back == [0, 1, 1, 7, 12, 16, 17]
    whole = Range(Position(1, 0), Position(7, 0))
    assert stripped().to_plain_range(whole) == Range(Position(1, 0), Position(3, 0))
