"""Chunks: the passages of a file that are indexed, with their fields, as values.

    make_fields("src/app.py", chunk, lines).name == "get user nam getusernames"

A chunk is compared by the words of each field, and by the embedding of its text. Words are stems.
Fields have the parts of an identifier and then the whole identifier, so `user names` and
`getusernames` both find `getUserNames`. `IndexEntry` is a file as it is written into the index,
`ChunkRow` a chunk as it is read from the index.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from stet.outline.definition import Definition
from stet.search.word_stems import PART, STOP_WORDS, folded_text, stem
from stet.text.lines import split_lines
from stet.text.unicode_normal import normalize_unicode


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive whole lines of a file.

    Attributes:
        first: The first line, 0-based.
        end: The line after the last, 0-based.
        name: The defined name, or the heading; empty if there is neither.
        scope: The enclosing names, outermost first: `Server.Session` in code, `Setup > Linux` in
            notes.
        signature: The head of a definition as written, on one line, without its body; else empty.
        is_definition: Whether the chunk begins with the definition of `name`.
    """

    first: int
    end: int
    name: str = ""
    scope: str = ""
    signature: str = ""
    is_definition: bool = False


MAX_CHARACTERS = 40_000
"""The most characters of a chunk that are indexed: one line may have megabytes."""
MAX_WORD = 64
"""The most characters of a word; longer words are data and are ignored."""
MAX_TERMS = 32
"""The most terms of a question."""
MAX_SUBJECT = 120
"""The characters at the beginning of a question in which its subject is searched for."""
MIN_WITHOUT = 6
"""The addresses in a question are ignored if it has at least this many other words."""
MAX_EMBEDDED_WORDS = 32
"""The most words of the body that are embedded: with more words, the names would count less."""
MAX_LOOKED_AT = 120
"""The most words of the body that are examined for the embedded words."""
_A_FEW = 40
"""Words that are examined at a time: usually the first of them are enough."""
_MAX_KNOWN = 300_000

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?![^\W_])|[^\W_]+")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
"""A faster pattern for the same words in ASCII texts."""
_ADDRESS = re.compile(
    r"\w{2,12}://\S+|(?<![\w.+-])[\w.+-]++@[\w-]++\.[\w.-]+|\b(?=[0-9a-f]*[0-9])[0-9a-f]{7,64}\b"
)
"""References to other places: addresses, hashes of commits. Matching takes linear time."""
_SUBJECT = re.compile(r"(?:\[[^\]\n]*\] ?)?([\w./-]+(?:, ?[\w./-]+)*)(?:\(\))?: ")
"""The subject of a question: names and paths before a colon, after an optional tag in brackets."""
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
"""Thai, Lao, kana and Han, which are written without spaces."""
_known: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class ChunkFields:
    """A chunk as stored in the index.

    Attributes:
        path: Words of the file's path.
        name: Words of the defined name, or of the heading.
        head: Words of the enclosing names, and of the signature.
        body: All words of the chunk.
        embedded: The text that is embedded.
    """

    path: str
    name: str
    head: str
    body: str
    embedded: str


@dataclass(frozen=True, slots=True)
class RedactedFile:
    """A file without its secrets, as embedded texts may be sent to an endpoint.

    Attributes:
        file: The name of the file.
        lines: The redacted lines, as many as in the file.
        words: All words of the lines. Names come from the unredacted text, so a word of a name that
            is not among these words was a secret or a part of one.
    """

    file: str
    lines: Sequence[str]
    words: frozenset[str]

    @classmethod
    def of(cls, file: str, text: str) -> "RedactedFile":
        """Create a redacted file from a redacted name and text."""
        return cls(file, split_lines(text), frozenset(_words_in(text)))

    def without_secrets(self, name: str) -> str:
        """Return a name with only those of its words that the redacted text has."""
        return " ".join(word for word in _words_in(name) if word in self.words)


def make_fields(
    file: str, chunk: Chunk, lines: Sequence[str], redacted: RedactedFile | None = None
) -> ChunkFields:
    """Return the fields of a chunk of a file.

    Args:
        file: The name of the file.
        chunk: The chunk.
        lines: All lines of the file.
        redacted: The same lines without secrets; by default there are no secrets.
    """
    body = _words_in("".join(lines[chunk.first : chunk.end])[:MAX_CHARACTERS])
    embedded, names = body, f"{chunk.scope} {chunk.name}"
    path, path_words = _path_of(file)
    if redacted is not None:
        embedded = _words_in("".join(redacted.lines[chunk.first : chunk.end])[:MAX_CHARACTERS])
        path, names = _path_of(redacted.file)[0], redacted.without_secrets(names)
    name = words(chunk.name)
    head = words(f"{chunk.scope} {chunk.signature}")
    return ChunkFields(
        path_words, name, head, _compared(body), _embedding_text(path, names, embedded)
    )


@lru_cache(maxsize=4)  # the chunks of one file are made one after the other
def _path_of(file: str) -> tuple[str, str]:
    """Return a file's name without its ending, and the words of the shortened name."""
    path = PurePosixPath(file)
    # The workspace folder or the root, opened as a document, has a name without a last part.
    without_ending = str(path.with_suffix("")) if path.name else ""
    return without_ending, words(without_ending)


def words(text: str) -> str:
    """Return the words of `text` in the compared form, in order, separated by one space."""
    return _compared(_words_in(text))


def _words_in(text: str) -> list[str]:
    """Return the words of `text` as written."""
    if text.isascii():
        return _ASCII_WORD.findall(text)
    return _WORD.findall(normalize_unicode("NFC", text))


def _compared(found: list[str]) -> str:
    return " ".join([_known.get(word) or _forms(word) for word in found])


