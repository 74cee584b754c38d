"""The shipped key bindings for Helix compared with its default keymap and with their page."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "client-configs" / "helix"
DEFAULTS = tomllib.loads(Path(__file__).with_name("helix_default_keys.toml").read_text())
CONFIGS = ("config.toml", "config-25.01.toml")


@pytest.mark.parametrize("name", CONFIGS)
def test_helix_keys_shadow_no_default(name: str) -> None:
    assert sorted(shadowed(config(name)["keys"])) == []


def test_shadowed_finds_a_default_key_and_a_default_minor_mode() -> None:
    keys = {"normal": {"u": "x", "]": {"d": "x", "h": "x"}, "\\": {"d": "x"}}, "select": {"g": "x"}}
    assert sorted(shadowed(keys)) == ["] d", "g", "u"]


@pytest.mark.parametrize("name", CONFIGS)
def test_helix_key_has_a_comment_and_is_on_the_page(name: str) -> None:
    page = (FOLDER / "README.md").read_text()
    for first, keys in config(name)["keys"]["normal"].items():
        for key in keys:
            assert f"`{first}{'-' if key == 'minus' else key}`" in page
    bindings = (FOLDER / name).read_text().partition("[keys.")[2].splitlines()
    assert [line for line in bindings if "=" in line and not re.search(r"  # \w", line)] == []


@pytest.mark.parametrize("name", CONFIGS)
def test_helix_config_shows_hunks_beside_their_lines(name: str) -> None:
    editor = config(name)["editor"]
    assert editor["end-of-line-diagnostics"] == "info"
    assert editor["inline-diagnostics"] == {"cursor-line": "info"}


def config(name: str) -> Any:
    return tomllib.loads((FOLDER / name).read_text())


def shadowed(keys: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of normal and select mode that Helix binds by default."""
    for bindings in keys.values():
        for key, command in bindings.items():
            minor = DEFAULTS["minor"].get(key, ())
            if key in DEFAULTS["normal"] or (minor and not isinstance(command, dict)):
                yield key
            elif isinstance(command, dict):
                yield from (f"{key} {inner}" for inner in command if inner in minor)
