"""Inline completions in real VS Code: grey text at the cursor, accepted by Tab."""

from contextlib import suppress

import pytest

from tests.editors.vscode import VSCode
from tests.editors.vscode_session import Starts
from tests.support.completion_server import ServerThread, infill

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
AREA = "import math\n\n\ndef area(radius):\n    return\n"
GHOST = """(text) => [...document.querySelectorAll('.ghost-text-decoration')]
  .map((one) => one.textContent).join('').replaceAll('\\u00a0', ' ') === text"""
SOON = 3000
"""Milliseconds after which the key is pressed again: the server may not have registered yet."""


def type_until_shown(editor: VSCode, key: str, text: str) -> None:
    """Type a letter, and again, until a text is drawn that is not in the file."""
    for _ in range(20):
        editor.type(key)
        with suppress(AssertionError):
            editor.do(lambda page: page.wait_for_function(GHOST, arg=text, timeout=SOON))
            return
        editor.keys("Backspace")
    raise AssertionError(f"{text!r} is not drawn\n{editor.state()}")


def test_a_completion_is_shown_while_typing_and_tab_accepts_it(
    vscode: Starts, completions: ServerThread
) -> None:
    settings = {
        "stet.completion.enabled": True,
        "stet.completion.baseUrl": completions.server.base_url,
        # `chat.disableAIFeatures`, which these tests set, turns it off.
        "editor.inlineSuggest.enabled": True,
    }
    editor = vscode({"area.py": AREA}, settings=settings)
    completions.add(infill("math.pi * radius ** 2\n\n"))
    editor.click_line("    return")
    editor.keys("End")
    type_until_shown(editor, " ", "math.pi * radius ** 2")
    editor.shot("completion")
    editor.keys("Tab")
    editor.wait("() => !document.querySelector('.ghost-text-decoration')")
    editor.save_all()
    assert editor.on_disk("area.py") == AREA.replace("return", "return math.pi * radius ** 2")
    sent = completions.server.requests[0].body
    assert (sent["input_prefix"][-11:], sent["input_suffix"]) == ("    return ", "\n")
