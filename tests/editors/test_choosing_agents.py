"""The agent that answers, and its mode, are chosen in each editor with its own picker.

Each test chooses a scripted agent that speaks the Agent Client Protocol, asks it, and then chooses
its mode, which the agent is sent.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Part
from tests.editors import emacs as real_emacs
from tests.editors.helix import HelixEditor
from tests.editors.helix import Start as HelixStart
from tests.editors.neovim import Neovim
from tests.editors.vscode_session import Starts
from tests.parts import emacs as emacs_part
from tests.parts import helix as helix_part
from tests.support.acp_scripts import AcpScript, say

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
MODES = {
    "currentModeId": "default",
    "availableModes": [{"id": "default", "name": "Ask first"}, {"id": "plan", "name": "Only plan"}],
}
SET = [{"sessionId": "session-1", "modeId": "plan"}]
HELIX_CONFIGS = {"25.01": "config-25.01.toml", "25.07": "config.toml"}


@pytest.fixture
def robot(tmp_path: Path) -> AcpScript:
    """Return an agent with two modes."""
    return AcpScript(
        tmp_path / "robot", [[say("I am the robot.")], [say("I plan.")]], session={"modes": MODES}
    )


def configure(folder: Path, robot: AcpScript) -> None:
    """Write the user's settings below a configuration folder."""
    (folder / "stet").mkdir(parents=True)
    (folder / "stet" / "config.toml").write_text(robot.user_config())


SELECT = """
vim.ui.select = function(items, options, choose)
  T.offered = { options.prompt, vim.tbl_map(options.format_item, items) }
  for n, title in ipairs(T.offered[2]) do
    if title:find(T.wish, 1, true) then return choose(items[n]) end
  end
end
"""


def test_neovim_selects_the_agent_and_its_mode(
    neovim: Callable[..., Neovim], tmp_path: Path, robot: AcpScript
) -> None:
    configure(tmp_path / "home" / "config", robot)
    editor = neovim({"a.txt": "one\n"}, [], lua=SELECT)

    def choose(title: str, message: str) -> None:
        editor.lua("T.wish = ...", title)
        editor.keys("\\kA")
        editor.wait(f"vim.fn.execute('messages'):find('{message}', 1, true)", message)

    choose("robot", "Stet: robot answers from now on.")
    prompt, titles = editor.lua("return T.offered")
    assert prompt == "Stet: who answers"
    assert titles[:2] == ["stet (Stet's own agent) (answers now)", "robot (Qwen Code)"]
    editor.keys("\\kawho<CR>")
    editor.wait("vim.fn.execute('messages'):find('I am the robot', 1, true)", "it answers")
    editor.lua(f"{SELECT}\nlocal select = vim.ui.select\n{TWO_STEPS}")
    choose("mode: Ask first", "Stet: robot, mode: Only plan")
    editor.keys("\\kago on<CR>")
    editor.wait("vim.fn.execute('messages'):find('I plan', 1, true)", "it answers again")
    assert robot.received("session/set_mode") == SET


TWO_STEPS = """
vim.ui.select = function(items, options, choose)
  select(items, options, function(item)
    T.wish = 'Only plan'
    choose(item)
  end)
end
"""


def test_emacs_completes_the_agent_and_its_mode(
    part: Part, tmp_path: Path, robot: AcpScript
) -> None:
    home, root = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    (root / ".git").mkdir(parents=True)
    (root / "a.py").write_text("a = 1\n")
    (home / "script.json").write_text("[]")
    configure(home / ".config", robot)
    begin = real_emacs.Start(
        part(emacs_part.ensure), home, root, home / "script.json", path=real_emacs.only_stet(home)
    )
    editor = real_emacs.start(begin, "a.py").served()
    try:
        editor.press("C-c x A").terminal.wait_for("Who answers", "robot (Qwen Code)", "answers now")
        editor.type("robot").press("TAB RET").reported("Stet: robot answers from now on.")
        editor.prompt("C-c x a", "who").reported("I am the robot.")
        editor.press("C-c x A").terminal.wait_for("Who answers", "mode…", "Ask first")
        editor.type("mode").press("TAB RET").terminal.wait_for("Only plan")
        editor.type("Only").press("TAB RET").reported("Stet: robot, mode: Only plan")
        editor.prompt("C-c x a", "go on").reported("I plan.")
        assert robot.received("session/set_mode") == SET
    finally:
        editor.close()


