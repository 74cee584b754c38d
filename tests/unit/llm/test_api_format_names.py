"""What a model means by the name of a tool, and what is sent back of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.agent.toolbox import ALL_TOOLS
from stet.llm.api_format import UNNAMED, is_valid, match_tool, valid_name

pytestmark = pytest.mark.slow


TOOLS = [tool.name for tool in ALL_TOOLS]
SLIPS = (
    "{}",
    "functions.{}",
    "functions.{}:0",
    "functions::{}",
    "functions/{}",
    "functions_{}",
    "default_api:{}",
    "default_api.{}",
    "default_api_{}",
    "mcp__stet__{}",
    "stet_{}",
    "stet:{}",
    "tool:{}",
    "tools.{}",
    "repo_browser.{}",
    "google:tool:{}:index:0",
    "{}<|channel|>commentary",
    "{}<|channel|>json",
    "{}<|constrain|>json",
    "<|start|>assistant<|channel|>commentary to=functions.{}",
    "commentary to=functions.{} <|constrain|>json",
    "functions.{}<|call|>",
    "<tool_call>{}",
    "{}</tool_call>",
    "{}\n<arg_key>",
    '"{}"',
    "'{}'",
    "`{}`",
    "\u201c{}\u201d",
    "{}()",
    "{}({{",
    '{}{{"file": "done"}}',
    "{}:",
    "{}.",
    "{},",
    "@{}",
    "${}",
    " {}\n",
    "\t{}\u200b",
    "\ufeff{}",
    "{}_tool",
    "{}Tool",
    "{}{}",
)


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("tool", TOOLS)
def test_usual_misspelling_resolves_to_its_tool(slip: str, tool: str) -> None:
    assert match_tool(slip.replace("{}", tool).replace("{{", "{"), TOOLS) == tool


@pytest.mark.parametrize("tool", TOOLS)
def test_case_and_punctuation_do_not_count(tool: str) -> None:
    words = tool.split("_")
    camel = words[0] + "".join(word.title() for word in words[1:])
    forms = ["-".join(words), " ".join(words), "".join(words), camel, camel[0].upper() + camel[1:]]
    wide = "".join(chr(ord(c) + 0xFEE0) for c in tool)
    for form in (*forms, tool.upper(), tool.title(), f"functions.{camel}", wide):
        assert match_tool(form, TOOLS) == tool, form


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "\u00e9",
        "x" * 65,
        "functions",
        "functions.",
        "make_coffee",
        "read_fil",
        "read_files",
        "unread_file",
        "read_file_or_list_files",
        "read_file, list_files",
        "read_file<|channel|>list_files",
        "I am done now",
        "delete",
        "file",
        "a" * 500_000,
        "<" * 500_000,
        "\x00",
    ],
)
def test_name_of_no_tool_or_of_two_resolves_to_none(name: str) -> None:
    assert match_tool(name, TOOLS) is None


def test_tool_that_is_not_offered_is_not_resolved() -> None:
    assert match_tool("functions.delete_file", ["read_file"]) is None


@given(st.text(max_size=200))
def test_every_name_is_sent_in_a_form_that_every_provider_takes(name: str) -> None:
    sent = valid_name(name)
    assert is_valid(sent)
    assert valid_name(sent) == sent


def test_a_name_stays_as_it_is_as_far_as_possible() -> None:
    names = ["read_file", "functions.read_file", "\u00e9", " ", "x" * 65, "1st", "-a", "a b"]
    sent = ["read_file", "functions_read_file", UNNAMED, UNNAMED, "x" * 64, "_1st", "a", "a_b"]
    assert [valid_name(name) for name in names] == sent
