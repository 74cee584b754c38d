"""Shapes of names by which programs find what they obey, whoever wrote the program.

A list of names can't win: there are thousands, and each year brings more. But they are made alike: hidden
by a dot, called `rc`, `config` or `lock`, named like a `Makefile`, laid into the top folder or into one
for hooks. Each function here is asked of the parts of a path as they are compared
(`stet.workspace.names.loosest`).
"""

import re

_DATA = r"(?:jsonc?|json5|ya?ml|toml|ini|cfg|conf|hcl|kdl|neon|edn|properties|dhall|pkl|cue)"
_SCRIPT = r"(?:[cm]?[jt]s|py|rb|lua|php|exs?)"
_CONFIGURATION = re.compile(
    rf"""
    .+\.config(?:\..+)?                         # vite.config.ts, nextflow.config
    | .+[-_]config\.(?:{_DATA}|[cm]?[jt]s)      # gatsby-config.js, samconfig_config.toml
    | .{{3,}}config\.(?:{_DATA})                # pyrightconfig.json
    | [^.]{{2,}}(?<!s)rc                        # pylintrc, vimrc; not src
    | [^.]{{4,}}rc\.(?:{_DATA}|{_SCRIPT})       # lighthouserc.js
    | conf\.py
    """,
    re.VERBOSE,
)
_LOCK = re.compile(
    rf"""
    .+\.(?:lock|lockb|lockfile|locked|freeze)   # yarn.lock
    | .+\.lock\.[^.]+                           # packages.lock.json
    | .+[-_]lock\.(?:{_DATA})                   # pnpm-lock.yaml
    | pylock(?:\.[^.]+)?\.toml
    | requirements[-_.][^.]*\.(?:txt|in)
    """,
    re.VERBOSE,
)
_NAMED_FILE = re.compile(
    r"[a-z][a-z0-9_-]*file"
    r"|(?:sconstruct|sconscript|wscript)\.[^.]+"
    r"|(?:docker|container|jenkins|proc|vagrant|just|brew|rake|gem|tilt|earth)file\.[^.]+"
)
"""`Makefile`, `Procfile`, `Fastfile`: a name without an ending that says that it is the file."""
_TOP_LEVEL = re.compile(rf".+\.(?:{_DATA}|xml|nix|star|ron|sdl|jsonnet|jam|pro|pri)(?:\.dist)?")
_DOCUMENT = re.compile(
    r"""
    (?:readme|licen[cs]es?|copying|copyright|authors|contributors|contributing|credits|maintainers
    | changelog|changes|history|news|todo|to-do|install|installation|hacking|thanks|notices?|faq
    | version|versions|bugs|about|patents|legal|unlicense|releases?|roadmap|acknowledge?ments|announce
    | security|support|upgrad(?:e|ing)|porting|links|index|notes|code_of_conduct|problems|ideas)
    (?:[-_].*)?
    """,
    re.VERBOSE,
)
"""What a person reads, and no program."""
_PROGRAM = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
"""A script in a root that a person calls by its name: `run_tests`. What a program looks for has no such name."""
_PLACEHOLDERS = frozenset({".gitkeep", ".keep", ".placeholder", ".empty", ".nojekyll"})
"""What is there so that its folder is."""
_SOURCE_FOLDERS = frozenset({"src", "app", "lib", "components", "client", "frontend", "web"})
_UI_CODE = re.compile(r".+\.(?:[cm]?[jt]sx?|vue|svelte)")
_UI_HOOK = re.compile(r"(?:use[-_a-z].*|index)\.[cm]?[jt]sx?")
_COMPILED = re.compile(
    r".+\.(?:c|cc|cpp|cxx|h|hh|hpp|rs|go|java|kt|cs|swift|pas|f90|rst|adoc|html)"
)


def has_hidden_part(parts: tuple[str, ...]) -> bool:
    """Whether a file or a folder on the way to it begins with a dot: programs hide there what they obey."""
    hidden = [part for part in parts if part.startswith(".")]
    return bool(hidden) and not (hidden == [parts[-1]] and parts[-1] in _PLACEHOLDERS)


def is_hook(parts: tuple[str, ...]) -> bool:
    """Whether a file lies in a folder for hooks. Code of a page has `hooks` of its own: functions."""
    for at, part in enumerate(parts[:-1]):
        if part == "hooks" or part.endswith(("-hooks", "_hooks")):
            return not _is_code_called_hook(parts[:at], parts[-1])
    return False


def _is_code_called_hook(above: tuple[str, ...], name: str) -> bool:
    if _COMPILED.fullmatch(name) or _UI_HOOK.fullmatch(name):
        return True
    return _UI_CODE.fullmatch(name) is not None and bool(_SOURCE_FOLDERS.intersection(above))


def is_configuration(parts: tuple[str, ...]) -> bool:
    """Whether a file is named like the configuration of some program, or like what it keeps locked."""
    name = parts[-1]
    if name.startswith("app.config.") and _SOURCE_FOLDERS.intersection(parts[:-1]):
        return False  # a module of Angular's
    return any(shape.fullmatch(name) for shape in (_CONFIGURATION, _LOCK, _NAMED_FILE))


def is_top_level(name: str) -> bool:
    """Whether a file that lies in a root of the workspace says by its name that a program reads it there."""
    if "." not in name:
        return not (_DOCUMENT.fullmatch(name) or _PROGRAM.fullmatch(name))
    return _TOP_LEVEL.fullmatch(name) is not None
