"""Chunks: the passages of a file that are indexed, with their fields, as values.

    make_fields("src/app.py", chunk, lines).name == "get user nam getusernames"

A chunk is compared by its words in each field, and by the text whose meaning counts. Words are stems;
identifiers are in there in their parts and, after those, whole: so `user names` finds `getUserNames`, and
so does `getusernames`. `IndexEntry` is a file as it goes into the index, `ChunkRow` a chunk as it comes
out.
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
    """Some whole lines of a file.

    Attributes:
        first: The first line, 0-based.
        end: The line after the last.
        name: What is defined there, or the heading; empty if it is neither.
        scope: What contains it, outermost first: `Server.Session` in code, `Setup > Linux` in notes.
        signature: The head of a definition as it is written, on one line, without its body; else
            empty.
        is_definition: Whether it begins with the definition of `name`.
    """

    first: int
    end: int
    name: str = ""
    scope: str = ""
    signature: str = ""
    is_definition: bool = False


MAX_CHARACTERS = 40_000
"""How much of a chunk is read: one line may be a file of megabytes."""
MAX_WORD = 64
"""Longer ones are data."""
MAX_TERMS = 32
"""Words of a question."""
MAX_SUBJECT = 120
"""Characters in which a question says what it is about."""
MIN_WITHOUT = 6
"""Words of a question that say enough by themselves."""
MAX_MEANT_WORDS = 32
"""Words of the body that are embedded: with more of them its names would count for less."""
MAX_LOOKED_AT = 120
"""Words of the body that are looked at for them."""
_A_FEW = 40
"""Words that are looked at together: most passages have enough different ones in them."""
_MAX_KNOWN = 300_000

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?![^\W_])|[^\W_]+")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
"""The same words, found faster, for texts that are all ASCII."""
_ADDRESS = re.compile(
    r"\w{2,12}://\S+|(?<![\w.+-])[\w.+-]++@[\w-]++\.[\w.-]+|\b(?=[0-9a-f]*[0-9])[0-9a-f]{7,64}\b"
)
"""What says where something else is: an address, a commit. Each run of letters is looked at once."""
_SUBJECT = re.compile(r"(?:\[[^\]\n]*\] ?)?([\w./-]+(?:, ?[\w./-]+)*)(?:\(\))?: ")
"""Before a colon: names and paths, after a remark in brackets."""
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
        meant: The text that is embedded.
    """

    path: str
    name: str
    head: str
    body: str
    meant: str


@dataclass(frozen=True, slots=True)
class RedactedFile:
    """A file without its secrets: the text that is embedded may be sent away.

    Attributes:
        file: The name of the file.
        lines: The redacted lines, as many as in the file.
        words: All words of the lines. A name is cut from the unredacted text, so a word of a name
            that is not among these words was a secret, or a part of one.
    """

    file: str
    lines: Sequence[str]
    words: frozenset[str]

    @classmethod
    def of(cls, file: str, text: str) -> "RedactedFile":
        """Create a file with that name and text, neither with a secret."""
        return cls(file, split_lines(text), frozenset(_words_in(text)))

    def without_secrets(self, name: str) -> str:
        """Return a name that the text is said to hold, cut to the words that the text holds."""
        return " ".join(word for word in _words_in(name) if word in self.words)


def make_fields(
    file: str, chunk: Chunk, lines: Sequence[str], redacted: RedactedFile | None = None
) -> ChunkFields:
    """Return the fields of `chunk`, which is cut from `lines` of the file called `file`.

    Args:
        file: The name of the file.
        chunk: The chunk.
        lines: All lines of the file.
        redacted: The same lines without secrets; by default there are no secrets.
    """
    body = _words_in("".join(lines[chunk.first : chunk.end])[:MAX_CHARACTERS])
    meant, names = body, f"{chunk.scope} {chunk.name}"
    path, path_words = _path_of(file)
    if redacted is not None:
        meant = _words_in("".join(redacted.lines[chunk.first : chunk.end])[:MAX_CHARACTERS])
        path, names = _path_of(redacted.file)[0], redacted.without_secrets(names)
    name = words(chunk.name)
    head = words(f"{chunk.scope} {chunk.signature}")
    return ChunkFields(path_words, name, head, _compared(body), _embedding_text(path, names, meant))


@lru_cache(maxsize=4)  # the chunks of one file come together
def _path_of(file: str) -> tuple[str, str]:
    """Return a file's name without its ending, and the words of the shortened name."""
    path = PurePosixPath(file)
    # The workspace folder or the root, opened as a document, has a name without a last part.
    without_ending = str(path.with_suffix("")) if path.name else ""
    return without_ending, words(without_ending)


def words(text: str) -> str:
    """Return the words of `text` as they are compared, in order, with one space between."""
    return _compared(_words_in(text))


