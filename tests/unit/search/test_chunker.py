"""Files cut into passages: notes, plain text, and what holds for every text."""

from hypothesis import given, settings
from hypothesis import strategies as st

from stet.search.chunk import Chunk
from stet.search.chunker import MAX_CHARACTERS, MAX_LINES, chunk_file
from stet.text.lines import split_lines

NAMES = ["a.py", "a.md", "a.js", "a.rs", "a.c", "a.rb", "a.lua", "a.php", "a.csv", "Makefile", ""]
PIECES = [
    *["def f(a):", "async def g(", "class A(B):", "@dec", "    x = 1", "\tif x:", "# say", '"""'],
    *["'''", "# Title", "## Part", "Title\n===", "---", "```", "~~~", "- [ ] do", "> # in", ""],
    *["function f(a) {", "}", "});", "fn run(", ") -> X {", "impl A for B {", "/*", "*/", "//"],
    *["struct a {", "int f(int a)", "{", "end", "\x0c", "\u2028", "\x00", "\ud800", "words  "],
    *["M.x = function(a)", "#[test]", "  @dec(", "  )", "`", '"\\', "public:", "where"],
]
LINES = st.tuples(st.sampled_from(["", "  ", "    "]), st.sampled_from(PIECES)).map("".join)
TEXTS = st.one_of(
    st.text(st.characters() | st.sampled_from("\r\n\t #{}'\"")),
    st.tuples(st.lists(LINES, max_size=200), st.sampled_from(["\n", "\r\n", "\r"])).map(
        lambda drawn: drawn[1].join(drawn[0])
    ),
)


def check_complete(text: str, name: str) -> tuple[Chunk, ...]:
    """Every line that is not blank lies in one chunk, in order; a chunk begins and ends with
    one.
    """
    lines = split_lines(text)
    chunks = chunk_file(text, name)
    covered = [line for each in chunks for line in range(each.first, each.end)]
    assert covered == sorted(set(covered))
    assert {n for n, line in enumerate(lines) if line.strip()} <= set(covered)
    assert all(lines[each.first].strip() and lines[each.end - 1].strip() for each in chunks)
    return chunks


@settings(deadline=None)  # the first note has a parser imported
@given(TEXTS, st.sampled_from(NAMES))
def test_every_line_with_text_is_in_one_chunk(text: str, name: str) -> None:
    check_complete(text, name)


@given(TEXTS, st.sampled_from(NAMES))
def test_line_ends_make_no_difference(text: str, name: str) -> None:
    plain = "\n".join(line.rstrip("\r\n") for line in split_lines(text))
    assert chunk_file(plain.replace("\n", "\r\n"), name) == chunk_file(plain, name)
    assert chunk_file(plain.replace("\n", "\r"), name) == chunk_file(plain, name)


def test_a_text_without_anything_has_no_chunk() -> None:
    assert [chunk_file(text, name) for text in ("", "\n \r\n\t") for name in NAMES] == [()] * 22


def test_a_note_is_cut_at_its_headings_and_knows_what_they_lie_in() -> None:
    text = (
        "---\ntags: a\n---\n\nIntro.\n\n# Setup\n\nGo.\n\n## Linux\n```sh\n# no heading\n```\n"
        "### Arch *Linux*\nyes\n\nMac\n---\nno\n\n# End"
    )
    assert check_complete(text, "a.md") == (
        Chunk(0, 3),
        Chunk(4, 5),
        Chunk(6, 9, "Setup"),
        Chunk(10, 14, "Linux", "Setup"),
        Chunk(14, 16, "Arch *Linux*", "Setup > Linux"),
        Chunk(17, 20, "Mac", "Setup"),
        Chunk(21, 22, "End"),
    )


def test_a_long_section_is_cut_at_blank_lines_and_its_parts_keep_its_name() -> None:
    text = "# A\n## B\n" + "one\ntwo\nthree\n\n" * 30
    assert check_complete(text, "a.md") == (
        Chunk(0, 1, "A"),
        Chunk(1, 57, "B", "A"),
        Chunk(58, 89, "B", "A"),
        Chunk(90, 121, "B", "A"),
    )


def test_a_note_too_large_to_be_parsed_is_cut_all_the_same() -> None:
    chunks = check_complete("# A\n\nwords\n\n" * 20_000, "a.md")
    assert {each.name for each in chunks} == {""}


def test_data_is_cut_by_size() -> None:
    text = "a,b\n" * 150
    assert chunk_file(text, "a.csv") == (Chunk(0, 50), Chunk(50, 100), Chunk(100, 150))
    wide = "x" * 1_500 + "\n"
    assert chunk_file(wide * 4, "a.log") == (Chunk(0, 2), Chunk(2, 4))


def test_prose_defines_nothing() -> None:
    assert chunk_file("class struggle {\nfunction of it {\n", "a.txt") == (Chunk(0, 2),)


@given(st.lists(st.integers(0, 3 * MAX_CHARACTERS // 2), max_size=100))
def test_no_part_is_too_long_but_for_one_line(widths: list[int]) -> None:
    lines = ["x" * width for width in widths]
    for each in check_complete("\n".join(lines), "a.txt"):
        n_lines = each.end - each.first
        assert n_lines <= MAX_LINES
        assert n_lines == 1 or sum(map(len, lines[each.first : each.end])) <= MAX_CHARACTERS
