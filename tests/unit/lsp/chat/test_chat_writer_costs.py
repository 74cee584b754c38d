"""A chat document with a long text: what a piece costs does not depend on it."""

import asyncio
from collections.abc import Sequence
from time import thread_time

import pytest

from stet.agent.turn import Ask, Mode, Turn
from stet.chat.chat_document import ChatDocument, ChatReading, ChatTurn
from stet.chat.chat_layout import ChatSections, new_document
from stet.chat.chat_transcript import ChatTranscript
from stet.context.context_builder import EditorLocation
from stet.lsp.chat.chat_writer import OpenChatTexts
from stet.lsp.chat.insertion_watch import InsertionWatch
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.lsp.tasks import Tasks
from stet.text.edit import TextChange
from stet.workspace.workspace import Modification, ModificationKind, WireEdit, Workspace
from tests.support.chat_text import written
from tests.support.memory_system import MemorySystem

N_PIECES = 100
LINE = "What a user writes into a chat document, line by line.\n"
TURNS = "".join(f"## You\n\nWhat?\n\n## Stet (x{n})\n\n{LINE * 50}\n" for n in range(1_500))
TURN = Turn(id="t1", ask=Ask(prompt="Why?", mode=Mode.AGENT, place=EditorLocation(), chat="main"))


class Room:
    """A chat document that an editor has open, which takes every edit."""

    def __init__(self, text: str) -> None:
        system = MemorySystem({})
        self.tasks = Tasks()
        self.own = GeneratedDocuments(system, Workspace(system))
        self.texts = OpenChatTexts(self.own, self.tasks.start)
        self.transcript = ChatTranscript(str)
        uri = (self.own.folder / "chat.md").as_uri()
        self.page = ChatDocument("main", "chat.md", uri)
        self.page.add(ChatTurn("t1", "Why?", self.transcript))
        self.watch = InsertionWatch("")
        self.own.listen(self._changed)
        self.own.apply(Modification(ModificationKind.OPENED, uri, 0, "markdown", text))

    def _changed(self, uri: str, _: ModificationKind, changes: Sequence[TextChange]) -> None:
        self.texts.changed(uri, changes)
        buffer = self.own.workspace.buffer(uri)
        assert buffer is not None
        self.watch.follow(changes, buffer.lines)

    async def read(self) -> ChatSections:
        """Wait until the parts of the document are known."""
        known = asyncio.get_running_loop().create_future()

        def then(found: ChatReading) -> None:
            self.page.adopt(found)
            known.set_result(None)

        self.texts.opened(self.page.uri, then)
        await known
        found = self.texts.sections(self.page.uri)
        assert found is not None
        return found

    def write(self, document: ChatSections) -> None:
        """Write what there is to write."""
        while step := self.page.next_insertion(document):
            watch, at = InsertionWatch(step.insertion.text), step.insertion.at
            edit = WireEdit(at.line, at.character, at.line, at.character, step.insertion.text)
            change = Modification(ModificationKind.CHANGED, self.page.uri, 1, edits=(edit,))
            self.watch = watch
            self.own.apply(change)
            assert watch.has_come
            step.done()


async def seconds_for(text: str) -> float:
    """Processor time that an answer takes that comes piece by piece."""
    room = Room(text)
    document = await room.read()
    began = thread_time()
    for n in range(N_PIECES):
        room.transcript.add_text(f"word {n} ")
        room.write(document)
    took = thread_time() - began
    buffer = room.own.workspace.buffer(room.page.uri)
    assert buffer is not None
    streamed = "".join(f"word {n} " for n in range(N_PIECES))
    assert written(buffer.text, "t1") == streamed.strip()
    return took


@pytest.mark.parametrize(
    "more", [LINE * 100_000, LINE.rstrip() * 100_000, TURNS], ids=["lines", "one line", "turns"]
)
async def test_a_piece_costs_the_same_in_a_long_document_as_in_a_short_one(more: str) -> None:
    short = await seconds_for(new_document("main"))
    text = TURNS + new_document("main") if more is TURNS else new_document("main") + more
    # To read so much text once takes more than this for all pieces together.
    assert await seconds_for(text) < 5 * short + 0.2
