"""Reading settings from anything an editor or a file may hold."""

import json
import subprocess
import sys
import tomllib
from dataclasses import replace

import pytest

from stet.settings.parse import MAX_PROBLEMS, Problem
from stet.settings.values import (
    AgentServerSettings,
    AgentSettings,
    AgentsSettings,
    CommandSettings,
    EditSettings,
    ModelSettings,
    PrivacySettings,
    PromptSettings,
    Settings,
    WebSettings,
)
from tests.support.all_settings import ALL, ALL_SETTINGS
from tests.support.settings_parsing import ParsedSettings, parse_settings


@pytest.mark.parametrize("value", [ALL, {"stet": ALL}, {"stet": ALL, "pyright": {"x": 1}}])
def test_every_key_of_the_contract_is_read_wrapped_or_bare(value: object) -> None:
    assert parse_settings(value) == ParsedSettings(ALL_SETTINGS)


@pytest.mark.parametrize("value", [None, {}, [], {"stet": None}, {"stet": {}}, {"model": None}])
def test_empty_settings_are_the_defaults(value: object) -> None:
    assert parse_settings(value) == ParsedSettings(Settings())


@pytest.mark.parametrize(
    ("value", "key", "message"),
    [
        (
            {"model": {"nam": "x"}},
            "model.nam",
            "unknown setting 'model.nam' is ignored: did you mean 'model.name'?",
        ),
        (
            {"model": {"base_url": "x"}},
            "model.base_url",
            "unknown setting 'model.base_url' is ignored: did you mean 'model.baseUrl'?",
        ),
        (
            {"maxIterations": 7},
            "maxIterations",
            "unknown setting 'maxIterations' is ignored: did you mean 'agent.maxIterations'?",
        ),
        ({"zzz": 1}, "zzz", "unknown setting 'zzz' is ignored"),
        (
            {"context": {"scope": "opne"}},
            "context.scope",
            "setting 'context.scope' is ignored: 'opne' is not one of current, linked, folder, "
            "open; did you mean 'open'?",
        ),
        (
            {"agent": {"maxTokens": "7"}},
            "agent.maxTokens",
            "setting 'agent.maxTokens' is ignored: expected a whole number, not '7'",
        ),
        (
            {"edit": {"canAdd": "yes"}},
            "edit.canAdd",
            "setting 'edit.canAdd' is ignored: expected true or false, not 'yes'",
        ),
        (
            {"model": {"temperature": True}},
            "model.temperature",
            "setting 'model.temperature' is ignored: expected a number, not true",
        ),
        (
            {"model": {"name": {}}},
            "model.name",
            "setting 'model.name' is ignored: expected a string, not an object",
        ),
        ({"model": 3}, "model", "setting 'model' is ignored: expected an object, not 3"),
        ("stet", "stet", "setting 'stet' is ignored: expected an object, not 'stet'"),
        (
            {"web": {"allowHosts": "nas:8080"}},
            "web.allowHosts",
            "setting 'web.allowHosts' is ignored: expected a list of strings",
        ),
    ],
)
def test_a_wrong_key_is_named_with_what_would_be_right(
    value: object, key: str, message: str
) -> None:
    assert parse_settings(value) == ParsedSettings(Settings(), (Problem(key, message),))


def test_what_is_right_beside_a_wrong_key_stays_in_force() -> None:
    parsed = parse_settings({"model": {"nam": "x", "name": "qwen3"}, "log": {"level": 7}})
    assert parsed.settings == replace(Settings(), model=ModelSettings(name="qwen3"))
    assert [problem.key for problem in parsed.problems] == ["model.nam", "log.level"]


@pytest.mark.parametrize(
    ("value", "used"), [(1, 5), (5, 5), (20, 20), (21, 20), (-(10**400), 5), (10**400, 20)]
)
def test_number_out_of_range_is_clamped_and_reported(value: int, used: int) -> None:
    parsed = parse_settings({"agent": {"maxIterations": value}})
    assert parsed.settings == replace(Settings(), agent=AgentSettings(max_iterations=used))
    clamped = [
        f"setting 'agent.maxIterations' is out of range: using {used} for "
        f"{value if abs(value) < 100 else 'a number that long'}"
    ]
    assert [problem.message for problem in parsed.problems] == (clamped if value != used else [])


