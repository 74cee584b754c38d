"""What the search by words finds first."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from stet.search.word_search import (
    LINES_PER_FILE,
    SearchMode,
    SearchPassage,
    SearchQuery,
    SearchResults,
    WordSearcher,
)
from stet.settings.values import ContextSettings, Settings
from tests.support.workspaces import make_workspace

FILES: dict[str, str | bytes] = {
    "/ws/src/config.py": "def load_config(path):\n    return parse(path)\n",
    "/ws/src/parser.py": "class ConfigParser:\n    def parseFile(self, name):\n        ...\n",
    "/ws/src/noise.py": "# config config config config config config config config config\n" * 9,
    "/ws/docs/retry.md": "# Backing off\n\nWe wait longer after each failure.\n",
    "/ws/docs/log.md": "# Log\n\n" + "failure\n" * 40,
    "/ws/docs/setup.md": "# Installing\n\nRun the installer.\n",
}


async def search(
    text: str,
    mode: str = "hybrid",
    *,
    folder: str = "",
    limit: int = 40,
    more: Mapping[str, str] = MappingProxyType({}),
) -> SearchResults:
    """The answer for a workspace of these files and more."""
    snapshot = make_workspace(
        {**FILES, **{f"/ws/{name}": text for name, text in more.items()}}
    ).snapshot()
    return await WordSearcher().search(snapshot, SearchQuery(text, SearchMode(mode), folder, limit))


def names(found: SearchResults) -> list[str]:
    """The files, in order."""
    return list(dict.fromkeys(passage.name for passage in found.passages))


async def test_a_file_with_all_words_comes_before_one_with_many_of_one() -> None:
    found = names(await search("how is a config file parsed"))
    assert set(found[:2]) == {"src/parser.py", "src/config.py"}
    assert found[-1] == "src/noise.py"
    assert names(await search("waiting after a failure"))[0] == "docs/retry.md"


async def test_the_name_of_a_file_and_a_heading_count_more() -> None:
    assert names(await search("setup"))[0] == "docs/setup.md"
    found = await search("installing")
    assert [(each.name, each.line) for each in found.passages] == [
        ("docs/setup.md", 1),
        ("docs/setup.md", 3),
    ]


async def test_a_file_found_by_its_name_alone_shows_its_beginning() -> None:
    [passage] = (await search("retry")).passages
    assert (passage.name, passage.line, passage.text) == ("docs/retry.md", 1, "# Backing off\n")


async def test_words_inside_identifiers_are_found_and_case_is_no_matter() -> None:
    found = await search("PARSE FILE", folder="src")
    assert found.passages[0] == SearchPassage(
        "file:///ws/src/parser.py",
        "src/parser.py",
        2,
        "    def parseFile(self, name):\n",
        found.passages[0].score,
        lexical_rank=1,
        first=1,
        end=2,
        why="found by words",
    )


async def test_keywords_are_taken_to_the_letter() -> None:
    assert names(await search("parseF", "keyword")) == ["src/parser.py"]
    assert names(await search("parsed", "keyword")) == []
    quoted = await search('"longer after"', "keyword")
    assert [(each.name, each.line) for each in quoted.passages] == [("docs/retry.md", 3)]
    assert names(await search("longer.after", "keyword")) == []


async def test_what_is_no_word_is_searched_to_the_letter() -> None:
    found = await search("->", more={"arrow.c": "p->x\n"})
    assert [(each.name, each.text) for each in found.passages] == [("arrow.c", "p->x\n")]


async def test_one_file_does_not_fill_the_answer_and_the_rest_is_counted() -> None:
    found = await search("failure")
    assert [each.name for each in found.passages].count("docs/log.md") == LINES_PER_FILE
    cut = await search("failure", limit=1)
    assert (len(cut.passages), cut.n_more) == (1, len(found.passages) - 1)


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
async def test_it_claims_no_knowledge_of_meaning(mode: str) -> None:
    found = await search("failure", mode)
    assert not found.used_vectors
    assert {each.vector_rank for each in found.passages} == {None}


async def test_an_excluded_folder_is_a_wall_and_unsaved_text_is_read() -> None:
    settings = Settings(context=ContextSettings(excluded_folders=("docs",)))
    world = make_workspace(
        FILES, opened={"/ws/src/config.py": "failure in unsaved text\n"}, settings=settings
    )
    found = await WordSearcher().search(world.snapshot(), SearchQuery("failure setup"))
    assert names(found) == ["src/config.py"]


async def test_a_language_without_spaces_is_found_inside_its_words() -> None:
    found = await search("設定", more={"ja.md": "この設定を読む\n"})
    assert names(found) == ["ja.md"]
