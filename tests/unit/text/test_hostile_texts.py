"""Texts that were made to keep Stet busy take no longer than others."""

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.agent.rewriting.oneshot import new_text
from stet.agent.rewriting.prose import plan
from stet.agent.rewriting.rewrite_passage import RewritePassage
from stet.agent.turn import TurnFailed
from stet.bridges.opencode.session_context import SelectedText, SessionContext, render_context
from stet.context.context_values import escape_tags
from stet.links.build_files import read_build
from stet.links.link import Link, LinkKind
from stet.links.link_resolver import link_path
from stet.links.links import find_links
from stet.notes.note_content import aliases_in
from stet.notes.property_filter import PropertyFilter
from stet.privacy.secrets import find_secrets
from stet.search.chunk import words
from stet.text.bounded_input import unescape_entities
from stet.text.document import TextDocument
from stet.text.position import Position, Range
from stet.text.unicode_normal import LONGEST, normalize_unicode
from tests.support.growth import grows_evenly

_FIRST = Range(Position(0, 0), Position(1, 0))


def opencode_text(text: str) -> str:
    return render_context(SessionContext(("a.md",), selected=SelectedText("a.md", (text,))))


def of_scripts(text: str) -> object:
    return read_build(text, "tsconfig.json")


def of_note(text: str) -> object:
    return aliases_in(f"---\n{text}\n---\n")


def corrected(text: str) -> object:
    document = TextDocument("file:///a.md", text)
    whole = Range(Position(0, 0), document.end)
    return plan(RewritePassage.of(document, "a.md", whole, "fix the grammar"))


def answered(text: str) -> object:
    passage = RewritePassage.of(
        TextDocument("file:///a.md", "two\n" * 9), "a.md", _FIRST, "Shorten it"
    )
    try:
        return new_text(text, passage, "selection")
    except TurnFailed as failure:
        return failure


def links_of(name: str) -> Callable[[str], object]:
    return lambda text: find_links(text, name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "text"),
    [
        (find_secrets, lambda n: 'password = "a' + "-" * 30 + '1"\n' * (n // 45)),
        (find_secrets, lambda n: 'password = "a' + " :./-_" * 30 + '1"\n' * (n // 190)),
        (escape_tags, lambda n: "<" + " " * n),
        (escape_tags, lambda n: "< /" + "\n" * n),
        (opencode_text, lambda n: "<" + " " * n),
        (opencode_text, lambda n: "<system" + "-" * n),
        (words, lambda n: "a" + "\u0301\u0316" * (n // 2)),
        (lambda text: normalize_unicode("NFKC", text), lambda n: "a" + "\u0301\uff9e" * (n // 2)),
        (unescape_entities, lambda n: "&#" + "9" * n),
        (answered, lambda n: "`" * n),
        (answered, lambda n: "```\n" * (n // 4)),
        (answered, lambda n: "\n" + " " * n),
        (answered, lambda n: "the " * (n // 4)),
        (of_scripts, lambda n: '"' + '\\"' * (n // 2)),
        (of_scripts, lambda n: "/* " * (n // 3)),
        (PropertyFilter.parse, lambda n: "a" + " " * n + "b"),
        (of_note, lambda n: "aliases:\n" + "-  \t\n" * (n // 10)),
        (of_note, lambda n: "aliases:\n" + "\n \n #\n" * (n // 6)),
        (of_note, lambda n: "aliases: >\n" + " a" * n),
        (of_note, lambda n: "aliases " * (n // 8)),
        (of_note, lambda n: "aliases: [" + " #" * (n // 2)),
        (of_note, lambda n: 'aliases: ["' + '\\"' * (n // 4)),
        (links_of("a.js"), lambda n: "import" + " " * n),
        (links_of("a.go"), lambda n: 'import "' + "a/" * (n // 2)),
        (links_of("a.go"), lambda n: "import (\n" * (n // 9)),
        (links_of("a.tex"), lambda n: "\\input{" + " " * n),
        (links_of("a.tex"), lambda n: "\\input{a" + " " * n + "b"),
        (links_of("a.tex"), lambda n: "\\includegraphics[" * (n // 17)),
        (links_of("a.md"), lambda n: "[[" + " " * n),
        (links_of("a.md"), lambda n: "[[a" + " " * n),
        (links_of("a.md"), lambda n: "---\na: [[b]]\n" + "c: '|\n " * (n // 8)),
        (links_of("a.md"), lambda n: "---\na: [[b]]\n" + "c: |\n" * (n // 5)),
        (links_of("a.md"), lambda n: "---\na: [[b]]\nc: " + "[{,:- " * (n // 6)),
        (links_of("a.md"), lambda n: "---\na: [[b]]\nc: d" + "  #" * (n // 3)),
        (corrected, lambda n: "a" * n),
        (corrected, lambda n: "a" + " " * n + "!"),
    ],
    ids=[
        "dashes in a password", "signs in a password", "blanks behind a bracket", "lines behind a bracket",
        "blanks for OpenCode", "dashes for OpenCode", "combining marks", "marks by compatibility", "digits",
        "backticks of an answer", "fences of an answer", "blanks of an answer", "words of an answer",
        "quotes in settings", "comments in settings", "blanks in a condition", "empty names of a note",
        "empty lines in a note", "a long name of a note", "names in a note", "comments in a note",
        "quotes in a note", "blanks behind import", "slashes of an import", "open imports",
        "blanks in LaTeX", "blanks behind a name in LaTeX", "brackets in LaTeX", "blanks in a wikilink",
        "blanks behind a wikilink", "quotes in YAML", "blocks in YAML", "brackets in YAML", "signs in YAML", "a long word", "blanks in prose",
    ],
)  # fmt: skip
def test_no_text_takes_quadratic_time(
    work: Callable[[str], object], text: Callable[[int], str]
) -> None:
    assert grows_evenly(work, text, 20_000)


def test_a_reference_of_too_many_digits_is_no_character() -> None:
    assert unescape_entities("a &#" + "9" * 5000 + "; &#x" + "f" * 5000 + ";b &#65; &amp;") == (
        "a \ufffd \ufffdb A &"
    )
    assert link_path(Link(LinkKind.MARKDOWN, "&#" + "9" * 5000, 0)) == "\ufffd"


@given(st.text(st.characters(categories=("L", "M", "S", "Zs")), max_size=60))
def test_text_that_somebody_wrote_is_normalised_as_ever(text: str) -> None:
    rows = "".join(
        "m" if unicodedata.combining(c) else " " for c in unicodedata.normalize("NFKD", text)
    )
    if "m" * LONGEST not in rows:
        assert normalize_unicode("NFC", text) == unicodedata.normalize("NFC", text)
        assert normalize_unicode("NFKC", text) == unicodedata.normalize("NFKC", text)
