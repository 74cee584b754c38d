"""The connection to the server of an editor that has a folder open, for commands of the shell."""

import asyncio
from pathlib import Path
from typing import Any

from stet.cli.terminal import CliError
from stet.control.control_client import (
    ControlClient,
    RequestRefused,
    ServerLost,
    choose_server,
    find_servers,
)
from stet.control.descriptor import Descriptor
from stet.lsp.headless.headless_client import CommandFailed
from stet.system.system import System
from stet.text.encoding import Encoding

ACCEPT_SECONDS = 15
"""How long the editor may take to apply an accepted hunk."""
ANSWER_SECONDS = 30.0


class EditorConnection:
    """The server of an editor, as a `ReviewClient`."""

    def __init__(self, descriptor: Descriptor) -> None:
        """Connect to a server.

        Raises:
            CliError: If the server can't be reached.
        """
        try:
            self._client = ControlClient(descriptor, ANSWER_SECONDS)
        except ServerLost as error:
            raise CliError(f"{error}. Restart Stet in that editor.") from error

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    async def command(self, name: str, *arguments: object) -> Any:
        """Run a command or a method of the control socket; return its answer as JSON.

        Raises:
            CommandFailed: If the server refuses.
            CliError: If the server ends or does not answer.
        """
        try:
            return await asyncio.to_thread(self._client.request, name, *arguments)
        except RequestRefused as error:
            raise CommandFailed(str(error), error.code) from error
        except ServerLost as error:
            raise CliError(str(error)) from error

    async def accept(self, **arguments: object) -> dict[str, Any]:
        """Accept hunks, and wait until the editor has applied them.

        Returns:
            `accepted`: the ids; `refused`: `{hunk, reason}` for each hunk that was not accepted.

        Raises:
            CommandFailed: If the server refuses the command.
            CliError: If the server ends or does not answer.
        """
        answer = await self.command("stet.accept", arguments)
        if not answer["hunks"]:
            return {"accepted": [], "refused": answer["refused"]}
        wanted = {"hunks": answer["hunks"], "states": ["pending", "sent"]}
        decided = await self.command("control.wait", {**wanted, "seconds": ACCEPT_SECONDS})
        accepted = [item["hunk"] for item in decided if item["state"] == "accepted"]
        others = [
            {"hunk": item["hunk"], "reason": item.get("reason") or "the editor did not answer"}
            for item in decided
            if item["state"] != "accepted"
        ]
        return {"accepted": accepted, "refused": [*answer["refused"], *others]}

    async def text_of(self, uri: str) -> tuple[str | None, Encoding]:
        """Return the text of a document in the editor, and the unit of its columns.

        The text is None if the document does not exist.
        """
        answer = await self.command("control.text", {"uri": uri})
        return answer["text"], Encoding(answer["encoding"])


def find_editor(folder: Path, file: Path | None) -> Descriptor | None:
    """Return the server to ask about the hunks in a folder, or None if no editor has it open.

    With several editors: the one that has the file open, else the newest that has pending hunks,
    else the newest.
    """
    servers = find_servers(System().runtime_folder(), str(folder))
    if not servers:
        return None
    if file is not None:
        return choose_server(servers, str(file))
    return next((one for one in servers if _has_pending(one)), servers[0])


def _has_pending(descriptor: Descriptor) -> bool:
    try:
        with ControlClient(descriptor, ANSWER_SECONDS) as client:
            status = client.request("stet.status")
    except (ServerLost, RequestRefused):
        return False
    return bool(status["pending"] or status["conflicts"])
