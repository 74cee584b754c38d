"""Facts for a crash report about the program and its environment, without private data."""

import platform
import sys
from dataclasses import fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version

from stet import __version__
from stet.lsp.capabilities import ClientCapabilities
from stet.settings.values import Settings
from stet.text.escape import escape_line

_PACKAGES = ("pygls", "lsprotocol", "openai", "pydantic", "xllamacpp", "wordllama", "tree-sitter")


def facts(editor: ClientCapabilities | None, settings: Settings) -> list[str]:
    """Return one line for each fact about the program.

    `editor` is None before `initialize`; this function takes some ms.
    """
    return [
        f"Stet {__version__}",
        f"Python {platform.python_version()} ({platform.python_implementation()})",
        f"system: {platform.system()} {platform.release()} {platform.machine()}",
        f"file names: {sys.getfilesystemencoding()}",
        f"packages: {', '.join(_versions())}",
        f"editor: {_describe_editor(editor) if editor else 'none yet'}",
        f"settings that are not the defaults: {', '.join(describe_settings(settings)) or 'none'}",
    ]


def _describe_editor(editor: ClientCapabilities) -> str:
    able = [
        one.name
        for one in fields(editor)
        if one.name not in {"name", "version"} and getattr(editor, one.name)
    ]
    name = f"{editor.name[:60] or 'without a name'} {editor.version[:40]}"
    return escape_line(f"{name.strip()}; can: {', '.join(able) or 'nothing special'}")


def describe_settings(settings: object, defaults: object = None, prefix: str = "") -> list[str]:
    """Return the names of the settings that differ from the defaults.

    Booleans and numbers are given with their value.
    """
    defaults = Settings() if defaults is None else defaults
    lines: list[str] = []
    if not is_dataclass(settings):
        return lines
    for setting in fields(settings):
        value, default = getattr(settings, setting.name), getattr(defaults, setting.name)
        if value == default:
            continue
        name = f"{prefix}{setting.name}"
        if is_dataclass(value):
            lines += describe_settings(value, default, f"{name}.")
        elif isinstance(value, bool | int | float):
            lines.append(f"{name}={value}")
        else:
            lines.append(name)
    return lines


def _versions() -> list[str]:
    versions = []
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"no {name}")
    return versions
