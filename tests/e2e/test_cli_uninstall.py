"""`stet uninstall`: what it lists, what it removes and what it leaves, from a home that Stet has
used.
"""

from pathlib import Path

import pytest

from stet.cli.config_command import BEGIN, END
from tests.support.shell import Screen, Shell

BASHRC = "alias ll='ls -l'\n"
HELIX = '[[language]]\nname = "markdown"\n'


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Make a shell whose home has everything that Stet writes, and files of the user."""
    shell = Shell.at(tmp_path)
    shell.env["PATH"] = ""  # an editor that is found would write a log of its own
    home, config = tmp_path / "home", tmp_path / "CONFIG"
    (config / "stet").mkdir(parents=True)
    (config / "stet" / "config.toml").write_text("[agent]\nmaxIterations = 7\n")
    (config / "helix").mkdir()
    (config / "helix" / "languages.toml").write_text(f"{HELIX}\n{BEGIN}\nx = 1\n{END}\n")
    home.mkdir()
    (home / ".bashrc").write_text(BASHRC)
    env = {"SHELL": "/bin/bash", "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    assert shell.run("--install-completion", "bash", env=env).returncode == 0
    assert shell.run("config", "neovim", "--write").returncode == 0
    (tmp_path / "CACHE" / "stet").mkdir(parents=True)
    (tmp_path / "CACHE" / "stet" / "index.db").write_bytes(b"x" * 2_000_000)
    shell.write("mine.py", "x = 1\n")
    return shell


def files(base: Path) -> dict[str, str]:
    """Return the text of each file below a folder, by its path."""
    return {
        str(path.relative_to(base)): path.read_text(errors="replace")
        for path in sorted(base.rglob("*"))
        if path.is_file()
    }


def test_uninstall_removes_what_stet_wrote_and_leaves_what_is_the_users(
    shell: Shell, tmp_path: Path
) -> None:
    changed = tmp_path / "DATA/nvim/site/plugin/stet.lua"
    changed.write_text("-- mine\n")
    done = shell.run("uninstall", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert {name: text.strip() for name, text in files(tmp_path).items()} == {
        "CONFIG/helix/languages.toml": HELIX.strip(),
        "CONFIG/stet/config.toml": "[agent]\nmaxIterations = 7",
        "DATA/nvim/site/plugin/stet.lua": "-- mine",
        "home/.bashrc": BASHRC.strip(),
        "work/mine.py": "x = 1",
    }
    removed, stays = done.stdout.split("Stays:\n")
    assert f"{tmp_path / 'CACHE/stet'}  (search indexes, 2.0 MB)" in removed
    assert f"{changed}  (editor configuration: changed by you)" in stays
    assert f"{tmp_path / 'CONFIG/stet/config.toml'}  (settings: kept)" in stays
    assert "pip uninstall stet-lsp" in stays
    assert "Nothing to remove." in shell.run("uninstall", "--yes").stdout


def test_uninstall_without_a_terminal_needs_yes(shell: Shell, tmp_path: Path) -> None:
    before = files(tmp_path)
    done = shell.run("uninstall", typed="y\n")
    assert (done.returncode, done.stderr) == (
        2,
        "stet: nothing was removed: use --yes to remove without asking\n",
    )
    assert files(tmp_path) == before


def test_uninstall_asks_on_a_terminal(shell: Shell, tmp_path: Path) -> None:
    before = files(tmp_path)
    for typed, code in (("n", 1), ("y", 0)):
        screen = Screen(shell, ["uninstall"])
        screen.wait_for("items? [y/N] ")
        assert files(tmp_path) == before
        screen.type(f"{typed}\n")
        assert screen.ended() == code
    assert "home/.bash_completions/stet.sh" not in files(tmp_path)


def test_uninstall_removes_the_folder_of_sockets(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "RUNTIME" / "stet"
    folder.mkdir(parents=True)
    (folder / "model-1.lock").write_text("{}")
    done = shell.run("uninstall", "--yes", env={"XDG_RUNTIME_DIR": str(folder.parent)})
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{folder}  (sockets, and copies for other agents, 0.0 MB)" in done.stdout
    assert not folder.exists()
