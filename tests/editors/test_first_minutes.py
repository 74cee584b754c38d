"""A new user's first minutes in each editor: install, configure, ask and save by the README."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stet.cli.neovim_config import plugin_files
from tests.conftest import Part
from tests.editors import emacs as emacs_driver
from tests.editors import neovim as neovim_driver
from tests.editors.conftest import ensure_neovim
from tests.editors.emacs import Emacs
from tests.editors.first_minutes import (
    PAGES,
    Stranger,
    beside_python,
    command,
    config_command,
    key,
    spans,
)
from tests.editors.helix import SIZE, HelixEditor
from tests.editors.neovim import Neovim
from tests.editors.scripts import GREET, GREET_FILE, greet_script
from tests.editors.terminal import Terminal
from tests.editors.vscode import VSCode
from tests.editors.vscode_install import Installed, Start
from tests.editors.vscode_screen import Screen
from tests.parts import code_server, emacs, helix, npm, vscode_extension

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
HELLO, BYE = GREET_FILE.before[4], GREET_FILE.before[10]
FIRST = "\n".join(GREET_FILE.first) + "\n"
NO_MODEL = ("No model is available.", "`stet model install`", "OPENAI_API_KEY")
"""Texts shown to a user who asks without a model."""


@pytest.fixture
def stranger(tmp_path: Path, stet: Path) -> Stranger:
    """Make a user with a project, and nothing else yet."""
    met = Stranger(tmp_path, stet)
    met.begin({"a.py": GREET})
    (tmp_path / "script.json").write_text(json.dumps(greet_script()))
    return met


def saved(stranger: Stranger) -> bool:
    """Tell whether the one accepted hunk, and no other, is in the file on the disk."""
    try:
        return (stranger.root / "a.py").read_bytes() == FIRST.encode()
    except FileNotFoundError:  # Helix moves the old file away before it writes the new one
        return False


def own_folder(stranger: Stranger, script: Path | None) -> Path:
    """Make the folder for the sockets of one start: those of an earlier start may still exist."""
    folder = stranger.base / ("without" if script is None else "with")
    folder.mkdir(mode=0o700)
    return folder


def test_an_installation_has_all_that_stet_config_gives(stranger: Stranger) -> None:
    there = stranger.stet.parent
    (shipped,) = there.glob("lib/python*/site-packages/stet/cli/clients")
    files = {path.relative_to(shipped) for path in shipped.rglob("*") if path.is_file()}
    others = (
        *(f"emacs/{path.name}" for path in emacs_driver.CONFIG.glob("*.el")),
        *("helix/config.toml", "helix/config-25.01.toml"),
        *(f"neovim/{path}" for path in plugin_files(PAGES / "neovim")),
    )
    extension = {path.relative_to(PAGES) for path in vscode_extension.sources()}
    assert files == (extension | set(map(Path, others))) - {Path("vscode/.gitignore")}
    assert [
        one for one in files if (shipped / one).read_bytes() != (PAGES / one).read_bytes()
    ] == []


def test_neovim(stranger: Stranger, part: Part) -> None:
    program = stranger.has("nvim", [part(ensure_neovim)])
    message = stranger.runs(config_command("Neovim"))
    n_files = len(plugin_files(PAGES / "neovim")) + 1
    wrote, then, keys = message.splitlines()
    assert wrote == f"wrote {n_files} files to ~/data/nvim/site"
    assert key("neovim", "ask,") in then
    assert ":help stet" in keys
    ask, accept = (key("neovim", does).replace("<leader>", "\\") for does in ("ask,", "accept the"))
    with running_neovim(stranger, program, None) as editor:
        editor.open("a.py").keys(f"{ask}use f-strings<CR>")
        for words in NO_MODEL:
            reported = f"vim.fn.execute('messages'):find([[{words}]], 1, true)"
            editor.wait(reported, f"{words!r} is told")
    with running_neovim(stranger, program, stranger.base / "script.json") as editor:
        editor.open("a.py").keys(f"{ask}use f-strings<CR>")
        editor.wait_for_hunks(4, 10)
        assert editor.lines() == GREET_FILE.before
        editor.keys(f"5G{accept}")
        editor.wait_for_lines(GREET_FILE.first)
        editor.keys(":write<CR>")
        editor.wait("not vim.bo.modified", "it is saved")
    assert saved(stranger)


@contextmanager
def running_neovim(stranger: Stranger, program: Path, script: Path | None) -> Iterator[Neovim]:
    """Run Neovim with the configuration of the home and the helpers of the tests."""
    helpers, socket = stranger.base / "helpers.lua", stranger.base / "nvim.sock"
    helpers.write_text(neovim_driver.HELPERS)
    ready = "lua io.stdout:write('ready\\n') io.stdout:flush()"
    process = subprocess.Popen(
        [program, "--headless", "--listen", socket, "--cmd", f"luafile {helpers}", "-c", ready],
        cwd=stranger.root,
        env=stranger.environment(script) | {"TERM": "xterm-256color"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    editor = Neovim(process, socket, stranger.root, stranger.base / "hold")
    try:
        yield editor
    finally:
        editor.close()


def test_emacs(stranger: Stranger, part: Part) -> None:
    program = part(emacs.ensure)
    site = stranger.base / "site"
    site.mkdir()
    (site / "site-start.el").write_text(emacs_driver.EARLY)
    paths = {"EMACSLOADPATH": f"{site}:{program.environment['EMACSLOADPATH']}"}
    stranger.has("emacs", program.command, {**program.environment, **paths})
    message = stranger.runs(config_command("Emacs"))
    wrote, _, lines = message.partition(
        "Put these lines into ~/config/emacs/init.el and restart Emacs. C-c x a then asks:\n"
    )
    parts = (
        "stet-server",
        "stet-overlays",
        "stet-review",
        "stet-hunk",
        "stet-chat",
        "stet-menu",
        "stet",
    )
    assert wrote.splitlines() == [f"wrote ~/config/emacs/{name}.el" for name in parts]
    init = stranger.home / "config" / "emacs" / "init.el"
    init.write_text(emacs_driver.readme_lines())
    assert [line.strip() for line in lines.splitlines()] == init.read_text().splitlines()
    prefix = spans(PAGES / "emacs" / "README.md", "After the prefix,")[0]
    ask, accept = (f"{prefix} {key('emacs', does)}" for does in ("ask,", "accept the"))
    with running_emacs(stranger, None) as editor:
        editor.served().prompt(ask, "use f-strings")
        for words in NO_MODEL:
            editor.reported(words)
    with running_emacs(stranger, stranger.base / "script.json") as editor:
        editor.served().prompt(ask, "use f-strings").wait_for_hunks(4, 10)
        assert editor.text() == GREET
        editor.line(5).press(accept).wait_for_text(FIRST)
        editor.press("C-x C-s").wait("(not (buffer-modified-p))", "it is saved")
    assert saved(stranger)


@contextmanager
def running_emacs(stranger: Stranger, script: Path | None) -> Iterator[Emacs]:
    """Run Emacs with the configuration of the home and the helpers of the tests."""
    asked, helpers = own_folder(stranger, script), stranger.base / "helpers.el"
    helpers.write_text(emacs_driver.HELPERS)
    environment = stranger.environment(script) | {"TEST_FOLDER": str(asked)}
    line = (stranger.programs / "emacs", "--load", helpers, "a.py")
    terminal = Terminal(line, environment, stranger.root)
    try:
        terminal.wait(lambda _: (asked / "ready").exists(), "Emacs has read its files")
        yield Emacs(terminal, asked / "asked", stranger.root)
    finally:
        terminal.close()


@pytest.mark.parametrize("series", helix.SUITES)
def test_helix(series: str, stranger: Stranger, part: Part) -> None:
    program = part(lambda: helix.ensure(series))
    stranger.has("hx", program.command, program.environment)
    message = stranger.runs(config_command("Helix"))
    assert message.startswith(
        "wrote ~/config/helix/languages.toml\nwrote ~/config/helix/config.toml\n"
        "Start hx in the project's root and open a file. "
    )
    assert ("is too old" in message) == (series == "25.01")
    health = command(PAGES / "helix" / "README.md", "3. ", "hx --health")
    assert "✓ stet" in stranger.runs(health)
    by = {"25.01": asks_in_the_chat, "25.07": asks_by_key}[series]
    with running_helix(stranger, None) as editor:
        by(editor)
        editor.terminal.wait_for(f"Stet: {NO_MODEL[0]}")
        if series == "25.07":
            editor.key("t")
        for words in NO_MODEL:
            editor.terminal.wait_for(words)
    with running_helix(stranger, stranger.base / "script.json") as editor:
        by(editor)
        if series == "25.01":
            editor.command("buffer-close!")
        editor.wait_for_marks(HELLO, BYE)
        editor.go(5)
        editor.key(key("helix", "accept the")[1:])
        if series == "25.01":
            editor.terminal.wait_for("Stet: Accept hunk")
            editor.terminal.keys("Enter")
        editor.wait_for_line(GREET_FILE.first[4])
        editor.command("write")
        editor.terminal.wait(lambda _: saved(stranger), "it is saved")


@pytest.mark.parametrize("series", helix.SUITES)
def test_missing_stet_is_reported_where_the_helix_page_leads(
    series: str, stranger: Stranger, part: Part
) -> None:
    program = part(lambda: helix.ensure(series))
    stranger.has("hx", program.command, program.environment)
    stranger.runs(config_command("Helix"))
    page = PAGES / "helix" / "README.md"
    health = command(page, "3. ", "hx --health")
    unlucky = Stranger(stranger.base, stranger.base / "nowhere")
    message = next(span for span in spans(page, "- **Right after the start**") if "✘" in span)
    assert message in unlucky.runs(health)
    with running_helix(unlucky, None, ready=False) as editor:
        editor.key(key("helix", "open the chat")[1:])
        editor.terminal.wait_for("is not supported for any language server")


@contextmanager
def running_helix(
    stranger: Stranger, script: Path | None, *, ready: bool = True
) -> Iterator[HelixEditor]:
    """Run Helix with the configuration of the home."""
    line = (stranger.programs / "hx", "a.py")
    environment = stranger.environment(script)
    terminal = Terminal(line, environment, stranger.root, SIZE)
    try:
        editor = HelixEditor(terminal)
        if ready:
            editor.wait_until_ready()
        yield editor
    finally:
        terminal.close()


def asks_by_key(editor: HelixEditor) -> None:
    editor.key(key("helix", "ask or instruct")[1:])
    editor.terminal.wait(lambda shown: shown[-1].endswith(' "'), "a command line")
    editor.terminal.paste('use f-strings"')
    editor.terminal.wait(lambda shown: shown[-1].endswith('f-strings"'), "it is typed")
    editor.terminal.keys("Enter")


def asks_in_the_chat(editor: HelixEditor) -> None:
    editor.key(key("helix", "open the chat")[1:])
    editor.wait_for_line("# Stet: main")
    editor.terminal.keys("g", "e")
    editor.insert("A", "use f-strings")
    editor.key(key("helix", "send what")[1:])


def test_vs_code(stranger: Stranger, part: Part, screen: Screen) -> None:
    node, entry = part(npm.node), part(code_server.ensure)
    stranger.has("node", [node])
    stranger.has("code-server", [node, entry])
    # The output of `npm ci` was made before from the same lock file; the rest is npm's own.
    fetched = f'[ "$1" = ci ] && exec ln -s {part(vscode_extension.tools)} .\n'
    stranger.has("npm", [beside_python("npm")], first=fetched)
    message = stranger.runs(config_command("VS Code"))
    installed, then = message.splitlines()
    assert installed == "installed the extension into code-server"
    assert then == "Reload its windows and open a file. Alt+A, then a, asks."
    page = PAGES / "vscode" / "README.md"
    (prefix, *_) = spans(page, "All commands are in the palette")
    ask, accept = (key("vscode", does) for does in ("ask or instruct", "accept, reject the"))
    there = Installed(node, entry, stranger.home / "data" / "code-server" / "extensions")
    with running_vscode(screen, stranger, there) as editor:
        editor.keys(prefix.replace("+A", "+a"), ask)
        editor.fill("use f-strings")
        editor.wait_for_status("Stet: 2 hunks")
        editor.wait_for_text(GREET)
        editor.click_line(HELLO)
        editor.keys(prefix.replace("+A", "+a"), accept)
        editor.wait_for_text(FIRST)
        editor.save_all()
    assert saved(stranger)


@contextmanager
def running_vscode(screen: Screen, stranger: Stranger, there: Installed) -> Iterator[VSCode]:
    """Run VS Code with the extension installed in the home."""
    script = (stranger.base / "script.json").read_text()
    start = Start(there, stranger.base, stranger.root, script, path=stranger.path)
    editor = VSCode(screen, start)
    try:
        yield editor.open("a.py")
    finally:
        editor.close()
