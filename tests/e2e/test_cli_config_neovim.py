"""`stet config neovim`: the plugin is installed, upgraded and migrated, and nothing is lost."""

import hashlib
import json
import sys
from pathlib import Path

import pytest

from stet.cli.neovim_config import plugin_files
from tests.support.shell import Shell

SHIPPED = Path(__file__).parents[2] / "client-configs" / "neovim"
FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell.at(tmp_path)


@pytest.fixture
def site(shell: Shell) -> Path:
    return Path(shell.env["XDG_DATA_HOME"]) / "nvim" / "site"


@pytest.fixture
def config(shell: Shell) -> Path:
    """Make the user's configuration folder of Neovim, with an empty `plugin/`."""
    folder = Path(shell.env["XDG_CONFIG_HOME"]) / "nvim"
    (folder / "plugin").mkdir(parents=True)
    return folder


def files_in(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_config_neovim_prints_lines_that_load_the_plugin(shell: Shell) -> None:
    done = shell.run("config", "neovim")
    assert done.returncode == 0
    assert f"vim.opt.runtimepath:append([[{SHIPPED}]])" in done.stdout.splitlines()


def test_config_neovim_installs_the_plugin_with_its_help_tags(shell: Shell, site: Path) -> None:
    done = shell.run("config", "neovim", "--write")
    assert done.returncode == 0, done.stderr
    installed = files_in(site)
    tags = installed.pop("doc/tags").splitlines()
    shipped = {str(path): text for path, text in plugin_files(SHIPPED).items()}
    program = installed.pop("lua/stet/program.lua")
    assert shipped.pop("lua/stet/program.lua").endswith("return 'stet'\n")
    assert installed == shipped
    assert program.splitlines()[-1] == f'return "{Path(sys.executable).with_name("stet")}"'
    assert "stet.txt\tstet.txt\t/*stet.txt*" in tags
    assert tags == sorted(tags)
    assert done.stderr.splitlines()[0] == f"wrote {len(shipped) + 2} files to {site}"


def test_config_neovim_writes_the_name_if_a_login_shell_finds_it(shell: Shell, site: Path) -> None:
    folder = Path(sys.executable).parent
    home = Path(shell.env["HOME"])
    home.mkdir()
    (home / ".profile").write_text(f"PATH='{folder}':$PATH\n")
    done = shell.run("config", "neovim", "--write", env={"SHELL": "/bin/sh"})
    assert done.returncode == 0, done.stderr
    shipped = (SHIPPED / "lua/stet/program.lua").read_text()
    assert (site / "lua/stet/program.lua").read_text() == shipped


def test_config_neovim_keeps_the_help_tags_of_others(shell: Shell, site: Path) -> None:
    (site / "doc").mkdir(parents=True)
    (site / "doc" / "tags").write_text("zebra\tother.txt\t/*zebra*\nold\tstet.txt\t/*old*\n")
    shell.run("config", "neovim", "--write")
    tags = (site / "doc" / "tags").read_text().splitlines()
    assert tags[-1] == "zebra\tother.txt\t/*zebra*"
    assert not any(line.startswith("old\t") for line in tags)


def test_config_neovim_replaces_files_of_an_earlier_version(shell: Shell, site: Path) -> None:
    assert shell.run("config", "neovim", "--write").returncode == 0
    expected = files_in(site)
    again = shell.run("config", "neovim", "--write")
    assert (again.returncode, again.stderr.splitlines()[0]) == (0, "Everything is up to date.")
    older = site / "lua/stet/review.lua"
    record = Path(shell.env["XDG_STATE_HOME"]) / "stet" / "installed.json"
    # As if an earlier version had written other texts: the record has the hash of each.
    older.write_text("-- older\n")
    obsolete = site / "lua/stet/obsolete.lua"
    obsolete.write_text("-- older\n")
    older_hash = hashlib.sha256(older.read_bytes()).hexdigest()
    hashes = json.loads(record.read_text())
    record.write_text(json.dumps(hashes | {str(older): older_hash, str(obsolete): older_hash}))
    done = shell.run("config", "neovim", "--write")
    assert done.returncode == 0, done.stderr
    assert files_in(site) == expected


def test_config_neovim_leaves_an_edited_file_alone_without_force(shell: Shell, site: Path) -> None:
    shell.run("config", "neovim", "--write")
    edited = site / "lua/stet/keys.lua"
    shipped = edited.read_text()
    edited.write_text("-- mine\n")
    done = shell.run("config", "neovim", "--write")
    assert (done.returncode, edited.read_text()) == (1, "-- mine\n")
    assert f"you have changed {edited}: `--force` replaces it and keeps a backup" in done.stderr
    forced = shell.run("config", "neovim", "--write", "--force")
    backup = edited.with_name("keys.lua.bak")
    assert (forced.returncode, backup.read_text()) == (0, "-- mine\n")
    assert edited.read_text() == shipped
    assert f"your keys.lua is now {backup}" in forced.stderr
    edited.write_text("-- mine again\n")
    shell.run("config", "neovim", "--write", "--force")
    assert backup.read_text() == "-- mine\n"
    assert edited.with_name("keys.lua.bak2").read_text() == "-- mine again\n"


def old_file(name: str) -> str:
    return (FIXTURES / f"{name}.lua").read_text()


def test_single_file_is_moved_out_of_the_plugin_folder(shell: Shell, config: Path) -> None:
    old = config / "plugin" / "stet.lua"
    old.write_text(old_file("stet-single-file"))
    done = shell.run("config", "neovim", "--write")
    assert done.returncode == 0, done.stderr
    assert not old.exists()
    assert (config / "stet.lua.bak").read_text() == old_file("stet-single-file")
    lines = done.stderr.splitlines()
    assert lines[lines.index("vim.g.stet = {") :][:3] == [
        "vim.g.stet = {",
        "  keys = 'classic',",
        "}",
    ]
    assert "Other changes" not in done.stderr
    assert "vim.g.stet" not in shell.run("config", "neovim", "--write").stderr


def test_single_file_gives_its_edited_keys_and_settings(shell: Shell, config: Path) -> None:
    settings = "{ stet = {\n    model = { name = 'a } b', key = \"{\" }, -- }\n  } }"
    text = (
        old_file("stet-single-file")
        .replace("'<leader>a'", "'<leader>z'")
        .replace("  { 'n', '<leader>x'", "  -- { 'n', '<leader>x'")
        .replace("settings = { stet = {} }", f"settings = {settings}")
        .replace("cmd = { 'stet', 'serve' }", "cmd = { '/opt/stet', 'serve' }")
    )
    (config / "plugin" / "stet.lua").write_text(text)
    done = shell.run("config", "neovim", "--write")
    printed = done.stderr[done.stderr.index("vim.g.stet = {") :]
    assert "    ask = '<leader>z',\n" in printed
    assert "    accept = '<leader>y',\n" in printed
    assert "    cancel = false,\n" in printed
    assert f"  settings = {settings},\n" in printed
    assert "  cmd = { '/opt/stet', 'serve' },\n" in printed
    assert (config / "stet.lua.bak").read_text() == text
    assert "Your other changes to the file" in done.stderr


def test_single_file_that_is_a_link_leaves_its_target_in_place(shell: Shell, config: Path) -> None:
    target = shell.write("dotfile.lua", old_file("stet-single-file"))
    old = config / "plugin" / "stet.lua"
    old.symlink_to(target)
    (config / "stet.lua.bak").write_text("earlier\n")
    assert shell.run("config", "neovim", "--write").returncode == 0
    assert not old.is_symlink()
    assert target.read_text() == old_file("stet-single-file")
    assert (config / "stet.lua.bak").read_text() == "earlier\n"
    assert (config / "stet.lua.bak2").read_text() == old_file("stet-single-file")


def test_file_of_the_user_with_that_name_is_left_alone(shell: Shell, config: Path) -> None:
    own = config / "plugin" / "stet.lua"
    own.write_text("vim.g.stet = {}\n")
    assert shell.run("config", "neovim", "--write").returncode == 0
    assert own.read_text() == "vim.g.stet = {}\n"
