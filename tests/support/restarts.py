"""Servers that are killed, and later servers with the same state."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from tests.support.editor import FakeEditor


class _Killed(Exception):
    """An exception to leave the editor's block without a shutdown."""


@asynccontextmanager
async def killed_at_the_end(
    started: AbstractAsyncContextManager[FakeEditor],
) -> AsyncIterator[FakeEditor]:
    """Yield the editor of `started`, whose server is killed at the latest at the end (`kill -9`)."""
    try:
        async with started as editor:
            yield editor
            server = editor._server
            assert server is not None
            with suppress(ProcessLookupError):  # it was killed before
                server.kill()
            await server.wait()
            raise _Killed  # noqa: TRY301 - the way out of the editor's own block
    except _Killed:
        return


@asynccontextmanager
async def until_killed(
    root: Path | None, env: Mapping[str, str], **more: Any
) -> AsyncIterator[FakeEditor]:
    """Yield an editor whose server is killed at the end (`kill -9`); `more` are arguments of
    `FakeEditor.start`."""
    async with killed_at_the_end(FakeEditor.start(root, env=env, **more)) as editor:
        yield editor


async def ready(editor: FakeEditor) -> Any:
    """Wait until proposals are restored; return `stet.status`."""
    while True:
        status = await editor.command("stet.status")
        if status["ready"]:
            return status


async def proposals(editor: FakeEditor) -> dict[str, Any]:
    """Return the result of `stet.proposals`, by hunk."""
    return {hunk["hunk"]: hunk for hunk in await editor.command("stet.proposals")}
