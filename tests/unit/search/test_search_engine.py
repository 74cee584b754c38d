"""Questions to the files that were put in."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.search.chunk import FileStamp, IndexEntry, SourceFile
from stet.search.index_store import IndexStore
from stet.search.search_engine import ChunkHit, ChunkQuery, SearchEngine, digest, make_entry
from tests.support.search_engine import Letters, engine_of, entry, files_of

CODE = {
    "src/dates.py": "def parse_date(text):\n    return text.split('-')\n",
    "src/use.py": "def main():\n    print(parse_date('2024-01-01'))\n",
    "tests/test_dates.py": "def test_parse_date():\n    assert parse_date('1-2') == ['1', '2']\n",
    "docs/dates.md": "# Dates\n\nHow dates are written.\n\n# Names\n\nOf people.\n",
}


def test_the_definition_comes_before_the_use() -> None:
    hits = engine_of(CODE).search(ChunkQuery("parse date"))
    assert files_of(hits)[0] == "src/dates.py"
    assert "src/use.py" in files_of(hits)


def test_code_outside_of_tests_ranks_first_among_equals() -> None:
    text = "def wait_for(event):\n    return event\n"
    engine = engine_of({"test/wait.py": text, "node_modules/wait.py": text, "work/wait.py": text})
    hits = engine.search(ChunkQuery("wait for an event", use_vectors=False))
    assert files_of(hits)[0] == "work/wait.py"


def test_hit_has_a_location_and_a_reason() -> None:
    (hit,) = engine_of(CODE).search(ChunkQuery("parse a date", limit=1))
    assert (hit.uri, hit.first, hit.end, hit.title) == ("file:///src/dates.py", 0, 2, "parse_date")
    assert hit.why.startswith("named: parse, date")
    assert hit.lexical_rank == 1


def test_search_is_limited_to_a_folder() -> None:
    engine = engine_of(CODE)
    assert set(files_of(engine.search(ChunkQuery("date", folder="docs")))) == {"docs/dates.md"}
    assert engine.search(ChunkQuery("date", folder="doc")) == []


def test_favoured_files_come_first() -> None:
    favoured = {"file:///tests/test_dates.py": 100.0}
    hits = engine_of(CODE).search(ChunkQuery("parse date", favoured=favoured))
    assert files_of(hits)[0] == "tests/test_dates.py"


def test_each_ranking_works_alone() -> None:
    engine = engine_of(CODE)
    words = engine.search(ChunkQuery("people", use_vectors=False))
    assert [(hit.title, hit.vector_rank) for hit in words] == [("Names", None)]
    meaning = engine.search(ChunkQuery("people", use_words=False))
    assert {hit.lexical_rank for hit in meaning} == {None}
    assert len(meaning) == engine.n_chunks


def test_words_are_searched_without_an_embedding() -> None:
    engine = SearchEngine(IndexStore(":memory:"))
    engine.add([entry("a.txt", "apple")])
    assert (engine.has_vectors, engine.embed()) == (False, 0)
    assert files_of(engine.search(ChunkQuery("apples"))) == ["a.txt"]


@pytest.mark.parametrize("text", ["", "   ", "-> !", "\0", '"', "NEAR(", "a OR", "*", "zzz"])
def test_any_query_is_answered_without_an_error(text: str) -> None:
    engine = engine_of(CODE)
    assert files_of(engine.search(ChunkQuery(text, use_vectors=False))) == []


def test_files_that_could_not_all_be_read_change_nothing() -> None:
    engine = engine_of({"a.txt": "apple"})

    def vanishing() -> Iterator[IndexEntry]:
        yield entry("a.txt", "banana")
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        engine.add(vanishing())
    hits = engine.search(ChunkQuery("apple"))
    assert (files_of(hits), hits[0].vector_rank, engine.n_chunks) == (["a.txt"], 1, 1)


def test_a_text_that_comes_back_has_its_vector_at_once() -> None:
    engine = engine_of({"a.txt": "apple", "b.txt": "banana"})
    engine.add([entry("b.txt", "pear")])
    engine.add([entry("b.txt", "banana")])
    assert {hit.file for hit in engine.search(ChunkQuery("bananas")) if hit.vector_rank} == {
        "a.txt",
        "b.txt",
    }


A_RANK = 0.25
"""What a place better or worse in a ranking may count."""
names = st.sampled_from(["a.py", "b.md", "src/c.py", "src/d.txt"])
texts = st.lists(
    st.sampled_from(
        ["def apple():", "    return pear", "# Pears and apples", "banana", "", "date"]
    ),
    max_size=6,
).map("\n".join)
changes = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.dictionaries(names, texts, max_size=3)),
        st.tuples(st.just("drop"), st.sets(names, max_size=2)),
        st.tuples(st.just("embed"), st.just({})),
    ),
    max_size=8,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(changes=changes, question=st.sampled_from(["apple", "pear date", "banana def", "return"]))
def test_updated_index_answers_as_a_new_index(
    changes: Sequence[tuple[str, dict[str, str] | set[str]]], question: str
) -> None:
    engine = SearchEngine(IndexStore(":memory:"), Letters())
    there: dict[str, str] = {}
    for change, files in changes:
        if change == "embed":
            engine.embed(2)
        elif isinstance(files, dict):
            engine.add(entry(name, text) for name, text in files.items())
            there |= files
        else:
            engine.drop(f"file:///{name}" for name in files)
            there = {name: text for name, text in there.items() if name not in files}
    while engine.embed():
        pass
    fresh = engine_of(there)

    assert engine.n_chunks == fresh.n_chunks
    found = _scores(engine.search(ChunkQuery(question)))
    wanted = _scores(fresh.search(ChunkQuery(question)))
    assert found.keys() == wanted.keys()
    # The order in which files came decides between equals: one of them has the better rank.
    assert all(abs(found[place] - wanted[place]) < A_RANK for place in found)


def _scores(hits: Sequence[ChunkHit]) -> dict[tuple[str, int], float]:
    return {(hit.file, hit.first): hit.score for hit in hits}


SECRETS = ("akia", "iosfodnn", "hunter", "cret", "quiet")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("n.md", "# Keys\n\n## AWS AKIAIOSFODNN7EXAMPLE\n\nbody\n\n### sub\n\nmore\n"),
        ("n.md", '# Login: password="hunter2S3cret"\n\nbody text\n'),
        ("n.md", f"# {'x ' * 48} postgres://me:hunter2S3cret@db.example/x\n\nbody text\n"),
        ("n.md", "# See postgres://me:quiet-hunter@db.example/x\n\nbody text\n"),
        ("AKIAIOSFODNN7EXAMPLE.md", "body\n"),
        ("AKIAIOSFODNN7EXAMPLE.md", '# Key\n\nbody password="hunter2S3cret"\n'),
        ("c.ini", "[db postgres://me:hunter2S3cret@db/x]\nuser = 1\n"),
        ("a.py", "def test_it():\n    x = {'AKIAIOSFODNN7EXAMPLE': 1}\n"),
    ],
)
def test_what_is_embedded_elsewhere_has_no_secret_in_any_of_its_parts(name: str, text: str) -> None:
    stamp = FileStamp(None, len(text), digest(text))
    made = make_entry(SourceFile(f"file:///{name}", name, text, stamp, is_sent=True))
    meant = " ".join(each.embedded for each in made.fields)
    assert [word for word in SECRETS if word in meant] == []
    kept = make_entry(SourceFile(f"file:///{name}", name, text, stamp))
    assert any(word in each.embedded for each in kept.fields for word in SECRETS)


def test_what_is_sent_keeps_the_names_that_are_no_secrets() -> None:
    text = '# Setup of the database\n\n## Login\n\npassword = "hunter2S3cret"\n'
    stamp = FileStamp(None, len(text), digest(text))
    made = make_entry(SourceFile("file:///docs/db.md", "docs/db.md", text, stamp, is_sent=True))
    assert made.fields[-1].embedded == (
        "setup of the database login docs db setup of the database login login password"
    )
