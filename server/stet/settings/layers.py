"""The sources of settings, and their precedence.

Later sources win: defaults < user file < editor. API keys are not settings: they are read from the
environment when the model is chosen. The project file is part of a repository that may be
untrusted, so it may only *narrow*: its endpoints, keys, limits and wider scopes are ignored, with a
warning. Its prompts and presets are offered as the project's. At most `MAX_BYTES` of a file are
read.
"""

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stet.settings.parse import Problem, SettingsLayer, lay_over, read_layer, to_settings, value_at
from stet.settings.value_checks import NARROW_VALUES, RESTRICTIONS
from stet.settings.values import PresetSettings, PromptSettings, Settings

PROJECT_FILE = ".stet.toml"
"""The path of the project file, relative to a workspace root."""
MAX_BYTES = 64 * 1024
"""The largest size of a settings file; a larger file is ignored."""

_NEGATES = "entries of {key!r} that start with ! are ignored: a project can only exclude more files"
_NARROWEST = {
    **NARROW_VALUES,
    "context.scope": "current",
    "context.linkDepth": 0,
    "edit.scope": "current",
}
_LOWERED = frozenset({"agent.maxCost"})
"""The limits that a project may lower; a value of None means no limit."""


def user_file_path() -> Path:
    """Return the path of the user's settings file, which may not exist."""
    import platformdirs  # late: only two callers need it

    return platformdirs.user_config_path("stet") / "config.toml"


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """The path and content of a settings file.

    Attributes:
        path: The path of the file, for messages.
        content: The first bytes of the file, at most `MAX_BYTES` + 1.
    """

    path: str
    content: bytes


ReadBytes = Callable[[Path, int], bytes]
"""Returns at most the given number of bytes of a regular file; see `System.read_bytes`."""


@dataclass(frozen=True, slots=True)
class MergedSettings:
    """The settings in force, and their sources.

    Attributes:
        settings: The merged settings, all valid.
        problems: The problems of all sources, each once.
        files: The paths of the files that were read, the user's first.
    """

    settings: Settings
    problems: tuple[Problem, ...] = ()
    files: tuple[str, ...] = ()


def read_layers(
    read_bytes: ReadBytes, roots: Iterable[Path], *, editor: Sequence[object] = ()
) -> MergedSettings:
    """Read the user's file and the project files, and merge all sources.

    Blocking. Never raises: a missing file sets nothing.

    Args:
        read_bytes: Reads the first bytes of a file.
        roots: The workspace folders, each of which may contain a project file.
        editor: The raw settings that the editor has sent, the later winning:
            `initializationOptions`, the answer to `workspace/configuration`,
            `didChangeConfiguration`'s settings.
    """
    user = _open(read_bytes, user_file_path())
    projects = [file for root in roots if (file := _open(read_bytes, root / PROJECT_FILE))]
    return merge_settings(user, editor, projects)


def merge_settings(
    user: SettingsFile | None, editor: Sequence[object], projects: Sequence[SettingsFile]
) -> MergedSettings:
    """Merge all sources. Never raises."""
    overlays = [read_file(user)] if user else []
    overlays += map(read_layer, editor)
    values: dict[str, object] = {}
    problems: list[Problem] = []
    for overlay in overlays:
        values = lay_over(values, overlay)
        problems += overlay.problems
    for project in projects:
        narrowing = _narrow(to_settings(values), read_file(project), project.path)
        values |= narrowing.values
        problems += narrowing.problems
    files = tuple(file.path for file in (user, *projects) if file)
    return MergedSettings(to_settings(values), tuple(dict.fromkeys(problems)), files)


def _open(read_bytes: ReadBytes, path: Path) -> SettingsFile | None:
    """Read at most `MAX_BYTES` + 1 bytes of a file, so that a larger file is recognized."""
    try:
        return SettingsFile(str(path), read_bytes(path, MAX_BYTES + 1))
    except OSError:
        return None


def read_file(file: SettingsFile) -> SettingsLayer:
    """Parse a TOML file; an invalid file sets nothing and has one problem."""
    why = f"it is larger than {MAX_BYTES // 1024} kB"
    if len(file.content) <= MAX_BYTES:
        try:
            return read_layer(tomllib.loads(file.content.decode("utf-8-sig")), file.path)
        except UnicodeDecodeError as error:
            n_above = file.content.count(b"\n", 0, error.start)
            why = f"line {n_above + 1} is not UTF-8"
        except RecursionError:
            why = "it is nested too deeply"
        except ValueError as error:  # a syntax error with its line, or a number that is too long
            why = str(error)
    return SettingsLayer(problems=(Problem("", f"the file is ignored: {why}", file.path),))


def _project_prompt(prompt: PromptSettings) -> PromptSettings:
    """Return a prompt of the project, marked as such in its title.

    Its kind becomes the default: editors execute some kinds on save, without asking.
    """
    kind = PromptSettings("", "").kind
    return replace(prompt, title=f"{prompt.title} (the project's)", kind=kind, project=True)


def _project_preset(preset: PresetSettings, settings: Settings) -> PresetSettings:
    """Return a preset of the project, marked as such in its name; its scope is not widened."""
    context = settings.context
    scope = preset.scope if preset.scope in ("current", context.scope) else None
    depth = None if preset.link_depth is None else min(preset.link_depth, context.link_depth)
    name = f"{preset.name} (the project's)"
    return replace(preset, name=name, scope=scope, link_depth=depth, project=True)


def _too_wide(name: str) -> str:
    return (
        f"the scope of the preset {name[:60]!r} is ignored: a project can only restrict your "
        "settings"
    )


def _without_negations(entries: tuple[str, ...]) -> tuple[str, ...]:
    """Return the entries without negations (`!`), which cancel earlier entries."""
    return tuple(entry for entry in entries if not entry.lstrip("/ ").startswith("!"))


def _is_lower(key: str, value: object, now: object) -> bool:
    """Return whether the value lowers a limit that a project may lower."""
    if key not in _LOWERED or not isinstance(value, int | float):
        return False
    return not isinstance(now, int | float) or value < now


def _narrow(settings: Settings, project: SettingsLayer, path: str) -> SettingsLayer:
    """Return the project's settings that are no wider than the settings in force."""
    values: dict[str, object] = {}
    problems = list(project.problems)
    for key, requested in project.values.items():
        now = value_at(settings, key)
        if key == "prompts" and isinstance(now, tuple) and isinstance(requested, tuple):
            values[key] = (*now, *(_project_prompt(one) for one in requested))
        elif key == "context.presets" and isinstance(now, tuple) and isinstance(requested, tuple):
            made = tuple(_project_preset(one, settings) for one in requested)
            values[key] = (*now, *made)
            for one, ours in zip(requested, made, strict=True):
                if (one.scope, one.link_depth) != (ours.scope, ours.link_depth):
                    problems.append(Problem(key, _too_wide(one.name), path))
        elif key in RESTRICTIONS and isinstance(now, tuple) and isinstance(requested, tuple):
            added = _without_negations(requested)
            values[key] = tuple(dict.fromkeys(now + added))
            problems += [Problem(key, _NEGATES.format(key=key), path)] * (added != requested)
        elif requested in (now, _NARROWEST.get(key)) or _is_lower(key, requested, now):
            values[key] = requested
        else:
            message = f"setting {key!r} is ignored: a project can only restrict the user's settings"
            problems.append(Problem(key, message, path))
    return SettingsLayer(values, tuple(problems))
