"""Files that a question is about, though none of their passages is near to it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.search.file_ranker import MAX_FILES_RANKED, ChunkSpans
from stet.search.index_store import IndexStore
from stet.search.search_engine import N_LEXICAL, ChunkQuery, SearchEngine
from tests.support.search_engine import engine_of, entry, files_of

OVERFLOW = "# Overflow\n\nHow an integer overflow is found, and what it does to memory.\n"
NOISE = {f"notes/overflow{number}.md": OVERFLOW + f"Case {number}.\n" for number in range(120)}
READER = "def chunk(data):\n    return data[4:]\n"


def test_a_question_that_begins_with_a_path_finds_that_file() -> None:
    engine = engine_of({**NOISE, "video/readers/png.py": READER, "video/readers/jpeg.py": READER})
    asked = "video/readers/png: Avoid an integer overflow that does something to memory"
    assert files_of(engine.search(ChunkQuery(asked)))[0] == "video/readers/png.py"
    assert (
        files_of(engine.search(ChunkQuery(asked, use_vectors=False)))[0] == "video/readers/png.py"
    )


def test_a_file_is_found_by_a_name_among_words_that_others_have_more_of() -> None:
    engine = engine_of({**NOISE, "tools/tiffcp.py": READER})
    found = engine.search(ChunkQuery("tiffcp loses memory", use_vectors=False))
    assert files_of(found)[0] == "tools/tiffcp.py"


def test_of_a_file_that_only_its_name_finds_the_first_passage_is_shown() -> None:
    text = "def one():\n    pass\n\n\ndef two():\n    pass\n"
    engine = engine_of({**NOISE, "tools/tiffcp.py": text})
    found = engine.search(ChunkQuery("tiffcp: overflow", use_vectors=False, limit=1000))
    assert next(hit for hit in found if hit.file == "tools/tiffcp.py").first == 0


def test_words_spread_over_a_file_count_together() -> None:
    parts = "".join(
        f"def {word}():\n    pass\n\n\n" for word in ("grant", "ticket", "renewal", "realm")
    )
    one = {f"other/one{number}.py": "def grant():\n    pass\n" for number in range(30)}
    engine = engine_of({**one, "src/all.py": parts})
    asked = "grant no ticket without a renewal in its realm"
    assert files_of(engine.search(ChunkQuery(asked, use_vectors=False)))[0] == "src/all.py"


def test_common_words_are_not_looked_for_in_all_files(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of({**NOISE, "tools/tiffcp.py": READER})
    looked_for: list[str] = []
    real_chunks_with = IndexStore.chunks_with

    def counted(store: IndexStore, term: str) -> list[int]:
        looked_for.append(term)
        return real_chunks_with(store, term)

    monkeypatch.setattr(IndexStore, "chunks_with", counted)
    monkeypatch.setattr("stet.search.search_engine.MAX_FOUND_OF_FILES", 3)
    asked = "tiffcp data overflow memory"
    assert "tools/tiffcp.py" in files_of(engine.search(ChunkQuery(asked, use_vectors=False)))
    assert looked_for == ["tiffcp", "data"]


def test_only_files_below_the_folder_are_put_up() -> None:
    engine = engine_of({"a/png.py": READER, "b/png.py": READER})
    assert set(files_of(engine.search(ChunkQuery("png: data", folder="b")))) == {"b/png.py"}


def test_of_copies_one_is_put_up() -> None:
    engine = engine_of({f"copy{number}/png.py": READER for number in range(200)})
    found = engine.search(ChunkQuery("png: data chunk", use_vectors=False, limit=1000))
    assert len(found) < N_LEXICAL + MAX_FILES_RANKED


def test_files_are_known_again_when_the_index_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with IndexStore(path) as store:
        engine = SearchEngine(store)
        engine.add(entry(name, READER) for name in ("a/png.py", "b/gif.py", "c/bmp.py"))
        engine.add([entry("a/png.py", READER * 3)])
        engine.drop(["file:///c/bmp.py"])
        before = engine.search(ChunkQuery("png: data"))
    with IndexStore(path) as store:
        assert SearchEngine(store).search(ChunkQuery("png: data")) == before
        assert "c/bmp.py" not in files_of(SearchEngine(store).search(ChunkQuery("bmp: data")))


@given(
    st.lists(
        st.tuples(st.integers(min_value=0, max_value=5), st.integers(min_value=0, max_value=4))
    )
)
def test_a_chunk_is_known_to_be_of_the_file_that_it_was_put_in_with(
    changes: list[tuple[int, int]],
) -> None:
    spans, files, last = ChunkSpans([]), dict[int, range](), 1
    for name, size in changes:
        spans.drop(files.pop(name, range(0)))
        files[name] = range(last, last + size)
        spans.add(files[name])
        last += size
    there = [each for each in files.values() if each]
    assert len(spans) == len(there)
    for each in there:
        assert {spans.file_of[chunk] for chunk in each} == {each[0]}
        assert spans.chunks_of(each[0]) == each
