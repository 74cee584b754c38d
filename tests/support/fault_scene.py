"""The state after every fault: the server answers, its texts equal the editor's byte by byte, and
no proposal is lost or has a wrong state.

    async with at_fault(root) as scene:
        scene.send(changed(scene.uri, 7, replaced((0, 0), (0, 1), "x")))
        scene.reads("xne\\ntwo\\nthree\\nfour\\n", version=7)
        await scene.survives()
"""

import json
import os
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pygls.exceptions import JsonRpcException

from tests.support.editor import FakeEditor
from tests.support.editor_documents import EditorDocument
from tests.support.editor_profiles import Quirk
from tests.support.live_turns import states, wait_for_states
from tests.support.proposals import PROPOSING_SERVER, propose
from tests.support.raw_peer import Message, Peer, frame

TEXT = "one\ntwo\nthree\nfour\n"
OLD, NEW = "three\n", "3\n"
"""The old and new text of the hunk that is pending in every scene."""


def checksum(text: str) -> int:
    """Compute a checksum of the text as UTF-16, which joins two adjacent surrogates."""
    return zlib.crc32(text.encode("utf-16-le", "surrogatepass"))


def isolated_home(home: Path | str) -> dict[str, str]:
    """Make an environment in which all folders of the user are below `home`."""
    kinds = ("CONFIG", "STATE", "CACHE", "DATA")
    folders = {f"XDG_{kind}_HOME": f"{home}/{kind.lower()}" for kind in kinds}
    return {"PATH": os.environ["PATH"], "HOME": str(home), **folders}


@dataclass
class FaultScene:
    """An editor with `a.txt` open, and a pending hunk in that file.

    Attributes:
        editor: The editor.
        uri: The URI of `a.txt`.
        hunk: The id of the pending hunk.
    """

    editor: FakeEditor
    uri: str
    hunk: str

    def send(self, *messages: Message) -> None:
        """Send messages unchanged, after those of the editor."""
        self.write(b"".join(frame(json.dumps(message)) for message in messages))

    def write(self, data: bytes) -> None:
        """Send bytes."""
        server = self.editor._server
        assert server is not None
        assert server.stdin is not None
        server.stdin.write(data)

    def reads(self, text: str, *, version: int | None = None, uri: str | None = None) -> None:
        """Set the text that the editor shows; register the document if it was not open."""
        known = self.editor.documents.setdefault(
            uri or self.uri, EditorDocument(uri or self.uri, 0, "")
        )
        known.text = text
        known.version = known.version if version is None else version

    def closed(self, uri: str | None = None) -> None:
        """Remove a document from the editor's open documents."""
        del self.editor.documents[uri or self.uri]

    async def holds(self, **others: str) -> None:
        """Check that the server answers, has all open texts, our pending hunk, and `others`."""
        await check_unharmed(self.editor, {self.hunk: "pending", **others})

    async def survives(self, **others: str) -> None:
        """Check the same, and that the hunk can be accepted and changes only its own lines."""
        await self.holds(**others)
        if self.uri not in self.editor.documents:
            self.editor.open(self.uri)
        before = self.editor.text(self.uri)
        assert before.count(OLD) == 1, before
        await self.editor.command("stet.accept", {"hunk": self.hunk})
        await wait_for_states(self.editor, **{self.hunk: "accepted"})
        assert self.editor.text(self.uri) == before.replace(OLD, NEW)
        await check_unharmed(self.editor, {self.hunk: "accepted", **others})


async def check_unharmed(editor: FakeEditor, wanted: Mapping[str, str]) -> None:
    """Check that the server answers, and has the editor's open texts and these hunk states."""
    assert (await editor.command("stet.status"))["ready"]
    uris = list(editor.documents)
    held = dict(zip(uris, await editor.command("test.checksums", *uris), strict=True))
    assert held == {uri: checksum(editor.text(uri)) for uri in uris}
    assert await states(editor) == wanted


def three_files(folder: Path) -> Path:
    """Make a workspace of three files with `TEXT`."""
    folder.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (folder / name).write_text(TEXT)
    return folder


async def proposed(editor: FakeEditor, *names: str) -> list[str]:
    """Propose a hunk in each of these files."""
    return await propose(editor, *({"edit": name, "changes": [[OLD, NEW]]} for name in names))


@asynccontextmanager
async def at_fault(
    root: Path | Sequence[Path],
    *,
    client: str = "vscode",
    settings: Mapping[str, object] | None = None,
    env: Mapping[str, str] | None = None,
    quirk: Quirk | None = None,
    command: Sequence[str] = PROPOSING_SERVER,
    fresh: bool = False,
) -> AsyncIterator[FaultScene]:
    """Start a scene in a workspace whose `a.txt` has `TEXT`; arguments as in `FakeEditor.start`."""
    async with FakeEditor.start(
        root,
        client=client,
        settings=settings,
        env=env,
        quirk=quirk,
        command=command,
        fresh=fresh,
    ) as editor:
        uri = editor.open("a.txt")
        spec = {"edit": "a.txt", "changes": [[OLD, NEW]], "turn": "before"}
        [hunk] = await propose(editor, spec)
        yield FaultScene(editor, uri, hunk)


async def refusal_of(editor: FakeEditor, name: str, *arguments: Any) -> JsonRpcException:
    """Return the error that answers a command."""
    try:
        answer = await editor.command(name, *arguments)
    except JsonRpcException as error:
        return error
    raise AssertionError(f"{name} was answered with {answer}")


async def until_read(editor: FakeEditor, turn: str) -> None:
    """Wait until a turn's first tool call has completed."""
    while True:
        found = (await editor.command("stet.turn", {"turn": turn}))["toolCalls"]
        if found and found[0]["state"] == "completed":
            return


async def command_result(peer: Peer, name: str, *arguments: object) -> Any:
    """Return the result of a command sent by a raw peer."""
    params = {"command": name, "arguments": list(arguments)}
    return await peer.ask("workspace/executeCommand", params)