def _words_in(text: str) -> list[str]:
    """Return the words of `text` as they are written."""
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
    """Return the terms that a question asks for, each with the word that asks for the term. Repeats
    and words that say nothing are left out.
    """
    asked = _asked_words(text)
    telling = [word for word in asked if word.lower() not in STOP_WORDS]
    found: dict[str, str] = {}
    for word in telling or asked:
        for term in words(word).split():
            found.setdefault(term, word)
            if len(found) == MAX_TERMS:
                return found
    return found


def _asked_words(text: str) -> list[str]:
    """Return the words of a question as written. A long question, such as a commit's message, loses
    its addresses, which say where others speak of the subject.
    """
    text = normalize_unicode("NFC", text[:MAX_CHARACTERS])
    without = _WORD.findall(_ADDRESS.sub(" ", text))
    return without if len(without) >= MIN_WITHOUT else _WORD.findall(text)


def subject_terms(text: str) -> dict[str, None]:
    """Return the terms of the subject that a question states first, like commit messages.
    `video/readers/png: Abort sooner` has three words as its subject. Without a subject, return
    nothing.
    """
    subject = _SUBJECT.match(text[:MAX_SUBJECT])
    return dict.fromkeys(words(subject[1]).split()) if subject is not None else {}


def query_embedding_text(text: str) -> str:
    """Return the text to embed for a question. Words that say nothing pull all questions together."""
    parts = [part.lower() for word in _asked_words(text) for part in PART.findall(word) or [word]]
    return " ".join([word for word in parts if word not in STOP_WORDS] or parts)


def _forms(word: str) -> str:
    """Return the parts of a word and then the word, in the form in which words are compared."""
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
    """Return every two characters of the text between spaces, in a language without spaces."""
    found = []
    for start, end in _stretches(word):
        stretch = word[start:end]
        if _UNSPACED.match(stretch) and len(stretch) > 1:
            found += [stretch[at : at + 2] for at in range(len(stretch) - 1)]
        else:
            found.append(folded_text(stretch[:MAX_WORD]))
    return found


def _stretches(word: str) -> list[tuple[int, int]]:
    """Return the parts of `word` with and without spaces in their language."""
    cuts = [0, *(at for match in _UNSPACED.finditer(word) for at in match.span()), len(word)]
    return [(start, end) for start, end in pairwise(cuts) if start < end]


def _embedding_text(path: str, named: str, found: list[str]) -> str:
    """Return names first, as they say most, then the words of the body, each once."""
    seen: dict[str, None] = {}
    for at in range(0, MAX_LOOKED_AT, _A_FEW):
        some = found[at : at + _A_FEW]
        seen.update(dict.fromkeys([part for word in some for part in _parts_of(word)]))
        if len(seen) >= MAX_MEANT_WORDS or len(some) < _A_FEW:
            break
    names = " ".join(PART.findall(named)) or named.strip()
    folders = " ".join(PART.findall(path)[-6:])
    few = islice(seen, MAX_MEANT_WORDS)
    return " ".join(filter(None, [names, folders, names, *few])).lower()


@lru_cache(maxsize=50_000)
def _parts_of(word: str) -> tuple[str, ...]:
    """Return a word as embedded, an identifier in its parts. Return nothing for a word that is too
    long.
    """
    return tuple(PART.findall(word) or [word]) if len(word) <= MAX_WORD else ()


class FileStamp(NamedTuple):
    """What shows that a file has changed.

    Attributes:
        mtime: When it was written, in seconds; None for unsaved text.
        size: In bytes, or in code points for unsaved text.
        hash: Of its text.
    """

    mtime: float | None
    size: int
    hash: bytes


class SourceFile(NamedTuple):
    """A file as it was read; named as in `OutlineEntry`."""

    uri: str
    name: str
    text: str
    stamp: FileStamp
    outline: Sequence[Definition] | None = None
    """What a grammar has found in the file; None if no grammar was asked."""
    is_sent: bool = False
    """Whether its embedded texts go to an endpoint, and so without secrets."""


class IndexEntry(NamedTuple):
    """A file to be put into the index."""

    uri: str
    name: str
    stamp: FileStamp
    chunks: Sequence[Chunk]
    fields: Sequence[ChunkFields]
    meant: Sequence[bytes]
    """The hash of what is embedded of each chunk."""


class ChunkRow(NamedTuple):
    """A chunk as the index holds it; see `Chunk` and `ChunkFields`."""

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
        """The text of the chunk, without its place."""
        return f"{self.head}\n{self.body}"


class Exclusion(NamedTuple):
    """What a ranking leaves out.

    Attributes:
        uris: Files.
        texts: Passages with this `ChunkRow.text`.
    """

    uris: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()


NO_EXCLUSION = Exclusion()
