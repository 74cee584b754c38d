"""Which words of a passage are compared with a question."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.search.chunk import (
    MAX_EMBEDDED_WORDS,
    MAX_TERMS,
    MAX_WORD,
    Chunk,
    ChunkFields,
    make_fields,
    query_embedding_text,
    query_terms,
    subject_terms,
    words,
)
from stet.text.lines import split_lines


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("getUserNames", "get user nam getusernames"),
        ("parse_config2", "pars config 2 parseconfig2"),
        ("HTTPServer.run()", "http serv httpserver run"),
        ("the running runners", "the run run"),
        ("Größe naïve", "grösse naïve"),
        ("cafe\u0301", "café"),
        ("Привет", "привет"),
        ("日本語", "日本 本語"),
        ("v2日本", "v2 日本"),
        ("日", "日"),
        ("-> (!) \0 _", ""),
        ("x" * (MAX_WORD + 1), ""),
    ],
)
def test_words_are_stems_with_identifiers_in_parts_and_whole(text: str, found: str) -> None:
    assert words(text) == found


def test_a_passage_is_compared_by_path_name_head_and_body() -> None:
    text = "import os\n\n\ndef get_names(user):\n    return os.listdir(user)\n"
    chunk = Chunk(3, 5, "get_names", "Store", "def get_names(user)", is_definition=True)
    assert make_fields("src/dataStore.py", chunk, split_lines(text)) == ChunkFields(
        path="src data stor datastore",
        name="get nam getnames",
        head="stor def get nam getnames user",
        body="def get nam getnames user return os listdir user",
        embedded="store get names src data store store get names def get names user return os listdir",
    )


def test_of_a_long_passage_what_comes_first_is_embedded() -> None:
    text = " ".join(f"word{chr(97 + number % 26) * (number // 26 + 1)}" for number in range(500))
    meant = make_fields("a.txt", Chunk(0, 1), [text]).embedded
    assert len(meant.split()) <= MAX_EMBEDDED_WORDS + 3


def test_query_terms_leave_stop_words_out() -> None:
    assert query_terms("Where is the userNames list of the user?") == {
        "user": "userNames",
        "nam": "userNames",
        "usernames": "userNames",
        "list": "list",
    }


def test_query_of_stop_words_keeps_them() -> None:
    assert list(query_terms("what is this")) == ["what", "is", "this"]
    assert query_embedding_text("what is this") == "what is this"
    assert query_embedding_text("What is the userName?") == "user name"


@given(st.text())
def test_every_word_of_a_question_finds_the_text_it_is_from(text: str) -> None:
    there = words(text).split()
    terms = query_terms(text)
    assert set(terms) <= set(there)
    assert len(terms) <= MAX_TERMS


@given(st.text())
def test_terms_hold_no_query_syntax(text: str) -> None:
    assert all(
        character.isalnum() or character == " " for character in words(text) if character.isascii()
    )


@given(st.text(alphabet="aeoéèüöñç", min_size=1))
def test_composed_and_decomposed_letters_are_one(text: str) -> None:
    assert words(unicodedata.normalize("NFD", text)) == words(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    ("asked", "about"),
    [
        ("video/readers/png: Abort sooner", ["video", "read", "png"]),
        ("setopt(): clear it", ["setopt"]),
        ("scp, sftp: quote names", ["scp", "sftp"]),
        ("[PATCH 1/2] kern/dl: Fix a leak", ["kern", "dl"]),
        ("Make the cfg readable: it holds no passwords", []),
        ("where is std::string used", []),
        ("https://example.org/ is gone", []),
        ("a" * 500 + ": too long", []),
        ("", []),
    ],
)
def test_subject_terms_come_from_the_text_before_a_colon(asked: str, about: list[str]) -> None:
    assert list(subject_terms(asked)) == about


@pytest.mark.parametrize(
    "address",
    ["https://gitlab.example.org/x/issues/3268", "who@lists.example.org", "47742c513e4e045ecc98"],
)
def test_addresses_in_a_long_question_are_not_looked_for(address: str) -> None:
    sentence = "Keep a shutting down flag in the backend of the screen"
    assert (
        query_terms(f"{sentence} Origin: {address}").keys()
        == query_terms(f"{sentence} Origin").keys()
    )
    assert query_embedding_text(f"{sentence} Origin: {address}") == query_embedding_text(
        f"{sentence} Origin"
    )


def test_addresses_in_a_short_question_are_what_is_asked_for() -> None:
    assert {"exampl", "org"} <= query_terms("what asks https://example.org/v1").keys()
    assert "47742c5" in query_terms("commit 47742c5")
    assert "deadbeef" in query_terms("where is the deadbeef mark set in the memory of a thread")


@pytest.mark.parametrize("run", ["a", "1", "a.", "a@", "a@a.", "é", "aa://", "abcdef"])
def test_query_without_a_blank_is_parsed_fast(run: str) -> None:
    began = time.process_time()
    query_terms(run * (40_000 // len(run)))
    query_embedding_text(run * (40_000 // len(run)))
    assert time.process_time() - began < 1