def forget_words() -> None:
    """Clear the cache of words, which takes megabytes after many files were read."""
    _known.clear()
    _parts_of.cache_clear()
    stem.cache_clear()


def query_terms(text: str) -> dict[str, str]:
    """Return the terms of a question without repeats and stop words, each with its written word."""
    query_words = _query_words(text)
    content_words = [word for word in query_words if word.lower() not in STOP_WORDS]
    found: dict[str, str] = {}
    for word in content_words or query_words:
        for term in words(word).split():
            found.setdefault(term, word)
            if len(found) == MAX_TERMS:
                return found
    return found


def _query_words(text: str) -> list[str]:
    """Return the words of a question as written.

    The addresses in a long question, such as a commit message, are left out.
    """
    text = normalize_unicode("NFC", text[:MAX_CHARACTERS])
    without = _WORD.findall(_ADDRESS.sub(" ", text))
    return without if len(without) >= MIN_WITHOUT else _WORD.findall(text)


def subject_terms(text: str) -> dict[str, None]:
    """Return the terms of the subject before the colon of a question, as in commit messages.

    `video/readers/png: Abort sooner` has three. Return no terms if there is no subject.
    """
    subject = _SUBJECT.match(text[:MAX_SUBJECT])
    return dict.fromkeys(words(subject[1]).split()) if subject is not None else {}


def query_embedding_text(text: str) -> str:
    """Return the text to embed for a question, without stop words, which make questions similar."""
    parts = [part.lower() for word in _query_words(text) for part in PART.findall(word) or [word]]
    return " ".join([word for word in parts if word not in STOP_WORDS] or parts)


def _forms(word: str) -> str:
    """Return the parts of a word and then the whole word, in the compared form."""
    if not word.isascii() and _UNSPACED.search(word):
        forms = " ".join(_pairs(word))
    elif len(word) > MAX_WORD:
        forms = ""
    elif word.isascii():
        parts = [part.lower() for part in PART.findall(word)]
        stems = [stem(part) for part in parts]
        forms = " ".join([*stems, "".join(parts)] if len(parts) > 1 else stems)
    else:
        forms = folded_text(word)
    if len(_known) >= _MAX_KNOWN:
        _known.clear()
    _known[word] = forms
    return forms


def _pairs(word: str) -> list[str]:
    """Return the pairs of adjacent characters of a word in a script without spaces.

    Parts in other scripts are returned whole and folded.
    """
    found = []
    for start, end in _stretches(word):
        stretch = word[start:end]
        if _UNSPACED.match(stretch) and len(stretch) > 1:
            found += [stretch[at : at + 2] for at in range(len(stretch) - 1)]
        else:
            found.append(folded_text(stretch[:MAX_WORD]))
    return found


def _stretches(word: str) -> list[tuple[int, int]]:
    """Return the spans of `word`, cut between scripts with spaces and scripts without spaces."""
    cuts = [0, *(at for match in _UNSPACED.finditer(word) for at in match.span()), len(word)]
    return [(start, end) for start, end in pairwise(cuts) if start < end]


def _embedding_text(path: str, named: str, found: list[str]) -> str:
    """Return the text to embed: the names, which matter most, then different words of the body."""
    seen: dict[str, None] = {}
    for at in range(0, MAX_LOOKED_AT, _A_FEW):
        some = found[at : at + _A_FEW]
        seen.update(dict.fromkeys([part for word in some for part in _parts_of(word)]))
        if len(seen) >= MAX_EMBEDDED_WORDS or len(some) < _A_FEW:
            break
    names = " ".join(PART.findall(named)) or named.strip()
    folders = " ".join(PART.findall(path)[-6:])
    few = islice(seen, MAX_EMBEDDED_WORDS)
    return " ".join(filter(None, [names, folders, names, *few])).lower()


@lru_cache(maxsize=50_000)
def _parts_of(word: str) -> tuple[str, ...]:
    """Return the parts of an identifier, or the whole word; no parts of a word that is too long."""
    return tuple(PART.findall(word) or [word]) if len(word) <= MAX_WORD else ()


class FileStamp(NamedTuple):
    """The stamp of a file, by which changes of the file are detected.

    Attributes:
        mtime: When the file was written, in seconds since the epoch; None for unsaved text.
        size: The size in bytes, or in code points for unsaved text.
        hash: The hash of the text.
    """

    mtime: float | None
    size: int
    hash: bytes


class SourceFile(NamedTuple):
    """A file as it was read."""

    uri: str
    name: str
    text: str
    stamp: FileStamp
    outline: Sequence[Definition] | None = None
    """The definitions that a grammar has found in the file; None if no grammar was used."""
    is_sent: bool = False
    """Whether the file's embedded texts are sent to an endpoint and must be redacted."""


class IndexEntry(NamedTuple):
    """A file to be written into the index."""

    uri: str
    name: str
    stamp: FileStamp
    chunks: Sequence[Chunk]
    fields: Sequence[ChunkFields]
    digests: Sequence[bytes]
    """The hash of the embedded text of each chunk."""


class ChunkRow(NamedTuple):
    """A chunk as stored in the index; see `Chunk` and `ChunkFields`."""

    id: int
    uri: str
    file: str
    first: int
    end: int
    title: str
    scope: str
    is_definition: int
    path: str
    name: str
    head: str
    body: str

    @property
    def text(self) -> str:
        """The head and the body of the chunk, without its path and name."""
        return f"{self.head}\n{self.body}"


class Exclusion(NamedTuple):
    """The chunks that a ranking leaves out.

    Attributes:
        uris: The URIs of files whose chunks are left out.
        texts: The values of `ChunkRow.text` whose chunks are left out.
    """

    uris: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()


NO_EXCLUSION = Exclusion()
