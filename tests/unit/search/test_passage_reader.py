"""The line that a hit is shown by."""

from hypothesis import given
from hypothesis import strategies as st

from stet.search.chunk import query_terms, words
from stet.search.passage_reader import _best_line
from stet.text.document import TextDocument

WORDS = st.sampled_from(
    [
        "getUserNames",
        "get_user_names",
        "__user",
        "names",
        "NAMES2",
        "a1b2",
        "über",
        "Größe",
        "x",
        "",
    ]
)
LINES = st.lists(st.lists(WORDS, max_size=5).map(" ".join), min_size=1, max_size=8)


@given(LINES, st.lists(WORDS, min_size=1, max_size=4).map(" ".join))
def test_best_line_is_the_first_with_most_query_words(lines: list[str], question: str) -> None:
    document = TextDocument("file:///ws/a.py", "\n".join(lines))
    terms = set(query_terms(question))
    candidates = [at for at, line in enumerate(lines) if line.strip()] or [0]
    wanted = max(candidates, key=lambda at: (len(terms & set(words(lines[at]).split())), -at))
    assert _best_line(document, 0, len(lines), terms) == wanted