def test_nan_is_refused() -> None:
    assert parse_settings({"model": {"price": {"input": float("nan")}}}) == ParsedSettings(
        Settings(),
        (
            Problem(
                "model.price.input",
                "setting 'model.price.input' is ignored: expected a number, not nan",
            ),
        ),
    )


def test_a_list_loses_only_its_bad_items() -> None:
    assert parse_settings({"web": {"allowHosts": ["nas", 3, "\ud800"]}}) == ParsedSettings(
        replace(Settings(), web=WebSettings(allow_hosts=("nas",))),
        (
            Problem(
                "web.allowHosts",
                "setting 'web.allowHosts': items that are not strings are ignored",
            ),
        ),
    )


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("*.pem", ("*.pem",)),
        (["*.pem", 3, "\ud800"], ("*.pem",)),
        ([["a/"], [[["b/"], "c/"]]], ("a/", "b/", "c/")),
        ({"a/": True, "b/": False, "c/": None, "d/": 1}, ("a/", "d/")),
        (True, ()),
        (3, ()),
    ],
)
def test_a_list_that_restricts_keeps_all_that_can_be_read(
    value: object, read: tuple[str, ...]
) -> None:
    shown = ", ".join(map(repr, read)) or "nothing"
    assert parse_settings({"privacy": {"deny": value}}) == ParsedSettings(
        replace(Settings(), privacy=PrivacySettings(read)),
        (
            Problem(
                "privacy.deny",
                f"setting 'privacy.deny' should be a list of strings; using {shown}",
            ),
        ),
    )


def test_a_list_nested_deeply_is_read() -> None:
    value: object = "*.pem"
    for _ in range(100_000):
        value = [value]
    assert parse_settings({"privacy": {"deny": value}}).settings.privacy.deny == ("*.pem",)
    while isinstance(value, list):  # freed level by level
        value = value[0]


@pytest.mark.parametrize("value", ["false", " No ", "off", "0", 0, 0.0, "disabled"])
def test_false_in_another_form_is_false(value: object) -> None:
    edit = {"canAdd": value, "canDelete": value, "canCreate": value, "canNavigate": value}
    parsed = parse_settings({"edit": edit, "bridges": {"opencode": {"enabled": value}}})
    assert parsed.settings.edit == EditSettings(
        can_add=False, can_delete=False, can_create=False, can_navigate=False
    )
    assert not parsed.settings.bridges.opencode.enabled
    assert len(parsed.problems) == 5
    assert "should be true or false" in parsed.problems[0].message


@pytest.mark.parametrize("value", ["true", "yes", "on", 1, "1"])
def test_setting_that_allows_more_is_read_in_its_exact_form_only(value: object) -> None:
    assert (
        parse_settings({"edit": {"canAdd": value}})
        .problems[0]
        .message.startswith("setting 'edit.canAdd' is ignored")
    )
    parsed = parse_settings({"privacy": {"redactSecrets": value}})
    assert parsed.settings.privacy.redact_secrets
    assert "using true for" in parsed.problems[0].message
    off = parse_settings({"privacy": {"redactSecrets": "false"}})
    assert off.settings.privacy.redact_secrets


