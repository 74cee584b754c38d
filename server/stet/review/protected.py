"""Files that are instructions to a machine: editors, version control, CI and agents do what they say.

A proposal for one of them needs a yes of its own, never "accept all": an agent that may write its
own editor's settings has no other limits. The list is that of published attacks and their kin:
whatever a program obeys or runs by itself, when a folder is opened, a file is loaded or saved, or
something is committed, pushed or installed. What a person starts by hand is left out, but for the
entries known from attacks (`Makefile`, `package.json`, `conftest.py`).

The inside of `.git`, `.hg` and `.svn` is no matter of a yes: it is refused outright, as secrets are
(`stet.workspace.privacy`). A hook or a line of `.git/config` runs at the next `git status` of any
editor, no text edit there is ever part of a user's project, and the model is not shown what it holds,
so that it could only write blindly. Other agents came to the same (Codex keeps `.git` read-only even
where it may write everything else). They are named here too, for the day a rule there is loosened.
"""

import re
from fnmatch import translate
from pathlib import PurePosixPath

from stet.text.hidden import LOOK_ALIKES
from stet.workspace.names import loosest
from stet.workspace.secret_files import is_secret

_FOLDERS = frozenset(
    {
        # version control and its hooks
        ".git", ".hg", ".svn", ".husky", ".githooks", ".git-hooks", ".lefthook",
        # continuous integration
        ".github", ".gitlab", ".gitea", ".forgejo", ".circleci", ".ci", ".woodpecker", ".buildkite",
        ".teamcity", ".azure-pipelines", ".azuredevops", ".tekton",
        # editors
        ".vscode", ".vscode-insiders", ".vs", ".idea", ".fleet", ".zed", ".helix", ".nvim", ".vim",
        ".emacs.d", ".kak", ".sublime", ".theia", ".devcontainer", ".settings",
        # agents
        ".claude", ".cursor", ".continue", ".codex", ".gemini", ".cline", ".clinerules", ".roo",
        ".windsurf", ".kiro", ".opencode", ".amazonq", ".junie", ".augment", ".trae", ".qwen",
        ".aider", ".goose", ".agents", ".mcp",
        # what package managers and build tools run by themselves
        ".cargo", ".yarn", ".mvn", ".bundle", ".direnv", ".mise",
        # a home folder as the workspace
        ".config", ".local", ".ssh", ".gnupg",
    }
)  # fmt: skip
_FILES = frozenset(
    {
        # ours
        ".stet.toml", ".stetignore",
        # version control; a bare repository is made of a `HEAD` (and git obeys its `config`)
        ".gitignore", ".gitattributes", ".gitmodules", ".gitconfig", ".hgrc", "head",
        ".pre-commit-config.yaml", ".pre-commit-hooks.yaml", "lefthook.yml", "lefthook.yaml",
        # continuous integration
        ".gitlab-ci.yml", ".travis.yml", ".drone.yml", ".woodpecker.yml", ".appveyor.yml",
        "appveyor.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "cloudbuild.yaml",
        "jenkinsfile", "codeowners",
        # editors, and what they load with a file
        ".nvim.lua", ".nvimrc", ".exrc", ".vimrc", "_vimrc", ".gvimrc", ".lvimrc", ".vimspector.json",
        "coc-settings.json", ".dir-locals.el", ".dir-locals-2.el", ".emacs", ".kakrc",
        ".editorconfig", ".ycm_extra_conf.py", ".clangd", ".ccls", "compile_commands.json",
        ".luarc.json", ".luacheckrc", ".pylintrc", "pylintrc", ".rubocop.yml", ".solargraph.yml",
        ".gdbinit", ".lldbinit", ".project", ".classpath",
        # agents
        "agents.md", "agent.md", "claude.md", "claude.local.md", "gemini.md", "qwen.md", "warp.md",
        "copilot-instructions.md", ".cursorrules", ".cursorignore", ".windsurfrules", ".clinerules",
        ".clineignore", ".roorules", ".rooignore", ".rules", ".goosehints", ".aiderignore",
        ".aider.conf.yml", ".mcp.json", "mcp.json", "opencode.json", "opencode.jsonc",
        # shells and their environments
        ".envrc", ".tool-versions", "mise.toml", ".mise.toml", "shell.nix", "flake.nix",
        ".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
        ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".inputrc", ".tmux.conf", ".xprofile",
        # builds, packages and tests
        "makefile", "gnumakefile", "justfile", ".justfile", "package.json", ".yarnrc", ".yarnrc.yml",
        ".pnpmfile.cjs", "binding.gyp", "setup.py", "conftest.py", "sitecustomize.py",
        "usercustomize.py", "build.rs", "directory.build.props", "directory.build.targets",
    }
)  # fmt: skip
_PATTERNS = (
    "*.code-workspace", "*.sublime-project", "*.sublime-build", "*.pth", ".vim*rc", "*.vimrc",
    # what the editors' own linters and formatters run as code
    ".eslintrc.*js", "eslint.config.*", ".prettierrc.*js", "prettier.config.*", ".stylelintrc.*js",
    "stylelint.config.*", ".lintstagedrc*", "lint-staged.config.*", "build.gradle*",
    "settings.gradle*",
)  # fmt: skip
_PATTERN = re.compile("|".join(map(translate, _PATTERNS)))


def is_protected(name: str) -> bool:
    """Whether `name`, relative to a root with `/` between its parts, needs a yes of its own.

    Case, Unicode form, invisible characters, a stream of Windows and dots at the end are folded: on
    some disk `.GIT` and `.git` are one folder. Letters that only look the same are folded too, for
    the user's eye.
    """
    plain = [loosest(part) for part in PurePosixPath(name).parts]
    parts = [part.translate(LOOK_ALIKES) for part in plain]
    if not parts:
        return False
    return (
        any(part in _FOLDERS for part in parts)
        or parts[-1] in _FILES
        or _PATTERN.match(parts[-1]) is not None
        # A secret's own name is refused before; what only reads like it is no secret, but a lure.
        or (parts != plain and is_secret(tuple(parts)))
    )
