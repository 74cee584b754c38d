"""Which source of settings wins, and what a project may say."""

from pathlib import Path

import pytest

from stet.settings.layers import (
    MAX_BYTES,
    MergedSettings,
    SettingsFile,
    merge_settings,
    read_layers,
    user_file_path,
)
from stet.settings.parse import Problem
from stet.settings.values import (
    AgentSettings,
    ContextSettings,
    EditSettings,
    LogSettings,
    ModelSettings,
    PresetSettings,
    PrivacySettings,
    PromptSettings,
    Settings,
)
from tests.support.memory_system import MemorySystem


def user(text: str) -> SettingsFile:
    return SettingsFile("config.toml", text.encode())


def project(text: str) -> SettingsFile:
    return SettingsFile("/work/.stet.toml", text.encode())


def test_empty_layers_are_the_defaults() -> None:
    assert merge_settings(None, (), ()) == MergedSettings(Settings())


def test_later_sources_win_key_by_key() -> None:
    layers = merge_settings(
        user("[model]\nname = 'file'\nbaseUrl = 'http://127.0.0.1:1/v1'\n[log]\nlevel = 'debug'"),
        [
            {"stet": {"model": {"name": "options", "apiKeyEnv": "A"}}},
            {"model": {"name": "configuration", "apiVersion": "1"}},
            {"stet": {"model": {"name": "changed"}}},
        ],
        (),
    )
    assert layers == MergedSettings(
        Settings(
            model=ModelSettings(
                name="changed", base_url="http://127.0.0.1:1/v1", api_key_env="A", api_version="1"
            ),
            log=LogSettings("debug"),
        ),
        files=("config.toml",),
    )


def test_null_from_the_editor_changes_nothing() -> None:
    layers = merge_settings(user("[model]\nname = 'file'"), [None, {"stet": None}], ())
    assert layers.settings == Settings(model=ModelSettings(name="file"))


def test_error_repeated_by_the_editor_is_reported_once() -> None:
    wrong = {"stet": {"nope": 1}}
    assert merge_settings(None, [wrong, wrong, wrong], ()) == MergedSettings(
        Settings(), (Problem("nope", "unknown setting 'nope' is ignored"),)
    )


def test_a_project_may_narrow() -> None:
    layers = merge_settings(
        user(
            "[context]\nexcludedFolders = ['build']\n[agent]\ndisabledTools = ['read_file']\n"
            "[privacy]\ndeny = ['*.pem']"
        ),
        (),
        [
            project(
                "[context]\nscope = 'current'\nexcludedFolders = ['dist', 'build']\n"
                "[edit]\nscope = 'current'\ncanCreate = false\ncanDelete = false\ncanAdd = false\n"
                "[agent]\ndisabledTools = ['web_search']\ndisabledGroups = ['web']\n"
                "[privacy]\ndeny = ['secret/']"
            ),
        ],
    )
    assert layers == MergedSettings(
        Settings(
            context=ContextSettings(scope="current", excluded_folders=("build", "dist")),
            edit=EditSettings("current", can_add=False, can_delete=False, can_create=False),
            agent=AgentSettings(
                disabled_tools=("read_file", "web_search"), disabled_groups=("web",)
            ),
            privacy=PrivacySettings(("*.pem", "secret/")),
        ),
        files=("config.toml", "/work/.stet.toml"),
    )


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[model]\nbaseUrl = 'http://evil/v1'", "model.baseUrl"),
        ("[model]\nprovider = 'openai'", "model.provider"),
        ("[model]\nname = 'x'", "model.name"),
        ("[model]\napiKeyEnv = 'AWS_SECRET_ACCESS_KEY'", "model.apiKeyEnv"),
        ("[model.price]\ninput = 0", "model.price.input"),
        ("[agent]\nmaxTokens = 1", "agent.maxTokens"),
        ("[edit]\nscope = 'context'", "edit.scope"),
        ("[edit]\ncanCreate = true", "edit.canCreate"),
        ("[context]\nscope = 'open'", "context.scope"),
        ("[context]\nmaxFiles = 99", "context.maxFiles"),
        ("[log]\nlevel = 'debug'", "log.level"),
        ("[agents]\ndefault = 'gemini'", "agents.default"),
        ("[agents]\nclaudeIde = true", "agents.claudeIde"),
        ("[agents]\nisolation = 'none'", "agents.isolation"),
        ("[agents.servers.x]\ncommand = ['evil']", "agents.servers"),
        ("[mcpServers.x]\ncommand = ['evil']", "mcpServers"),
    ],
)
def test_other_settings_of_a_project_are_ignored_and_named(text: str, key: str) -> None:
    narrow = {"edit": {"scope": "current", "canCreate": False}, "context": {"scope": "folder"}}
    assert merge_settings(None, [narrow], [project(text)]) == MergedSettings(
        merge_settings(None, [narrow], ()).settings,
        (
            Problem(
                key,
                f"setting {key!r} is ignored: a project can only restrict the user's settings",
                "/work/.stet.toml",
            ),
        ),
        ("/work/.stet.toml",),
    )


