"""`stet index`: bring the search index up to the files, or make it anew, and say how it stands."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stet.cli.terminal import CliError, Terminal
from stet.lsp.headless.headless_client import (
    CommandFailed,
    Event,
    HeadlessClient,
    MessageShown,
    ServerFailed,
)
from stet.system.os_system import OsSystem

LOOK_SECONDS = 0.1
"""Between two looks at how far it is."""
BUILDING = frozenset({"starting", "building"})


@dataclass(slots=True)
class IndexSession:
    """One run of a command that needs the index.

    Attributes:
        root: The workspace folder.
        terminal: Where progress is shown.
        warnings: What the server had to say.
    """

    root: Path
    terminal: Terminal
    warnings: list[str]

    def client(self) -> HeadlessClient:
        """Return an editor client without a screen, for the session."""
        return HeadlessClient(OsSystem(), on_event=self._event)

    async def wait_ready(
        self, client: HeadlessClient, *, rebuild: bool = False
    ) -> Mapping[str, Any]:
        """Wait until the index is up to the files; the part `index` of `stet.status` then.

        Raises:
            CommandFailed: If there is nothing to index.
            ServerFailed: If the server goes away.
        """
        await client.command("stet.reindex", {"rebuild": rebuild})
        with self.terminal.counting("indexing") as show:
            while True:
                status = await client.command("stet.status")
                index: Mapping[str, Any] = status["index"]
                if index["state"] not in BUILDING:
                    return index
                show(index["files"], index["total"])
                await asyncio.sleep(LOOK_SECONDS)

    def show_warnings(self) -> None:
        """Say what the server had to say, once."""
        for warning in dict.fromkeys(self.warnings):
            self.terminal.say(warning, "yellow")

    def _event(self, event: Event) -> None:
        if isinstance(event, MessageShown) and event.kind in ("error", "warning"):
            self.warnings.append(event.message)


def run(root: Path, *, rebuild: bool) -> int:
    """Do it and show what there is; 1 if there is no index.

    Raises:
        CliError: If it can't be done, with a sentence that says why.
    """
    session = IndexSession(root, Terminal(), [])
    try:
        index = asyncio.run(_indexed(session, rebuild=rebuild))
    except (ServerFailed, CommandFailed) as error:
        raise CliError(str(error)) from error
    session.show_warnings()
    if index["state"] != "ready":
        raise CliError(f"there is no search index: {index['message'] or index['state']}")
    counted = f"{index['files']:,} files, {index['chunks']:,} passages"
    session.terminal.show(f"{root}: {counted}")
    return 0


async def _indexed(session: IndexSession, *, rebuild: bool) -> Mapping[str, Any]:
    client = session.client()
    async with client.session(session.root):
        return await session.wait_ready(client, rebuild=rebuild)
