"""The hunks that wait in other editors on the same folders.

The servers of one folder ask each other over their control sockets (`control.pending`), which
answers as soon as the pending hunks are not those that the asker has seen. So an editor can show
that hunks of its file wait elsewhere. The end of the connection is the end of the other server: the
hunks that it leaves are then taken over, as by a server that starts later.
"""

import asyncio
import hashlib
import json
import logging
import os
from asyncio import StreamReader, StreamWriter
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from stet.lsp.editor_client import Client
from stet.lsp.presentation.diagnostics_publisher import DiagnosticsPublisher
from stet.review.proposal import OPEN, Hunk
from stet.system.process_id import is_alive
from stet.text.escape import escape_line
from stet.text.position import Position, Range
from stet.workspace.uris import canonical

if TYPE_CHECKING:
    from stet.control.descriptor import Descriptor

log = logging.getLogger(__name__)

MAX_HUNKS = 200
"""The most hunks of another editor that are shown."""
COLLECT_SECONDS = 0.1
"""How long changes are collected before they are reported."""
MAX_LINE = 16 * 1024 * 1024
_ENDING_SECONDS, _LOOK_SECONDS = 30.0, 0.1
"""How long the end of a process is waited for after its connection has ended, and how often."""
_MAX_NAMES = 3


class WaitingHunk(NamedTuple):
    """A pending hunk of another editor.

    Attributes:
        id: The id of the hunk.
        uri: The URI of its file.
        first: Its first line, 0-based, in the text of that editor.
        last: Its last line.
        author: The agent that has proposed the hunk.
        summary: What the hunk does, in a line.
    """

    id: str
    uri: str
    first: int
    last: int
    author: str
    summary: str


class OtherEditor(NamedTuple):
    """Another editor on the same folders.

    Attributes:
        process: The process id of its server.
        name: The name of the editor.
        hunks: Its pending hunks, at most `MAX_HUNKS`.
    """

    process: int
    name: str = ""
    hunks: tuple[WaitingHunk, ...] = ()

    def __str__(self) -> str:
        return f"{self.name or 'another editor'} (process {self.process})"


def pending_report(hunks: Iterable[Hunk], editor: str) -> dict[str, object]:
    """Return the answer to `control.pending`: the hunks, the editor, and what is sent as `seen`."""
    waiting = [
        WaitingHunk(
            hunk.id, hunk.uri, hunk.shown_at.start.line, hunk.shown_at.last_line,
            hunk.author, hunk.summary,
        )
        for hunk in hunks
        if hunk.state in OPEN
    ]  # fmt: skip
    answer: dict[str, object] = {"editor": editor, "hunks": waiting[:MAX_HUNKS]}
    seen = hashlib.sha256(json.dumps(answer).encode()).hexdigest()
    return {**answer, "seen": seen}


