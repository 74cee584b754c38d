"""The extension's `package.json` compared with the server: settings, types, defaults, commands."""

import json
import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from stet.settings.values import Bounds, Settings

FOLDER = Path(__file__).parents[2] / "client-configs" / "vscode"
NAMES = {str: "string", bool: "boolean", int: "integer", float: "number"}
OWN = "stet.path"


@cache
def manifest() -> Any:
    return json.loads((FOLDER / "package.json").read_text())


def test_every_setting_of_the_server_is_contributed_with_its_type_bounds_and_default() -> None:
    contributed = {
        name: {key: value for key, value in given.items() if key not in NOT_COMPARED}
        for name, given in manifest()["contributes"]["configuration"]["properties"].items()
        if name != OWN
    }
    assert contributed == {f"stet.{key}": value for key, value in _settings(Settings())}


NOT_COMPARED = ("markdownDescription", "scope")


def test_settings_have_user_scope_and_a_description() -> None:
    properties = manifest()["contributes"]["configuration"]["properties"]
    assert {name for name, given in properties.items() if given["scope"] != "machine"} == set()
    assert [
        name for name, given in properties.items() if len(given["markdownDescription"]) < 20
    ] == []


def test_every_key_and_menu_names_a_command_that_the_palette_shows_and_the_code_registers() -> None:
    given = manifest()["contributes"]
    commands = {one["command"] for one in given["commands"]}
    used = {one["command"] for one in given["keybindings"]}
    entries = [one for menu in given["menus"].values() for one in menu]
    used |= {one["command"] for one in entries if "submenu" not in one}
    assert used <= commands
    source = (FOLDER / "src" / "extension.ts").read_text()
    table = source.split("const commands = {")[1].split("  };")[0]
    words = set(table.replace(",", " ").replace(":", " ").split())
    assert {command.removeprefix("stet.ui.") for command in commands} - words == set()
    assert {one["submenu"] for one in entries if "submenu" in one} <= given["menus"].keys()


def test_every_context_key_is_set_by_the_code_and_explained_on_the_page() -> None:
    used = set(re.findall(r"\bstet\.[a-z]\w+(?=[ &|]|\"|$)", json.dumps(_clauses())))
    assert used
    source = (FOLDER / "src" / "contextKeys.ts").read_text()
    declared = set(re.findall(r"'(stet\.\w+)'", source.split("type Key =")[1].split(";")[0]))
    assert used == declared
    page = (FOLDER / "README.md").read_text()
    assert {key for key in declared if f"`{key}`" not in page} == set()


def _clauses() -> list[str]:
    """Return the `when` clauses of all keys and menu entries."""
    given = manifest()["contributes"]
    entries = [one for menu in given["menus"].values() for one in menu]
    return [one["when"] for one in (*given["keybindings"], *entries) if "when" in one]


def test_no_two_commands_have_one_key_and_all_but_one_begin_with_the_prefix() -> None:
    keys = [one["key"] for one in manifest()["contributes"]["keybindings"]]
    assert len(set(keys)) == len(keys)
    assert [key for key in keys if not key.startswith("alt+a ")] == ["ctrl+enter"]


def test_the_page_of_the_extension_names_each_key() -> None:
    page = (FOLDER / "README.md").read_text()
    keys = {one["key"].removeprefix("alt+a ") for one in manifest()["contributes"]["keybindings"]}
    assert {key for key in keys if f"`{key}`" not in page} == set()


def _settings(value: object, prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every leaf by its dotted key, as JSON schema with its default."""
    assert is_dataclass(value)
    hints = get_type_hints(type(value), include_extras=True)
    for one in fields(value):
        default, key = getattr(value, one.name), f"{prefix}{_camel(one.name)}"
        if is_dataclass(default):
            yield from _settings(default, f"{key}.")
            continue
        schema = _schema(hints[one.name])
        if isinstance(default, tuple):
            default = {} if schema["type"] == "object" else list(default)
        yield key, {**schema, "default": default}


def _schema(hint: Any) -> dict[str, Any]:
    kinds = get_args(hint)
    if isinstance(hint, types.UnionType) or type(None) in kinds:
        inner = _schema(next(kind for kind in kinds if kind is not type(None)))
        return {**inner, "type": [inner["type"], "null"]}
    if hasattr(hint, "__metadata__"):
        return _schema(hint.__origin__) | _bounds(hint.__metadata__)
    if get_origin(hint) is Literal:
        return {"type": "string", "enum": list(kinds)}
    if get_origin(hint) is Mapping:
        return {"type": "object", "additionalProperties": _schema(kinds[1])}
    if get_origin(hint) is not tuple:
        return {"type": NAMES[hint]}
    if kinds[0] is str:
        return {"type": "array", "items": {"type": "string"}}
    record = _record(kinds[0])
    if any("key" in one.metadata for one in fields(kinds[0])):
        return {"type": "object", "additionalProperties": record}
    return {"type": "array", "items": record}


def _bounds(metadata: tuple[object, ...]) -> dict[str, Any]:
    limit = next(one for one in metadata if isinstance(one, Bounds))
    return {"minimum": limit.least} | ({} if limit.most is None else {"maximum": limit.most})


def _record(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    own = [one for one in fields(kind) if not {"ours", "key"} & set(one.metadata)]
    properties = {_camel(one.name): _schema(hints[one.name]) for one in own}
    schema = {"type": "object", "additionalProperties": False, "properties": properties}
    needed = [
        _camel(one.name) for one in own if one.default is MISSING and one.default_factory is MISSING
    ]
    return schema | ({"required": needed} if needed else {})


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)
