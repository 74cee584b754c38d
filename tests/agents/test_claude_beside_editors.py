"""Plain `claude` in a terminal, and an editor with unsaved text in another one.

The scenario is the same in each editor, with the editor's own keys: of three hunks, one is accepted,
one is rejected with a reason, and one is accepted and changed by hand. Claude then says that all of
this was sent to its model.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agents.claude_beside import (
    END,
    PROMPT,
    SAVED,
    TYPED,
    answers,
    claude_beside,
    model_of,
    prompt,
    scene_beside,
)
from tests.agents.review_scenario import install, runtime
from tests.agents.scene import Scene
from tests.agents.test_claude_ide import write_settings
from tests.conftest import Part
from tests.editors import emacs as real_emacs
from tests.editors.conftest import ensure_neovim
from tests.editors.helix import HelixEditor, Start
from tests.editors.helix_screen import prepare
from tests.editors.neovim_screen import NeovimScreen
from tests.editors.terminal import Terminal
from tests.editors.vscode_session import Starts
from tests.parts import emacs as emacs_part
from tests.parts import helix as helix_part
from tests.parts.claude_code import claude_code
from tests.support.agent_models.script import Script, call, say

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
SIZE = (100, 30)
UPPER = "    return name.strip().upper()\n"
WIDTH, LABEL, NAME = 3, 6, 7
"""The lines of the hunks below the typed line, 1-based. The new line is between the last two."""
DOCSTRING = '    """Return the name as a title."""'
REASON = "titles stay"
CHOICES = (f"h2: {DOCSTRING.strip()} (claude: edit house.py)", f"h3: {UPPER.strip()} (claude: edit")
"""What Emacs asks, as the last two hunks are at one line."""
REJECT = 'lsp-workspace-command stet.reject {{"file":"house.py","line":{},"reason":"{}"}}'
BUFFER = f"""\
{TYPED}
def area(width, height):
    return width * height


def label(name):
{DOCSTRING}  # room
    return name.strip().title()
