"""The control socket of a watched server, as any program of the user reaches it."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stet.control.control_client import ControlClient, RequestRefused, ServerLost
from stet.control.descriptor import Descriptor, read_descriptors
from stet.control.socket_path import short_path
from tests.attacks.seen import Seen, real
from tests.attacks.stage import Stage, accept_all
from tests.support.editor import FakeEditor

SECONDS = 30.0
HIDDEN = (".env", "/.git/", "/.ssh/")
"""Parts of the URIs of files for which no hunk may exist."""


def runtime_env(stage: Stage) -> dict[str, str]:
    """Return the variables of a server whose runtime, cache and state folders are in `home`."""
    home = stage.top / "home"
    names = ("RUNTIME_DIR", "CACHE_HOME", "STATE_HOME", "CONFIG_HOME", "DATA_HOME")
    return {"HOME": str(home), **{f"XDG_{name}": str(home / name.lower()) for name in names}}


async def descriptor_of(stage: Stage, editor: FakeEditor) -> Descriptor:
    """Return the descriptor of the server, as soon as it listens."""
    runtime = stage.top / "home" / "runtime_dir" / "stet"
    async with asyncio.timeout(SECONDS):
        while not (found := await asyncio.to_thread(read_descriptors, runtime)):
            await editor.command("stet.status")
    return found[0]


class ControlDoor:
    """A program that sends requests to the control socket.

    What it is answered counts as sent: no answer may hold a canary.
    """

    def __init__(self, seen: Seen, descriptor: Descriptor) -> None:
        self.descriptor = descriptor
        self.n_asked = 0
        self._seen = seen

    async def ask(self, method: str, *params: object) -> Any:
        """Send a request on a connection of its own; return its result, None if it is refused."""
        self.n_asked += 1

        def run() -> Any:
            with ControlClient(self.descriptor, SECONDS) as client:
                return client.request(method, *params)

        try:
            answer = await asyncio.to_thread(run)
        except (RequestRefused, ServerLost) as refused:
            self._seen.sent.append(str(refused))
            return None
        self._seen.sent.append(json.dumps(answer))
        return answer

    async def exchange(self, line: bytes) -> bytes:
        """Send raw bytes and then a request; return all that is answered."""
        self.n_asked += 1
        with short_path(Path(self.descriptor.socket)) as address:
            reader, writer = await asyncio.open_unix_connection(address)
        answers = b""
        try:
            writer.write(
                line + b'\n{"id": 7, "method": "control.hasOpen", "params": [{"path": "/"}]}\n'
            )
            async with asyncio.timeout(SECONDS):
                while b'"id": 7' not in answers and (chunk := await reader.read(65536)):
                    answers += chunk
        except OSError:
            pass  # the server has closed the connection
        finally:
            writer.close()
        return answers


async def after_review(seen: Seen, stage: Stage) -> None:
    """Accept everything as the user, and note the hunks that may not exist."""
    editor, root = seen.editor, str(stage.root)
    listed: list[Mapping[str, Any]] = await editor.command("stet.proposals")
    for hunk in listed:
        seen.sent.append(json.dumps(hunk))
        uri = str(hunk["uri"])
        if not real(uri).startswith(f"{root}/") or any(part in uri for part in HIDDEN):
            seen.faults.append(f"proposed: {uri}")
    await accept_all(editor)
    seen.faults += acting_messages(editor)


def acting_messages(editor: FakeEditor) -> list[str]:
    """List the messages to the user that have characters which a terminal would obey."""
    texts = [*(one.message for one in editor.messages), *(one.message for one in editor.asked)]
    return [f"acts: {text!r}" for text in texts if _acts(text)]


def _acts(text: str) -> bool:
    return any(not (one.isprintable() or one in "\n\t") for one in text)
