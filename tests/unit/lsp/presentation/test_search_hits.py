"""Results are excerpts of the editor's text, and they are escaped."""

from dataclasses import replace

import pytest
from lsprotocol import types as lsp

from stet.lsp.presentation.search_hits import (
    MAX_EXCERPT,
    MAX_NAME,
    locate_passages,
    passage_to_json,
    to_symbol,
)
from stet.search.word_search import SearchPassage
from stet.text.encoding import Encoding
from stet.workspace.workspace import Workspace
from tests.support.workspaces import make_workspace, uri_at

APP = (
    "import os\n\n\nclass App:\n    def start(self):\n        x = '\x1b[8m'\n        return '😀'\n"
)
START = SearchPassage(
    uri_at("/ws/app.py"),
    "app.py",
    6,
    "        x = '\x1b[8m'",
    1.23456,
    1,
    3,
    first=4,
    end=7,
    title="App.start",
    why="named: start",
)
BLOCK = "<<<<<<< yours\nclass App:\n=======\nclass Application:\n>>>>>>> stet h1\n"


def span(first: int, end: int) -> lsp.Range:
    """Whole lines."""
    return lsp.Range(lsp.Position(first, 0), lsp.Position(end, 0))


def shown(world: Workspace, *passages: SearchPassage) -> list[dict[str, object]]:
    places = locate_passages(passages, world.snapshot(), Encoding.UTF16)
    return [passage_to_json(place) for place in places]


def test_a_passage_is_shown_with_its_place_and_an_excerpt_in_which_nothing_acts() -> None:
    assert shown(make_workspace({"/ws/app.py": APP}), START) == [
        {
            "uri": "file:///ws/app.py",
            "range": {
                "start": {"line": 4, "character": 0},
                "end": {"line": 7, "character": 0},
            },
            "score": 1.2346,
            "title": "App.start",
            "excerpt": "    def start(self):\n        x = '\\x1b[8m'\n        return '😀'",
            "excerptLine": 4,
            "lexicalRank": 1,
            "vectorRank": 3,
            "why": "named: start",
        }
    ]


def test_the_end_of_a_text_without_a_line_end_is_counted_as_the_editor_does() -> None:
    world = make_workspace({"/ws/app.py": APP.rstrip("\n")})
    [place] = locate_passages([START], world.snapshot(), Encoding.UTF16)
    assert place.range.end == lsp.Position(6, len("        return '😀'") + 1)


def test_lines_after_inline_blocks_have_the_position_of_the_editor() -> None:
    world = make_workspace(opened={"/ws/app.py": APP.replace("class App:\n", BLOCK)})
    world.blocks = lambda: {uri_at("/ws/app.py"): frozenset({"h1"})}
    [place] = locate_passages([START], world.snapshot(), Encoding.UTF16)
    assert (place.range, place.best) == (span(8, 11), span(9, 10))
    assert place.excerpt.startswith("    def start(self):")


def test_a_file_that_is_gone_or_may_not_be_shown_is_left_out() -> None:
    world = make_workspace({"/ws/app.py": APP, "/ws/.env": "KEY=1\n"})
    gone = replace(START, uri=uri_at("/ws/gone.py"))
    secret = replace(START, uri=uri_at("/ws/.env"), line=1, first=0, end=1)
    assert [hit["uri"] for hit in shown(world, gone, secret, START)] == [START.uri]


def test_a_passage_of_a_text_that_has_become_shorter_stays_within_it() -> None:
    [place] = locate_passages(
        [START], make_workspace({"/ws/app.py": "x\n"}).snapshot(), Encoding.UTF16
    )
    assert place.range == place.best == lsp.Range(lsp.Position(1, 0), lsp.Position(1, 0))
    assert place.excerpt == ""


@pytest.mark.parametrize("text", ["x" * 5_000_000, ("y" * 150 + "\n") * 50, "\x00" * 400])
def test_an_excerpt_is_short_whatever_the_file(text: str) -> None:
    world = make_workspace(opened={"/ws/app.py": text})
    passage = replace(START, line=1, first=0, end=50)
    [place] = locate_passages([passage], world.snapshot(), Encoding.UTF16)
    assert 0 < len(place.excerpt) <= MAX_EXCERPT


def test_passage_of_one_line_is_shown_with_its_neighbors() -> None:
    passage = replace(START, line=4, first=3, end=4, title="")
    [place] = locate_passages(
        [passage], make_workspace({"/ws/app.py": APP}).snapshot(), Encoding.UTF16
    )
    assert place.excerpt.splitlines()[0] == "class App:"
    assert "def start" in place.excerpt
    assert place.range == span(3, 4)


@pytest.mark.parametrize(
    ("name", "text", "title", "kind"),
    [
        ("a.py", "@cache\ndef f():\n    pass\n", "f", lsp.SymbolKind.Function),
        ("a.rs", "pub struct Wire {\n", "Wire", lsp.SymbolKind.Class),
        ("a.md", "# Setup\n\nclass of its own\n", "Setup", lsp.SymbolKind.String),
        ("a.py", "x = 1\n", "x", lsp.SymbolKind.Module),
        ("a.py", "def f(): ...\n", "", lsp.SymbolKind.File),
    ],
)
def test_a_symbol_is_of_the_kind_that_it_looks_like(
    name: str, text: str, title: str, kind: lsp.SymbolKind
) -> None:
    world = make_workspace({f"/ws/{name}": text})
    uri = uri_at(f"/ws/{name}")
    passage = SearchPassage(
        uri, name, 1, text.split("\n", maxsplit=1)[0], 1.0, first=0, end=2, title=title
    )
    [place] = locate_passages([passage], world.snapshot(), Encoding.UTF16)
    assert to_symbol(place).kind is kind


def test_a_symbol_is_called_by_its_title_or_its_best_line_and_lies_there() -> None:
    [titled, plain] = locate_passages(
        [START, replace(START, title="", why="", text=f"  {'x' * 500}")],
        make_workspace({"/ws/app.py": APP}).snapshot(),
        Encoding.UTF16,
    )
    assert to_symbol(titled) == lsp.SymbolInformation(
        location=lsp.Location(START.uri, span(4, 7)),
        name="App.start",
        kind=lsp.SymbolKind.Function,
        container_name="app.py (named: start)",
    )
    assert to_symbol(plain) == lsp.SymbolInformation(
        location=lsp.Location(START.uri, span(5, 6)),
        name="x" * MAX_NAME,
        kind=lsp.SymbolKind.File,
        container_name="app.py",
    )
