"""Plain `claude` in a terminal, and stock Helix in another one with unsaved text."""

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
from tests.agents.test_claude_ide import write_settings
from tests.conftest import Part
from tests.editors.helix import HelixEditor, Start
from tests.editors.helix_screen import prepare
from tests.editors.terminal import Terminal
from tests.parts import helix
from tests.parts.claude_code import claude_code
from tests.support.agent_models.script import Script, call, say

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
SIZE = (100, 30)
UPPER = "    return name.strip().upper()\n"
REJECT = 'lsp-workspace-command stet.reject {{"file":"house.py","line":{},"reason":"titles stay"}}'


def test_claude_is_reviewed_in_helix_beside_it(part: Part, tmp_path: Path) -> None:
    part(claude_code)
    begin = Start(part(lambda: helix.ensure("25.07")), tmp_path.resolve() / "helix", "config.toml")
    begin.home.mkdir()
    prepare(begin, {"house.py": SAVED}, "[]")
    scene = scene_beside(tmp_path.resolve(), begin.root)
    write_settings(scene)
    install(scene, "claude")
    path = begin.root / "house.py"
    more = call(
        "Edit",
        file_path=str(path),
        old_string="    return name.strip().title()\n",
        new_string=UPPER,
    )
    script = Script([*answers(path)[:-1], more, answers(path)[-1], say("All three are seen.")])
    environment = {**begin.environment(), **runtime(scene)}
    terminal = Terminal([*begin.helix.command, "house.py"], environment, begin.root, SIZE)
    editor = HelixEditor(terminal)
    try:
        editor.wait_until_ready()
        editor.insert("O", TYPED)
        with model_of(script) as url, claude_beside(scene, url, SIZE) as claude:
            prompt(claude, PROMPT, END)
            assert TYPED in script.requests[1].results[0]
            editor.wait_for_marks("    return width", "def label", "    return name")
            decide(editor)
            assert path.read_text() == SAVED
            prompt(claude, "And now?", "All three are seen.")
    finally:
        editor.close()
    news = "\n".join(script.requests[-1].texts)
    assert "titles stay" in news
    assert '+     """Return the name as a title."""  # room' in news
    assert path.read_text() == SAVED


def decide(editor: HelixEditor) -> None:
    """Accept two hunks, change the text of one of them, and reject the third with a reason."""
    editor.go(editor.line_of("    return width"))
    editor.key("y")
    editor.wait_for_line("    return width * height")
    editor.go(editor.line_of("    return name"))
    editor.command(REJECT.format(editor.line_of("    return name")))
    editor.wait_for_marks("def label")
    editor.go(editor.line_of("def label"))
    editor.key("y")
    editor.wait_for_line('    """Return the name as a title."""')
    editor.go(editor.line_of('    """Return'))
    editor.insert("A", "  # room")
    editor.terminal.wait_for("# room")