@pytest.mark.parametrize(
    ("users", "projects", "cost"),
    [(None, 0.5, 0.5), (1, 0.5, 0.5), (1, 1, 1), (0.5, 1, 0.5), (0, 1, 0)],
)
def test_a_project_may_only_lower_what_a_turn_may_cost(
    users: float | None, projects: float, cost: float
) -> None:
    user = {"agent": {"maxCost": users}}
    layers = merge_settings(None, [user], [project(f"[agent]\nmaxCost = {projects}")])
    assert layers.settings.agent.max_cost == cost
    is_raised = users is not None and projects > users
    assert [problem.key for problem in layers.problems] == ["agent.maxCost"] * is_raised


def test_prompt_of_a_project_is_marked_and_never_runs_on_save() -> None:
    toml = "[[prompts]]\ntitle = 'Tidy'\nprompt = 'x'\nkind = 'source.fixAll'\nmode = 'ask'"
    found = merge_settings(None, (), [project(toml)]).settings.prompts
    assert found == (PromptSettings("Tidy (the project's)", "x", mode="ask", project=True),)


def test_presets_of_several_sources_are_merged_and_the_later_wins() -> None:
    layers = merge_settings(
        user("[context.presets.a]\nfiles = ['old.md']\n[context.presets.b]\nfolders = ['b']"),
        [{"context": {"presets": {"a": {"files": ["new.md"]}}}}],
        (),
    )
    assert layers.settings.context.presets == (
        PresetSettings("a", ("new.md",)),
        PresetSettings("b", (), ("b",)),
    )


def test_preset_of_a_project_is_marked_and_widens_no_scope() -> None:
    toml = (
        "[context.presets.wide]\nfiles = ['a.md']\nscope = 'folder'\nlinkDepth = 3\n"
        "[context.presets.narrow]\nfolders = ['b']\nscope = 'current'\nlinkDepth = 0"
    )
    layers = merge_settings(None, (), [project(toml)])
    assert layers.settings.context.presets == (
        PresetSettings("wide (the project's)", ("a.md",), (), None, 1, project=True),
        PresetSettings("narrow (the project's)", (), ("b",), "current", 0, project=True),
    )
    message = "the scope of the preset 'wide' is ignored: a project can only restrict your settings"
    assert layers.problems == (Problem("context.presets", message, "/work/.stet.toml"),)


def test_no_project_widens_what_another_narrowed() -> None:
    projects = [project("[edit]\nscope = 'current'"), project("[edit]\nscope = 'context'")]
    assert merge_settings(None, (), projects).settings == Settings(edit=EditSettings("current"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[model]\nname = \n", "Invalid value (at line 2, column 8)"),
        (b"[model]\nname = '\xff'", "line 2 is not UTF-8"),
        (b"x = " + b"[" * 30_000, "it is nested too deeply"),
        (b"x = " + b"9" * 5_000, "Exceeds the limit (4300 digits) for integer string conversion"),
        (b" " * (MAX_BYTES + 1), "it is larger than 64 kB"),
    ],
)
def test_unreadable_file_sets_nothing_and_is_reported_with_its_place(
    content: bytes, message: str
) -> None:
    file = SettingsFile("f.toml", content)
    for parsed in (merge_settings(file, (), ()), merge_settings(None, (), [file])):
        assert parsed.settings == Settings()
        assert [(problem.key, problem.source) for problem in parsed.problems] == [("", "f.toml")]
        assert str(parsed.problems[0]).startswith(f"f.toml: the file is ignored: {message}")


def test_a_byte_order_mark_is_no_mistake() -> None:
    file = SettingsFile("f.toml", b"\xef\xbb\xbf[log]\nlevel = 'info'\r\n")
    assert merge_settings(file, (), ()).settings == Settings(log=LogSettings("info"))


def test_the_users_file_is_in_the_platforms_config_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert user_file_path().name == "config.toml"
    assert user_file_path().parent.name == "stet"


def test_the_files_of_the_user_and_of_every_root_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/config")
    system = MemorySystem(
        {
            str(user_file_path()): "[log]\nlevel = 'info'",
            "/one/.stet.toml": "[privacy]\ndeny = ['a']",
            "/two/.stet.toml": "[privacy]\ndeny = ['b']",
        }
    )
    roots = [Path("/one"), Path("/none"), Path("/two")]
    assert read_layers(
        system.read_bytes, roots, editor=[{"log": {"level": "debug"}}]
    ) == MergedSettings(
        Settings(log=LogSettings("debug"), privacy=PrivacySettings(("a", "b"))),
        files=(str(user_file_path()), "/one/.stet.toml", "/two/.stet.toml"),
    )
