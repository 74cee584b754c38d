"""Chat documents in an editor: open, write, wait for text."""

import re
from collections.abc import Callable
from typing import Any

from tests.support.chat_text import written
from tests.support.editor import FakeEditor


async def opened(editor: FakeEditor, name: str = "stet.openChat", **arguments: Any) -> str:
    """Open the chat's document in the editor; return its URI."""
    shown = await editor.command(name, *([arguments] if arguments else []))
    if shown["uri"] not in editor.documents:
        editor.open(shown["uri"])
    return str(shown["uri"])


def write(editor: FakeEditor, uri: str, text: str) -> None:
    """Type at the end of the document."""
    lines = editor.text(uri).split("\n")
    editor.type(uri, len(lines) - 1, len(lines[-1]), text)


async def until(editor: FakeEditor, uri: str, holds: Callable[[str], object]) -> str:
    """Wait until `holds` is true of the document's text; return the text."""
    try:
        await editor.wait_until(lambda: holds(editor.text(uri)))
    except AssertionError as error:
        raise AssertionError(f"{error}\nthe chat:\n{editor.text(uri)}") from None
    return editor.text(uri)


def ended(turn: str) -> Callable[[str], object]:
    """Make a check that the answer of a turn has ended."""
    return lambda text: re.search(
        r"^\*(completed|failed|cancelled|limited)", written(text, turn), re.MULTILINE
    )
