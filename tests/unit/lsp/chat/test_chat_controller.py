"""The chats of one server: what is sent keeps its order, and the disk holds nobody up."""

import asyncio
import itertools
import threading
from collections.abc import Awaitable, Sequence
from pathlib import Path

import pytest

from stet.agent.turn import Ask, Mode
from stet.chat.chat_document import ChatDocument
from stet.chat.chat_layout import new_document
from stet.context.context_builder import EditorLocation
from stet.llm.model import Completion, Request
from stet.llm.scripted_model import Reply, call
from stet.lsp.chat.chat_controller import ChatController, EmptyMessage
from stet.lsp.connection.protocol import StetLanguageServer
from stet.lsp.editor_client import Client
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.workspace.workspace import Modification, ModificationKind
from tests.support.agent_harness import AgentHarness
from tests.support.chat_text import parts, written
from tests.support.memory_system import MemorySystem
from tests.support.workspaces import make_workspace

DONE = call("done", summary="Done.")


class SlowDisk(MemorySystem):
    """A disk that answers when it is let, and notes which thread asked it."""

    def __init__(self) -> None:
        super().__init__({})
        self.threads: set[str] = set()
        self.free = threading.Event()
        self.free.set()

    def read_bytes(self, path: Path, limit: int) -> bytes:
        self._wait()
        return super().read_bytes(path, limit)

    def write_generated(self, name: str, text: str) -> Path:
        self._wait()
        return super().write_generated(name, text)

    def _wait(self) -> None:
        self.threads.add(threading.current_thread().name)
        assert self.free.wait(5)


class Room:
    """The chats of an editor that does not accept edits, an agent that is always done, and a
    disk.
    """

    def __init__(self, replies: Sequence[Reply] = (DONE,) * 9) -> None:
        self.table = AgentHarness(make_workspace(), replies)
        self.disk = SlowDisk()
        server = StetLanguageServer("stet", "0")
        server.tasks = self.table.tasks
        client = Client(server)
        self.own = GeneratedDocuments(self.disk, self.table.workspace)
        self.chats = ChatController(
            self.table.workspace,
            self.table.ledger,
            client,
            self.own,
            agent=self.table.agent,
            number=itertools.count(1).__next__,
            activity=lambda _: "",
        )
        self.table.on_event = self.chats.handle_event

    async def begun(self, chat: str, words: str) -> str:
        """A chat in whose file something is written; gives the file's name."""
        page = await self.chats.open(chat)
        self.disk.write_generated(page.file, new_document(chat) + words)
        return page.file

    def text(self, file: str) -> str:
        """What a file holds."""
        return self.disk.read_bytes(self.disk.state_folder() / file, 9999).decode()

    async def send(self, chat: str) -> str:
        """Send from a chat; gives what the turn was asked."""
        turn = await self.chats.send(chat, ask)
        return self.table.agent.turn(turn).ask.prompt

    def start(self, chat: str) -> asyncio.Task[str]:
        """The same, while other things happen."""
        return self.table.tasks.spawn(self.send(chat), "send")


async def _page(opening: Awaitable[ChatDocument]) -> ChatDocument:
    return await opening


def ask(prompt: str, chat: str) -> Ask:
    """A question without a place."""
    return Ask(prompt=prompt, mode=Mode.AGENT, place=EditorLocation(), chat=chat)


@pytest.mark.slow
async def test_the_disk_is_read_and_written_beside_the_event_loop() -> None:
    room = Room()
    file = await room.begun("main", "Why?\n")
    room.disk.threads.clear()
    room.disk.free.clear()
    sending = room.start("main")
    opening = room.table.tasks.spawn(_page(room.chats.open("other")), "open")
    await asyncio.sleep(0)  # the loop goes on meanwhile
    assert not sending.done()
    room.disk.free.set()
    assert await sending == "Why?"
    assert (await opening).chat == "other"
    await room.table.rest()
    assert "Done." in written(room.text(file), "t1")
    room.disk.threads.discard(threading.main_thread().name)  # `text` above
    assert room.disk.threads
    assert all(name.startswith("asyncio_") for name in room.disk.threads)


@pytest.mark.slow
async def test_two_consecutive_messages_keep_their_order() -> None:
    room = Room()
    await room.begun("first", "One\n")
    page = await room.chats.open("second")
    opened = Modification(
        ModificationKind.OPENED, page.uri, 0, "markdown", new_document("second") + "Two\n"
    )
    room.own.apply(opened)
    room.disk.free.clear()
    one = room.start("first")
    # This one is open in the editor, and needs no disk.
    two = room.start("second")
    for _ in range(5):
        await asyncio.sleep(0)
    assert room.table.agent.turns() == ()
    room.disk.free.set()
    assert [await one, await two] == ["One", "Two"]
    assert [turn.ask.prompt for turn in room.table.agent.turns()] == ["One", "Two"]
    await room.table.rest()


@pytest.mark.slow
async def test_sent_message_is_the_text_at_the_time_of_the_command() -> None:
    room = Room()
    await room.begun("first", "One\n")
    page = await room.chats.open("second")
    text = new_document("second") + "Two"
    room.own.apply(Modification(ModificationKind.OPENED, page.uri, 0, "markdown", text))
    room.disk.free.clear()
    one = room.start("first")
    await asyncio.sleep(0)
    two = room.chats.send("second", ask)
    room.own.apply(Modification(ModificationKind.CHANGED, page.uri, 1, text=text + " and more"))
    room.disk.free.set()
    assert await one == "One"
    assert room.table.agent.turn(await two).ask.prompt == "Two"
    await room.table.rest()


@pytest.mark.slow
async def test_message_is_not_sent_twice_and_text_after_it_is_sent() -> None:
    held = asyncio.Event()

    async def later(_: Request) -> Completion:
        await held.wait()
        return call("list_files")

    room = Room([later, DONE])
    file = await room.begun("main", "One\n")
    assert await room.send("main") == "One"
    with pytest.raises(EmptyMessage, match="this message was already sent"):
        await room.send("main")
    room.disk.write_generated(file, room.text(file) + "Two\n")
    assert await room.chats.send("main", ask) == "t1"  # it runs, and is told
    held.set()
    await room.table.rest()
    assert room.table.agent.turn("t1").steering == ("Two",)
    assert [(part.turn, part.text) for part in parts(room.text(file))][:3] == [
        ("", "One"), ("t1", ""), ("", "Two"),
    ]  # fmt: skip
