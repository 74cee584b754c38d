"""Switches for tools: a name that is none is an error, and never switches anything on."""

import pytest

from stet.agent.toolbox import ALL_TOOLS
from stet.settings.value_checks import GROUPS, TOOLS
from stet.tools.tool import ToolGroup
from tests.support.settings_parsing import parse_settings


def test_the_names_are_those_of_the_tools_and_groups() -> None:
    assert [tool.name for tool in ALL_TOOLS] == list(TOOLS)
    assert [str(group) for group in ToolGroup] == list(GROUPS)


@pytest.mark.parametrize(
    ("key", "given", "near", "off"),
    [
        ("disabledTools", ["execute_comand"], "execute_command", ("execute_command",)),
        ("disabledTools", ["Edit_File", "read_file"], "edit_file", ("edit_file", "read_file")),
        ("disabledTools", ["web_search "], "web_search", ("web_search",)),
        ("disabledGroups", ["wbe"], "web", ("web",)),
        ("disabledGroups", ["Advanced", "web"], "advanced", ("advanced", "web")),
    ],
)
def test_a_misspelt_name_is_reported_with_the_nearest_which_is_off(
    key: str, given: list[str], near: str, off: tuple[str, ...]
) -> None:
    parsed = parse_settings({"agent": {key: given, "maxTokens": 5000}})
    (problem,) = parsed.problems
    assert problem.key == f"agent.{key}"
    assert repr(given[0]) in problem.message
    assert f"did you mean {near!r}?" in problem.message
    agent = parsed.settings.agent
    assert (agent.disabled_tools if key == "disabledTools" else agent.disabled_groups) == off
    assert agent.max_tokens == 5000


def test_a_name_that_is_like_none_leaves_off_what_is_off_by_default() -> None:
    parsed = parse_settings({"agent": {"disabledTools": ["bash", "read_file"]}})
    (problem,) = parsed.problems
    assert "valid: search_workspace, " in problem.message
    assert parsed.settings.agent.disabled_tools == ("read_file", "delete_file", "execute_command")


def test_an_empty_list_and_right_names_are_taken_as_they_are() -> None:
    for names in ([], ["done", "ask_user"], ["delete_file"]):
        parsed = parse_settings({"agent": {"disabledTools": names}})
        assert (parsed.problems, parsed.settings.agent.disabled_tools) == ((), tuple(names))