class OtherEditors:
    """The other editors on the folders of this server; used on the event loop only."""

    def __init__(
        self,
        client: Client,
        spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]],
        publisher: DiagnosticsPublisher,
        adopt: Callable[[], Awaitable[int]],
    ) -> None:
        """Create the group without other editors.

        Args:
            client: Shows messages.
            spawn: Starts a task.
            publisher: Shows the lines of hunks that wait in other editors.
            adopt: Takes over the hunks of servers that have ended; returns how many are pending.
        """
        self._client = client
        self._spawn = spawn
        self._publisher = publisher
        self._adopt = adopt
        self._editors: dict[int, OtherEditor] = {}

    def is_watched(self, process: int) -> bool:
        """Return whether a server is asked for its hunks."""
        return process in self._editors

    def watch(self, servers: Iterable["Descriptor"]) -> None:
        """Ask these servers for their hunks from now on, until they end."""
        for server in servers:
            if server.pid not in self._editors:
                self._publisher.in_other_editors = self.places_in
                self._editors[server.pid] = OtherEditor(server.pid)
                _ = self._spawn(self._watch(server), "the hunks of another editor")

    def has_hunks_in(self, uri: str) -> bool:
        """Return whether hunks of a file wait in another editor."""
        return any(True for _ in self._hunks_in(uri))

    def places_in(self, uri: str) -> list[tuple[Range, str]]:
        """Return the lines of the hunks of a file that wait elsewhere, each with a message."""
        return [
            (
                Range(Position(hunk.first, 0), Position(hunk.last, 0)),
                f"{escape_line(hunk.summary)}. This hunk waits in {editor}: decide there.",
            )
            for editor, hunk in self._hunks_in(uri)
        ]

    def to_json(self) -> list[dict[str, object]]:
        """Return `otherEditors` of `stet.status`."""
        return [
            {"process": one.process, "editor": one.name, "pending": len(one.hunks)}
            for one in self._editors.values()
        ]

    def _hunks_in(self, uri: str) -> Iterable[tuple[OtherEditor, WaitingHunk]]:
        key = canonical(uri)
        for editor in self._editors.values():
            for hunk in editor.hunks:
                if canonical(hunk.uri) == key:
                    yield editor, hunk

    async def _watch(self, server: "Descriptor") -> None:
        """Ask a server for its hunks until it ends; then take them over."""
        try:
            reader, writer = await _connect(server)
        except OSError as error:
            log.info("another editor can't be asked for its hunks: %s", error)
            del self._editors[server.pid]
            return
        seen: object = ""
        try:
            while True:
                answer = await _ask(reader, writer, {"process": os.getpid(), "seen": seen})
                if answer is None:
                    break
                seen = answer["seen"]
                self._take(_parse(server.pid, answer))
        except (OSError, ValueError, TypeError, KeyError) as error:
            log.info("another editor is not asked for its hunks any more: %s", error)
        finally:
            writer.close()
            ended = self._editors.pop(server.pid)
            self._note_changed(ended.hunks)
        await self._take_over(ended)

    def _take(self, editor: OtherEditor) -> None:
        """Show the hunks of another editor."""
        before = self._editors[editor.process]
        self._editors[editor.process] = editor
        self._note_changed({*before.hunks} ^ {*editor.hunks})
        known = {hunk.id for hunk in before.hunks}
        new = [one for one in editor.hunks if one.id not in known and one.author != "stet"]
        if new:
            self._client.show_message(_describe_new(new, editor))

    def _note_changed(self, hunks: Iterable[WaitingHunk]) -> None:
        for uri in {hunk.uri for hunk in hunks}:
            self._publisher.schedule(uri)

    async def _take_over(self, ended: OtherEditor) -> None:
        """Take over the hunks of a server as soon as its process has ended."""
        for _ in range(round(_ENDING_SECONDS / _LOOK_SECONDS)):
            if not is_alive(ended.process):
                break
            await asyncio.sleep(_LOOK_SECONDS)
        if n := await self._adopt():
            hunks = "its 1 pending hunk waits" if n == 1 else f"its {n} pending hunks wait"
            self._client.show_message(f"{ended} has ended: {hunks} here now")


def _describe_new(hunks: Sequence[WaitingHunk], editor: OtherEditor) -> str:
    """Return a message about new hunks of agents in another editor."""
    authors = " and ".join(escape_line(author) for author in Counter(h.author for h in hunks))
    names = list(Counter(escape_line(_name_of(hunk.uri)) for hunk in hunks))
    shown = ", ".join(names[:_MAX_NAMES]) + (", …" if len(names) > _MAX_NAMES else "")
    n = len(hunks)
    wait = f"1 hunk of {authors} waits" if n == 1 else f"{n} hunks of {authors} wait"
    return f"{wait} for your review in {editor}: {shown}"


def _name_of(uri: str) -> str:
    return unquote(PurePosixPath(urlsplit(uri).path).name)


async def _connect(server: "Descriptor") -> tuple[StreamReader, StreamWriter]:
    """Return a connection to the control socket of a server.

    Raises:
        OSError: If there is no server.
    """
    from stet.control.socket_path import short_path  # imported with the socket

    if server.socket:
        with short_path(Path(server.socket)) as address:
            return await asyncio.open_unix_connection(address, limit=MAX_LINE)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=MAX_LINE)
    writer.write(json.dumps({"token": server.token}).encode() + b"\n")
    return reader, writer


async def _ask(
    reader: StreamReader, writer: StreamWriter, params: dict[str, object]
) -> dict[str, Any] | None:
    """Return the answer to `control.pending`; None after the end of the server.

    Raises:
        OSError: If the connection fails.
        ValueError, KeyError: If the answer is an error, or can't be read.
    """
    message = {"jsonrpc": "2.0", "id": 1, "method": "control.pending", "params": [params]}
    writer.write(json.dumps(message).encode() + b"\n")
    line = await reader.readline()
    if not line.endswith(b"\n"):
        return None
    answer: dict[str, Any] = json.loads(line)["result"]
    return answer


def _parse(process: int, answer: dict[str, Any]) -> OtherEditor:
    """Return another editor from its answer.

    Raises:
        TypeError, ValueError: If the answer has another form.
    """
    hunks = tuple(
        WaitingHunk(str(id_), str(uri), int(first), int(last), str(author), str(summary))
        for id_, uri, first, last, author, summary in answer["hunks"][:MAX_HUNKS]
    )
    return OtherEditor(process, escape_line(str(answer["editor"])), hunks)
