"""Files that are instructions to a machine: editors, version control and CI run what they say.

A proposal for one of them needs a yes of its own, never "accept all": an agent that may write its
own editor's settings has no other limits. The list is the one of published attacks (settings that
run tasks, hooks, agents' own configuration).
"""

import unicodedata
from pathlib import PurePosixPath

_FOLDERS = frozenset(
    {
        ".git", ".github", ".gitlab", ".circleci", ".ci", ".husky", ".vscode", ".idea", ".zed",
        ".helix", ".nvim", ".vim", ".claude", ".cursor", ".continue", ".devcontainer",
    }
)  # fmt: skip
_FILES = frozenset(
    {
        ".stet.toml", ".stetignore", ".gitignore", ".gitattributes", ".gitmodules", ".gitlab-ci.yml",
        ".nvim.lua", ".nvimrc", ".exrc", ".dir-locals.el", ".envrc", ".editorconfig", ".mcp.json",
        ".pre-commit-config.yaml", "agents.md", "claude.md", ".cursorrules", "conftest.py",
        "makefile", "justfile", "package.json", "setup.py", "jenkinsfile", "sitecustomize.py",
    }
)  # fmt: skip
_SUFFIXES = (".code-workspace", ".sublime-project")


def is_protected(name: str) -> bool:
    """Whether `name`, relative to a root with `/` between its parts, needs a yes of its own.

    Case, Unicode form and invisible characters are folded: on many disks `.GIT` and `.git` are one
    folder. So are a stream of Windows and what it belongs to.
    """
    parts = [_folded(part) for part in PurePosixPath(name).parts]
    if not parts:
        return False
    return (
        any(part in _FOLDERS for part in parts)
        or parts[-1] in _FILES
        or parts[-1].endswith(_SUFFIXES)
    )


def _folded(part: str) -> str:
    visible = "".join(each for each in part if unicodedata.category(each) != "Cf")
    return unicodedata.normalize("NFKC", visible).casefold().partition(":")[0].rstrip(". ")