@pytest.fixture
def helix(part: Part, tmp_path: Path, robot: AcpScript) -> Callable[[str], HelixEditor]:
    """Start Helix in a version, with the agent in the user's settings."""

    def begin(series: str) -> HelixEditor:
        start = HelixStart(part(lambda: helix_part.ensure(series)), tmp_path, HELIX_CONFIGS[series])
        (start.root / ".git").mkdir(parents=True)
        (start.root / "a.py").write_text("a = 1\n")
        start.prepare("[]")
        configure(start.home / "config", robot)
        editor = start.open("a.py")
        editor.wait_until_ready()
        return editor

    return begin


def test_helix_shows_the_agents_and_the_modes_in_a_popup(
    helix: Callable[[str], HelixEditor], robot: AcpScript
) -> None:
    editor = helix("25.07")
    try:
        pick(editor, "robot (Qwen Code)", "robot answers from now on.", by=lambda: editor.key("A"))
        ask(editor, "who", "I am the robot.")
        pick(editor, "mode: Ask first", "Only plan", by=lambda: editor.key("A"))
        pick(editor, "Only plan", "robot, mode: Only plan", by=lambda: None)
        ask(editor, "go on", "I plan.")
        assert robot.received("session/set_mode") == SET
    finally:
        editor.close()


def ask(editor: HelixEditor, prompt: str, answer: str) -> None:
    """Ask about the line at the cursor, and wait for the answer."""
    editor.key("a")
    editor.terminal.wait(lambda rows: rows[-1].endswith(' "'), "a command line")
    editor.terminal.paste(f'{prompt}"')
    editor.terminal.wait(lambda rows: rows[-1].endswith(f'{prompt}"'), "it is typed")
    editor.terminal.keys("Enter")
    editor.terminal.wait_for(answer)


def pick(editor: HelixEditor, title: str, shown: str, by: Callable[[], Any]) -> None:
    """Choose a row of a popup, whose first row is chosen, and wait until a text is shown."""
    by()
    rows = editor.terminal.wait_for(title)
    border = next(n for n, row in enumerate(rows) if "└" in row)
    at = next(n for n, row in enumerate(rows) if n > border and title in row)
    editor.terminal.keys(*["Down"] * (at - border - 1), "Enter")
    editor.terminal.wait_for(shown)


def test_vs_code_picks_the_agent_and_its_mode(vscode: Starts, robot: AcpScript) -> None:
    servers = robot.settings()["agents"]["servers"]
    editor = vscode(
        {"a.txt": "one\n"}, script=json.dumps([]), settings={"stet.agents.servers": servers}
    )
    editor.stet("Shift+a")
    editor.see('.quick-input-list .monaco-list-row:has-text("own agent"):has-text("answers now")')
    editor.pick("robot (Qwen Code)")
    editor.wait_for_toast("robot answers from now on.")
    editor.stet("a")
    editor.fill("who")
    editor.wait_for_toast("I am the robot.")
    editor.stet("Shift+a")
    editor.see('.quick-input-list .monaco-list-row:has-text("mode…"):has-text("Ask first")')
    editor.shot("agents")
    editor.pick("Ask first")
    editor.pick("Only plan")
    editor.wait_for_toast("robot, mode: Only plan")
    editor.stet("a")
    editor.fill("go on")
    editor.wait_for_toast("I plan.")
    assert robot.received("session/set_mode") == SET


def test_helix_without_popups_chooses_in_the_menu_of_the_chat(
    helix: Callable[[str], HelixEditor],
) -> None:
    editor = helix("25.01")
    try:
        editor.key("t")
        editor.terminal.wait_for("Write below the last")
        editor.choose("Let robot answer")
        editor.terminal.wait_for("Stet: robot answers from now on.")
        editor.terminal.keys(*"ge")
        editor.insert("o", "who")
        editor.key("s")
        editor.terminal.wait_for("I am the robot.")
    finally:
        editor.close()
