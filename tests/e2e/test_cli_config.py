"""`stet config`: each editor's configuration, printed or written where the editor reads it."""

import json
import sys
from pathlib import Path

import pytest

from stet.cli.config_command import find_programs
from tests.support.shell import Shell

CONFIGS = Path(__file__).parents[2] / "client-configs"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell.at(tmp_path)


@pytest.fixture
def tools(shell: Shell) -> Path:
    """Make the only folder on the PATH besides the system's."""
    folder = shell.folder.parent / "bin"
    folder.mkdir()
    shell.env["PATH"] = f"{folder}:/usr/bin:/bin"
    return folder


def program(tools: Path, name: str, body: str) -> None:
    (tools / name).write_text(f"#!/bin/sh\n{body}\n")
    (tools / name).chmod(0o755)


def test_an_editor_that_is_too_old_is_reported(shell: Shell, tools: Path) -> None:
    program(tools, "nvim", "echo NVIM v0.9.5")
    done = shell.run("config", "neovim", "--write")
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1].startswith("Neovim: 0.9.5 is too old. Install 0.11")


@pytest.mark.parametrize(("old", "folder"), [(False, "CONFIG/emacs"), (True, "home/.emacs.d")])
def test_the_configuration_of_emacs_goes_into_the_folder_it_has(
    shell: Shell, tools: Path, old: bool, folder: str
) -> None:
    program(tools, "emacs", "echo GNU Emacs 30.1")
    target = shell.folder.parent / folder
    if old:
        target.mkdir(parents=True)
    done = shell.run("config", "emacs", "--write")
    assert done.returncode == 0, done.stderr
    shipped = sorted((CONFIGS / "emacs").glob("*.el"))
    parts = (
        "stet-chat",
        "stet-hunk",
        "stet-menu",
        "stet-overlays",
        "stet-review",
        "stet-server",
        "stet",
    )
    assert [path.stem for path in shipped] == list(parts)
    assert {path.name: path.read_bytes() for path in target.iterdir()} == {
        path.name: path.read_bytes() for path in shipped
    }
    assert (
        f"Put these lines into {target / 'init.el'} and restart Emacs. C-c x a then asks:"
        in done.stderr
    )
    readme = (CONFIGS / "emacs/README.md").read_text()
    _, message, then = done.stderr.partition("C-c x a then asks:\n")
    assert message
    place = Path(sys.executable).parent
    assert then.splitlines()[:2] == [
        f'  (add-to-list \'exec-path "{place}")',
        f'  (setenv "PATH" (concat "{place}" ":" (getenv "PATH")))',
    ]
    assert all(line.strip() in readme for line in then.splitlines()[2:5])


def test_helix_keeps_its_users_languages_and_keys(shell: Shell, tools: Path) -> None:
    languages = """
[[language]]
name = "python"
scope = "source.python"
file-types = ["py"]
language-servers = ["ruff"]
"""
    # As in Helix itself, the program contains the configuration of its languages.
    program(tools, "hx", f"echo helix 25.01.1\nexit\n: <<'END'\n{languages}{' ' * 1_000_000}\nEND")
    folder = shell.folder.parent / "CONFIG" / "helix"
    folder.mkdir(parents=True)
    own = "# mine\n[[language]]\nname = 'go'\n"
    (folder / "languages.toml").write_text(own)
    done = shell.run("config", "helix", "--write")
    assert done.returncode == 0, done.stderr
    written = (folder / "languages.toml").read_text()
    assert written.startswith(own)
    assert '"ruff", "stet"' in written
    assert f'command = "{Path(sys.executable).with_name("stet")}"\n' in written
    keys = (CONFIGS / "helix/config-25.01.toml").read_text()
    assert (folder / "config.toml").read_text() == keys
    (folder / "config.toml").write_text("theme = 'x'\n")
    again = shell.run("config", "helix", "--write")
    assert "config.toml already exists" in again.stderr
    assert (folder / "languages.toml").read_text() == written
    assert (folder / "config.toml").read_text() == "theme = 'x'\n"


def test_without_helix_its_languages_are_not_guessed(shell: Shell, tools: Path) -> None:
    done = shell.run("config", "helix", "--write")
    assert (done.returncode, "Helix is not on the PATH" in done.stderr) == (1, True)


def test_what_to_type_for_vs_code_is_printed(shell: Shell, tools: Path) -> None:
    done = shell.run("config", "vscode")
    assert done.stdout.splitlines() == [
        f"cd {CONFIGS / 'vscode'}",
        "npm ci --ignore-scripts && npm run package",
        "code --install-extension stet.vsix",
    ]


def test_the_extension_for_vs_code_is_built_elsewhere_and_installed(
    shell: Shell, tools: Path
) -> None:
    log = shell.folder.parent / "log"
    program(tools, "npm", f'echo "npm $*" >> {log}; [ "$1" = run ] && touch stet.vsix; exit 0')
    program(tools, "codium", f'[ -f "$2" ] && echo "codium $1" >> {log}')
    program(tools, "code-server", f'[ -f "$2" ] && echo "code-server $1" >> {log}')
    (tools / "vscodium").symlink_to(tools / "codium")
    done = shell.run("config", "vscode", "--write")
    assert done.returncode == 0, done.stderr
    assert log.read_text().splitlines() == [
        "npm ci --ignore-scripts --no-audit --no-fund",
        "npm run package",
        "codium --install-extension",
        "code-server --install-extension",
    ]
    *_, installed, then = done.stderr.splitlines()
    assert installed == "installed the extension into codium and code-server"
    assert then.startswith("Reload its windows and open a file.")
    assert not (CONFIGS / "vscode" / "stet.vsix").exists()


def test_extension_starts_this_stet_if_a_login_shell_finds_none(shell: Shell, tools: Path) -> None:
    built = shell.folder.parent / "package.json"
    program(tools, "npm", f'[ "$1" = run ] && cp package.json {built} && touch stet.vsix; exit 0')
    program(tools, "cursor", "exit 0")
    assert shell.run("config", "vscode", "--write").returncode == 0
    own = Path(sys.executable).with_name("stet")
    assert f'"default": "{own}"' in built.read_text()
    shipped = (CONFIGS / "vscode" / "package.json").read_text()
    assert json.loads(built.read_text().replace(str(own), "")) == json.loads(shipped)


def test_find_programs_finds_applications_of_macos(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = tmp_path / "Cursor.app/Contents/Resources/app/bin"
    folder.mkdir(parents=True)
    for name in ("code", "cursor", "cursor-tunnel"):
        program(folder, name, "exit 0")
    program(tmp_path, "codium", "exit 0")
    expected = [tmp_path / "codium", folder / "cursor"]
    assert find_programs([tmp_path, tmp_path / "absent"]) == expected


def test_a_missing_or_failing_tool_is_named(shell: Shell, tools: Path) -> None:
    shell.env["PATH"] = str(tools)
    assert "npm is not on the PATH" in shell.run("config", "vscode", "--write").stderr
    program(tools, "npm", "echo it broke >&2; exit 3")
    assert "none of code, codium" in shell.run("config", "vscode", "--write").stderr
    program(tools, "code", "exit 0")
    done = shell.run("config", "vscode", "--write")
    assert (done.returncode, "failed: it broke" in done.stderr) == (1, True)
