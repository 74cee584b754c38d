"""What must be so behind every fault: the server answers, its texts are the editor's to the byte, and
no proposal is lost or counts for what it is not.

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
"""What the hunk that waits in every scene changes."""


def checksum(text: str) -> int:
    """Of a text as UTF-16: lone surrogates and all, and two halves that met are one character."""
    return zlib.crc32(text.encode("utf-16-le", "surrogatepass"))


def isolated_home(home: Path | str) -> dict[str, str]:
    """An environment with everything of a user's in this folder."""
    kinds = ("CONFIG", "STATE", "CACHE", "DATA")
    folders = {f"XDG_{kind}_HOME": f"{home}/{kind.lower()}" for kind in kinds}
    return {"PATH": os.environ["PATH"], "HOME": str(home), **folders}


@dataclass
class FaultScene:
    """An editor with `a.txt` open, and a hunk that waits there.

    Attributes:
        editor: The editor.
        uri: Of the document.
        hunk: Its id.
    """

    editor: FakeEditor
    uri: str
    hunk: str

    def send(self, *messages: Message) -> None:
        """Put messages on the wire as they are, behind what the editor has sent."""
        self.write(b"".join(frame(json.dumps(message)) for message in messages))

    def write(self, data: bytes) -> None:
        """Put bytes on the wire."""
        server = self.editor._server
        assert server is not None
        assert server.stdin is not None
        server.stdin.write(data)

    def reads(self, text: str, *, version: int | None = None, uri: str | None = None) -> None:
        """This is what the editor shows now; opened by hand if it was not open."""
        known = self.editor.documents.setdefault(
            uri or self.uri, EditorDocument(uri or self.uri, 0, "")
        )
        known.text = text
        known.version = known.version if version is None else version

    def closed(self, uri: str | None = None) -> None:
        """The editor does not show it any more."""
        del self.editor.documents[uri or self.uri]

    async def holds(self, **others: str) -> None:
        """The server answers, holds every open text, and knows our hunk as waiting, `others` as told."""
        await check_unharmed(self.editor, {self.hunk: "pending", **others})

    async def survives(self, **others: str) -> None:
        """The same, and the hunk can still be accepted, in its place; and no more than it changes."""
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
    """The server answers, holds each open text as the editor does, and has these hunks in these states."""
    assert (await editor.command("stet.status"))["ready"]
    uris = list(editor.documents)
    held = dict(zip(uris, await editor.command("test.checksums", *uris), strict=True))
    assert held == {uri: checksum(editor.text(uri)) for uri in uris}
    assert await states(editor) == wanted


def three_files(folder: Path) -> Path:
    """Makes a workspace of three files with `TEXT`."""
    folder.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (folder / name).write_text(TEXT)
    return folder


async def proposed(editor: FakeEditor, *names: str) -> list[str]:
    """A hunk in each of these files."""
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
    """A scene in a workspace whose `a.txt` reads `TEXT`; arguments as `FakeEditor.start`."""
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
    """The error that a command is answered with."""
    try:
        answer = await editor.command(name, *arguments)
    except JsonRpcException as error:
        return error
    raise AssertionError(f"{name} was answered with {answer}")


async def until_read(editor: FakeEditor, turn: str) -> None:
    """Wait until a turn's first tool call is over."""
    while True:
        found = (await editor.command("stet.turn", {"turn": turn}))["toolCalls"]
        if found and found[0]["state"] == "completed":
            return


async def command_result(peer: Peer, name: str, *arguments: object) -> Any:
    """What a command answers to an editor made of bytes."""
    params = {"command": name, "arguments": list(arguments)}
    return await peer.ask("workspace/executeCommand", params)
