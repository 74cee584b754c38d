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

from stet.workspace.names import loosest

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
_LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u0455\u0456\u0458\u043a\u04cf\u043c\u043d\u043e"
    "\u0440\u0441\u0442\u0443\u0445\u0501\u04bb\u051b\u0461"
    "\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03f2"
    "\u0131\u0261\u0251\u0585",
    "aesijklmhopctyxdhqwaikvoptuxcigao",
)
"""Cyrillic, Greek and other letters that look like a Latin one, all folded."""


def is_protected(name: str) -> bool:
    """Whether `name`, relative to a root with `/` between its parts, needs a yes of its own.

    Case, Unicode form, invisible characters, a stream of Windows and dots at the end are folded: on
    some disk `.GIT` and `.git` are one folder. Letters that only look the same are folded too, for
    the user's eye.
    """
    parts = [loosest(part).translate(_LOOK_ALIKES) for part in PurePosixPath(name).parts]
    if not parts:
        return False
    return (
        any(part in _FOLDERS for part in parts)
        or parts[-1] in _FILES
        or _PATTERN.match(parts[-1]) is not None
    )
