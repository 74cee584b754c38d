"""The settings of bridges, and that the reference names every setting with its default."""

import json
import re
from pathlib import Path

import pytest

from stet.settings.layers import MergedSettings, SettingsFile, merge_settings
from stet.settings.parse import Problem, read_layer
from stet.settings.values import BridgeSettings, OpenCodeSettings, Settings
from tests.support.settings_parsing import ParsedSettings, parse_settings

PAGE = Path(__file__).parents[3] / "docs" / "reference.md"
URL = "http://127.0.0.1:4096"


def test_reference_holds_the_defaults() -> None:
    example = re.search(r"```jsonc\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert example is not None
    assert parse_settings(json.loads(example[1])) == ParsedSettings(Settings())


def test_the_reference_names_every_setting_of_the_bridge() -> None:
    example = re.search(r"```jsonc\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert example is not None
    overlay = read_layer({"bridges": json.loads(example[1])["bridges"]})
    assert overlay.values == {
        "bridges.opencode.enabled": True,
        "bridges.opencode.url": "",
        "bridges.opencode.session": "",
        "bridges.opencode.username": "opencode",
        "bridges.opencode.passwordEnv": "",
        "bridges.opencode.debounceSeconds": 2,
    }


def test_the_user_names_a_server() -> None:
    given = {"bridges": {"opencode": {"url": URL, "debounceSeconds": 0.5}}}
    opencode = OpenCodeSettings(url=URL, debounce_seconds=0.5)
    assert parse_settings(given) == ParsedSettings(Settings(bridges=BridgeSettings(opencode)))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("url", "'http://evil.example'"),
        ("session", "'ses_1'"),
        ("username", "'root'"),
        ("passwordEnv", "'AWS_SECRET_ACCESS_KEY'"),
        ("debounceSeconds", "0"),
        ("enabled", "true"),
    ],
)
def test_a_project_may_only_switch_it_off(key: str, value: str) -> None:
    editor = [{"bridges": {"opencode": {"url": URL, "enabled": key != "enabled"}}}]
    before = merge_settings(None, editor, ())
    stranger = SettingsFile("/ws/.stet.toml", f"[bridges.opencode]\n{key} = {value}".encode())
    message = (
        f"setting 'bridges.opencode.{key}' is ignored: a project can only restrict the user's "
        "settings"
    )
    assert merge_settings(None, editor, [stranger]) == MergedSettings(
        before.settings,
        (Problem(f"bridges.opencode.{key}", message, "/ws/.stet.toml"),),
        ("/ws/.stet.toml",),
    )
    off = SettingsFile("/ws/.stet.toml", b"[bridges.opencode]\nenabled = false")
    assert not merge_settings(None, editor, [off]).settings.bridges.opencode.enabled
