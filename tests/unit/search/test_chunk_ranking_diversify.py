"""What reads alike a thousand times does not push out what is asked for."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.search import chunk_ranking
from stet.search.chunk import ChunkRow, Exclusion
from stet.search.chunk_ranking import diversify
from stet.search.search_engine import N_LEXICAL, N_VECTOR, ChunkQuery
from tests.support.search_engine import engine_of, files_of

RIGHT = (
    "# Sailing\n\nBefore you leave, look up the tide in the table of the harbour: the water is low"
    " for hours, many boats have waited for it, and a chart alone says nothing of it.\n"
)
ASKED = "harbour tide table"


def rows_of(name: str, n: int) -> str:
    """A file whose passages all read alike but for one word."""
    return "".join(
        f"# Harbour tide table {at}\n\nHarbour tide table w{at}x.\n\n" for at in range(n)
    )


@pytest.mark.parametrize("by_words", [True, False])
@pytest.mark.parametrize("n_files", [1, 3])
def test_a_file_of_many_passages_that_differ_in_a_word_leaves_room_for_others(
    n_files: int, *, by_words: bool
) -> None:
    data = {f"data/{number}.md": rows_of("", 400) for number in range(n_files)}
    engine = engine_of({**data, "sailing.md": RIGHT})
    found = engine.search(
        ChunkQuery(ASKED, use_words=by_words, use_vectors=not by_words, limit=1000)
    )
    assert "sailing.md" in files_of(found)


@pytest.mark.parametrize(
    ("by_words", "places"), [(True, N_LEXICAL), (False, N_VECTOR)], ids=["words", "meaning"]
)
def test_a_text_that_was_copied_into_many_files_leaves_room_for_others(
    places: int, *, by_words: bool
) -> None:
    copies = {f"copy{number}/tides.md": rows_of("", 1) for number in range(400)}
    engine = engine_of({**copies, "sailing.md": RIGHT})
    found = engine.search(
        ChunkQuery(ASKED, use_words=by_words, use_vectors=not by_words, limit=1000)
    )
    assert "sailing.md" in files_of(found)
    assert len(found) == places // chunk_ranking.SHARE + 1


def test_people_are_shown_few_passages_of_a_file_and_fewer_that_read_the_same() -> None:
    copies = {f"copy{number}/tides.md": rows_of("", 1) for number in range(50)}
    engine = engine_of({"data.md": rows_of("", 400), **copies, "sailing.md": RIGHT})
    found = engine.search(ChunkQuery(ASKED, limit=10, for_people=True))
    n_of_file = Counter(files_of(found))
    assert n_of_file["data.md"] == chunk_ranking.IN_ANSWER
    assert n_of_file["sailing.md"] == 1
    assert sum(n for name, n in n_of_file.items() if "copy" in name) <= chunk_ranking.SAME_IN_ANSWER


@given(
    files=st.lists(st.sampled_from("abcdef"), max_size=200),
    limit=st.integers(min_value=chunk_ranking.SHARE, max_value=40),
)
def test_a_ranking_names_as_many_files_as_there_are_or_a_share_of_its_places(
    files: list[str], limit: int
) -> None:
    rows = {
        at: ChunkRow(at, uri, uri, 0, 1, "", "", 0, "", "", "", f"text {at}")
        for at, uri in enumerate(files)
    }
    whole = [(at, float(-at)) for at in rows]

    def again(without: Exclusion) -> list[tuple[int, float]]:
        return [each for each in whole if rows[each[0]].uri not in without.uris][:limit]

    found = diversify(whole[:limit], limit, dict(rows), lambda _: rows, again)

    assert list(found) == sorted(set(found), key=lambda each: -each[1])
    assert len(found) <= limit
    share = limit // chunk_ranking.SHARE
    if len(set(files[:limit])) >= share or len(whole) <= limit:
        assert [chunk for chunk, _ in found if chunk < limit] == list(range(min(limit, len(whole))))
    assert len({files[chunk] for chunk, _ in found}) >= min(share, len(set(files)))
