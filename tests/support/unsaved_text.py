"""Editors with and without an unsaved line in `a.txt`, and the hunks that wait in them."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from stet.control.control_client import find_servers
from tests.support.editor import FakeEditor
from tests.support.shell import Shell


@asynccontextmanager
async def saved_editor(
    shell: Shell, settings: Mapping[str, object] | None = None
) -> AsyncIterator[FakeEditor]:
    """Start an editor that has `a.txt` open, and that other programs find."""
    async with FakeEditor.start(shell.folder, env=shell.env, settings=settings) as editor:
        editor.open("a.txt")
        await editor.command("stet.proposals")
        # The socket is opened beside the first commands.
        runtime, folder = Path(shell.env["XDG_CACHE_HOME"], "stet", "run"), str(shell.folder)
        await editor.wait_until(lambda: find_servers(runtime, folder), every=0.01)
        yield editor


@asynccontextmanager
async def unsaved_editor(
    shell: Shell, settings: Mapping[str, object] | None = None
) -> AsyncIterator[FakeEditor]:
    """Start an editor whose buffer of `a.txt` has an unsaved line."""
    async with saved_editor(shell, settings) as editor:
        editor.change("a.txt", "one\n", "one, unsaved\n")
        editor.flush()
        await editor.command("stet.proposals")
        yield editor


async def proposed(editor: FakeEditor) -> list[tuple[str, str, str]]:
    """Return file, kind and new text of each pending hunk."""
    listed = await editor.command("stet.proposals", {"state": "pending"})
    return [(item["uri"].rpartition("/")[2], item["kind"], item["new"]) for item in listed]