def test_an_empty_object_is_an_empty_list_to_editors_that_cannot_tell() -> None:
    assert parse_settings({"privacy": {"deny": {}}}) == ParsedSettings(Settings())


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("ls", "setting 'agent.commands[2]' is ignored: expected an object, not 'ls'"),
        ({"name": "x"}, "setting 'agent.commands[2]' is ignored: missing argv"),
        (
            {"name": 1, "argv": []},
            "setting 'agent.commands[2]' is ignored: invalid value for name",
        ),
        (
            {"name": "x", "argv": ["a"], "shell": True},
            "setting 'agent.commands[2]' is ignored: unknown key 'shell'; valid keys: name, argv, description, safe",
        ),
    ],
)
def test_an_object_of_a_list_that_is_wrong_costs_itself_only(item: object, message: str) -> None:
    good = {"name": "ls", "argv": ["ls"]}
    parsed = parse_settings({"agent": {"commands": [good, item, good]}})
    assert parsed.settings.agent.commands == (CommandSettings("ls", ("ls",)),) * 2
    assert [problem.message for problem in parsed.problems] == [message]


def test_no_source_can_mark_its_prompt_as_a_projects() -> None:
    prompt = {"title": "x", "prompt": "y"}
    parsed = parse_settings({"prompts": [prompt, {**prompt, "project": False}]})
    assert parsed.settings.prompts == (PromptSettings("x", "y"),)
    assert [problem.key for problem in parsed.problems] == ["prompts[2]"]


def test_the_messages_of_a_hostile_file_are_few_short_and_escaped() -> None:
    parsed = parse_settings({f"\x1b[8m{number}{'x' * 1000}": 1 for number in range(1000)})
    assert len(parsed.problems) <= MAX_PROBLEMS + 1
    assert all(len(problem.message) < 200 for problem in parsed.problems)
    assert all(problem.message.isprintable() for problem in parsed.problems)
    assert parsed.problems[-1].message == f"{1000 - MAX_PROBLEMS} more invalid settings"


def test_json_and_toml_are_read_alike() -> None:
    text = json.dumps(ALL["agent"]).replace(":", "=")
    assert parse_settings(tomllib.loads(f"agent = {text}")) == parse_settings(
        {"agent": ALL["agent"]}
    )


def test_importing_the_readers_costs_no_pydantic() -> None:
    code = "import sys, stet.settings.layers; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-I", "-c", code], check=False).returncode == 0


PRESET_PROBLEM = "setting 'context.presets.p' is ignored: "


@pytest.mark.parametrize(
    ("presets", "message"),
    [
        ({"p": 5}, PRESET_PROBLEM + "expected an object, not 5"),
        ({"p": {"file": []}}, PRESET_PROBLEM + "unknown key 'file'; valid keys: files, folders, scope, linkDepth"),
        ({"p": {"files": "a.md"}}, PRESET_PROBLEM + "invalid value for files"),
        ({"p": {"scope": "all"}}, PRESET_PROBLEM + "invalid value for scope"),
        ({"p": {"linkDepth": 4}}, PRESET_PROBLEM + "invalid value for linkDepth"),
        ({"p": {"project": True}}, PRESET_PROBLEM + "unknown key 'project'; valid keys: files, folders, "
         "scope, linkDepth"),
        ({"": {}}, "setting 'context.presets.' is ignored: its name must be one line"),
        (["p"], "setting 'context.presets' is ignored: expected an object, not a list"),
    ],
)  # fmt: skip
def test_a_preset_that_is_wrong_is_left_out_and_named(presets: object, message: str) -> None:
    parsed = parse_settings({"context": {"presets": presets}})
    assert parsed.settings == Settings()
    assert [problem.message for problem in parsed.problems] == [message]


def test_agents_are_read_by_name_and_faulty_ones_are_left_out() -> None:
    servers = {
        "mine": {"command": ["a", "b"], "env": {"X": "1"}, "passEnv": ["Y"], "mode": "default"},
        "gemini": {},
        "bad": {"profile": "unheard"},
        "worse": {"env": {"X": 1}},
    }
    parsed = parse_settings({"agents": {"default": "mine", "servers": servers}})
    assert parsed.settings.agents == AgentsSettings(
        "mine",
        (
            AgentServerSettings("mine", "generic", ("a", "b"), {"X": "1"}, ("Y",), "", "default"),
            AgentServerSettings("gemini"),
        ),
    )
    assert [one.key for one in parsed.problems] == ["agents.servers.bad", "agents.servers.worse"]
