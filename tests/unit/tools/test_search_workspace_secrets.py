"""Whoever guesses the letters of a secret learns from no search whether they are right."""

from pathlib import Path

import pytest

from stet.settings.values import PrivacySettings, Settings
from stet.system.system import System
from stet.tools.query_files import QUERY_FILES
from stet.tools.search_workspace import SEARCH_WORKSPACE
from stet.tools.tool import Tool
from stet.workspace.workspace import Workspace
from tests.support.agent_harness import make_tool_context, use

KEY = "ghp_zuqovarimolehkandibutesrogipwexyn4K7"
FILES = {
    "a.py": f'x = 1\napi_key = "{KEY}"\ny = 2\n',
    "b.md": f"---\napi_key: {KEY}\n---\n- [ ] use {KEY}\nText {KEY}\n",
}
RIGHT, WRONG = KEY[4:10], "wyfiku"
REGEX = (
    'api_key = "ghp_{}', "(?i){}", 'api_key = "(?!ghp_{})', "^(?!.*{}).*api_key", "(?=.*{})api_key", "{}|nothing",
)  # fmt: skip


@pytest.fixture
def world(tmp_path: Path) -> Workspace:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    workspace = Workspace(System())
    workspace.add_root(tmp_path.as_uri())
    return workspace


async def answer_for(world: Workspace, tool: Tool, guess: str, arguments: dict[str, str]) -> str:
    ctx = make_tool_context(world, asked=None)
    given = {name: value.replace("{}", guess) for name, value in arguments.items()}
    return (await use(tool, ctx, **given)).replace(KEY, "KEY").replace(guess, "GUESS")


@pytest.mark.slow
@pytest.mark.parametrize("query", REGEX)
async def test_pattern_search_matches_redacted_text(world: Workspace, query: str) -> None:
    asked = {"mode": "regex", "query": query}
    right = await answer_for(world, SEARCH_WORKSPACE, RIGHT, asked)
    assert right == await answer_for(world, SEARCH_WORKSPACE, WRONG, asked)


@pytest.mark.parametrize("mode", ["keyword", "hybrid", "semantic"])
@pytest.mark.parametrize("query", ["{}", '"ghp_{}"', "api_key {}", '"api_key = ghp_{}" text'])
async def test_word_search_matches_redacted_text(world: Workspace, query: str, mode: str) -> None:
    asked = {"mode": mode, "query": query}
    right = await answer_for(world, SEARCH_WORKSPACE, RIGHT, asked)
    assert right == await answer_for(world, SEARCH_WORKSPACE, WRONG, asked)


@pytest.mark.parametrize(
    "conditions",
    [
        {"text": "{}"},
        {"text": "{}", "task": "open"},
        {"property": "api_key", "value": "~{}"},
        {"property": "api_key", "value": ">ghp_{}"},
        {"property": "api_key", "value": f"!={KEY}"},
    ],
)
async def test_conditions_match_redacted_text(world: Workspace, conditions: dict[str, str]) -> None:
    right = await answer_for(world, QUERY_FILES, RIGHT, conditions)
    assert right == await answer_for(world, QUERY_FILES, WRONG, conditions)
    whole = {name: value.replace(KEY, "ghp_{}") for name, value in conditions.items()}
    assert await answer_for(world, QUERY_FILES, KEY[4:], whole) == await answer_for(
        world, QUERY_FILES, WRONG, whole
    )


async def test_text_around_a_secret_is_found(world: Workspace) -> None:
    ctx = make_tool_context(world, asked=None)
    line = f'a.py:2: api_key = "{KEY}"\n'  # the last door puts the mark in
    assert await use(SEARCH_WORKSPACE, ctx, mode="regex", query='^api_key = .*"$') == line
    assert line in await use(SEARCH_WORKSPACE, ctx, mode="keyword", query="api_key")
    assert await use(QUERY_FILES, ctx, property="api_key", glob="*.md") == "b.md\n"
    assert f"  5: Text {KEY}\n" in await use(QUERY_FILES, ctx, text="text")


async def test_search_without_redaction_finds_secrets(tmp_path: Path) -> None:
    open_world = Workspace(System(), Settings(privacy=PrivacySettings(redact_secrets=False)))
    open_world.add_root(tmp_path.as_uri())
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    ctx = make_tool_context(open_world, asked=None)
    assert "a.py:2" in await use(SEARCH_WORKSPACE, ctx, mode="regex", query=RIGHT)
    assert "a.py:2" in await use(SEARCH_WORKSPACE, ctx, mode="keyword", query=RIGHT)
    assert "b.md" in await use(QUERY_FILES, ctx, text=RIGHT)
