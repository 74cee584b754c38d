"""Which version of an editor is there, and whether it will do."""

import sys

import pytest

from stet.cli.editor_check import EDITORS, EditorSpec, check_editor
from stet.cli.finding import Finding
from stet.system.system import System


def printing(text: str) -> EditorSpec:
    return EditorSpec("Ed", (sys.executable, "-c", f"print({text!r})"), (0, 11), "what is needed")


@pytest.mark.parametrize(
    ("output", "finding"),
    [
        ("NVIM v0.11.4\nBuild", Finding("ok", "Ed", "0.11.4")),
        ("Ed 25.07.1 (a05c151b)", Finding("ok", "Ed", "25.07.1")),
        (
            "NVIM v0.9.5",
            Finding(
                "note",
                "Ed",
                "0.9.5 is too old",
                "Install 0.11 or newer, which has what is needed.",
            ),
        ),
        ("what?\x1b[8m", Finding("note", "Ed", "unknown version: 'what?\\x1b[8m'")),
    ],
)
async def test_an_editor_is_compared_with_what_is_needed(output: str, finding: Finding) -> None:
    assert await check_editor(printing(output), System()) == finding


async def test_an_editor_that_is_not_there_is_no_problem() -> None:
    absent = EditorSpec("Ed", ("no-such-editor-here",), (1, 0), "")
    assert await check_editor(absent, System()) == Finding("note", "Ed", "not found")


def test_helix_is_asked_for_as_it_is_numbered() -> None:
    assert [editor.name for editor in EDITORS.values()] == ["Neovim", "VS Code", "Helix", "Emacs"]