"""
"""The text of the buffer after the decisions, unsaved."""


def check_review(scene: Scene, decide: Callable[[], None]) -> None:
    """Let Claude edit a file that an editor has open, and check what Claude's model is sent.

    Args:
        scene: The folders; the editor has `house.py` open, with `TYPED` as its first line, unsaved.
        decide: Waits for the three hunks, decides them in the editor, and waits for `BUFFER`.
    """
    write_settings(scene)
    install(scene, "claude")
    path = scene.workspace / "house.py"
    old = "    return name.strip().title()\n"
    more = call("Edit", file_path=str(path), old_string=old, new_string=UPPER)
    *edits, last = answers(path)
    script = Script([*edits, more, last, say("All three are seen.")])
    with model_of(script) as url, claude_beside(scene, url, SIZE) as claude:
        prompt(claude, PROMPT, END)
        assert TYPED in script.requests[1].results[0]
        decide()
        assert path.read_text() == SAVED
        prompt(claude, "And now?", "All three are seen.")
    news = "\n".join(script.requests[-1].texts)
    assert REASON in news
    assert f"+ {DOCSTRING}  # room" in news
    assert path.read_text() == SAVED


def test_claude_is_reviewed_in_helix(part: Part, tmp_path: Path) -> None:
    part(claude_code)
    begin = Start(part(lambda: helix_part.ensure("25.07")), tmp_path / "helix", "config.toml")
    begin.home.mkdir()
    prepare(begin, {"house.py": SAVED}, "[]")
    scene = scene_beside(tmp_path, begin.root)
    environment = {**begin.environment(), **runtime(scene)}
    terminal = Terminal([*begin.helix.command, "house.py"], environment, begin.root, SIZE)
    editor = HelixEditor(terminal)

    def decide() -> None:
        editor.wait_for_marks("    return width", "def label", "    return name")
        editor.go(WIDTH)
        editor.key("y")
        editor.wait_for_line("    return width * height")
        editor.command(REJECT.format(NAME, REASON))
        editor.wait_for_marks("def label")
        editor.go(LABEL)
        editor.key("y")
        editor.wait_for_line(DOCSTRING)
        editor.go(NAME)
        editor.insert("A", "  # room")
        lines = {number: line for number, line in enumerate(BUFFER.splitlines(), 1) if line}
        terminal.wait(lambda _: editor.lines() == lines, "the text")

    try:
        editor.wait_until_ready()
        editor.insert("O", TYPED)
        check_review(scene, decide)
    finally:
        editor.close()


@pytest.mark.long
def test_claude_is_reviewed_in_neovim(part: Part, tmp_path: Path) -> None:
    part(claude_code)
    (tmp_path / "neovim").mkdir()
    variables = {"XDG_RUNTIME_DIR": str(tmp_path / "notes")}
    (tmp_path / "notes").mkdir()
    editor = NeovimScreen(
        part(ensure_neovim), tmp_path / "neovim", {"house.py": SAVED}, [],
        size=SIZE, variables=variables,
    )  # fmt: skip

    def decide() -> None:
        editor.wait("#T.hunks() == 3", "three hunks")
        editor.terminal.keys(*f"{WIDTH}G\\ky")
        editor.wait("#T.hunks() == 2", "the first is accepted")
        editor.terminal.keys(*f"{NAME}G\\ky")
        editor.wait("#T.hunks() == 1", "the new line is accepted")
        editor.terminal.keys(*f"{NAME + 1}G")
        editor.prompt("\\kn", REASON)
        editor.wait("#T.hunks() == 0", "the last is rejected")
        editor.terminal.type(f"{NAME}GA  # room")
        editor.terminal.keys("Escape")
        text = "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') .. '\\n'"
        editor.wait(f"{text} == vim.json.decode({_lua(BUFFER)})", "the text")
        editor.wait("T.context():find('# room', 1, true)", "Neovim has sent the change")

    try:
        editor.terminal.type(f"O{TYPED}")
        editor.terminal.keys("Escape")
        check_review(scene_beside(tmp_path, tmp_path / "neovim" / "work"), decide)
    finally:
        editor.close()


def _lua(text: str) -> str:
    """Quote the JSON of a text as a string of Lua."""
    return json.dumps(json.dumps(text))


@pytest.mark.long
def test_claude_is_reviewed_in_emacs(part: Part, tmp_path: Path) -> None:
    part(claude_code)
    home, root = tmp_path / "emacs", tmp_path / "house"
    home.mkdir()
    (root / ".git").mkdir(parents=True)
    (root / "house.py").write_text(SAVED)
    (home / "script.json").write_text("[]")
    scene = scene_beside(tmp_path, root)
    begin = real_emacs.Start(
        part(emacs_part.ensure), home, root, home / "script.json",
        path=real_emacs.only_stet(home), variables=runtime(scene),
    )  # fmt: skip
    editor = real_emacs.start(begin, "house.py").served()

    def decide() -> None:
        editor.wait_for_hunks(WIDTH - 1, NAME - 1)
        editor.line(WIDTH).press("C-c x y").wait_for_hunks(NAME - 1)
        editor.line(NAME).press("C-c x y").terminal.wait_for(*CHOICES)
        editor.press("RET").wait_for_hunks(NAME)
        editor.line(NAME + 1).prompt("C-c x k", REASON).wait_for_hunks()
        editor.line(NAME).press("C-e").type("  # room").wait_for_text(BUFFER)
        editor.wait_for_context("# room")  # Eglot sends changes after a moment

    try:
        editor.press("M-<").type(TYPED).press("RET")
        check_review(scene, decide)
    finally:
        editor.close()


@pytest.mark.long
def test_claude_is_reviewed_in_vscode(part: Part, vscode: Starts, tmp_path: Path) -> None:
    part(claude_code)
    (tmp_path / "notes").mkdir()
    variables = {"XDG_RUNTIME_DIR": str(tmp_path / "notes")}
    editor = vscode({"house.py": SAVED}, variables=variables)

    def decide() -> None:
        editor.wait_for_status("Stet: 3 hunks")
        editor.click_line("return width + height")
        editor.stet("y")
        editor.wait_for_status("Stet: 2 hunks")
        editor.click_line("return name.strip().title()")
        editor.stet("y")
        editor.wait_for_status("Stet: 1 hunk")
        editor.click_line("return name.strip().title()")
        editor.stet("n")
        editor.fill(REASON)
        editor.wait_for_status("Stet")
        editor.click_line(DOCSTRING)
        editor.keys("End")
        editor.type("  # room")
        editor.wait_for_text(BUFFER)

    editor.keys("Control+Home")
    editor.type(f"{TYPED}\n")
    check_review(scene_beside(tmp_path, editor.root), decide)
