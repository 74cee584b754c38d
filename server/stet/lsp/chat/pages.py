"""The chat documents as files: what they are called, how one is read, and how it is written.

One that the editor has open is written there; else its file is, in a worker and one at a time.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from stet.lsp.chat.layout import blank
from stet.lsp.chat.open_texts import OpenTexts
from stet.lsp.chat.page import Page, Reading
from stet.lsp.chat.sections import Sections
from stet.lsp.chat.writer import PageWriter
from stet.lsp.client import Client
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.system.system import System
from stet.workspace.disk_text import decode
from stet.workspace.uris import canonical

log = logging.getLogger(__name__)

DISK_SECONDS = 0.3
"""How long words that stream in are gathered before the file is written."""
PAUSES = 10
"""How many times as long as the last writing took they are gathered: a long file is written as a whole."""
MAX_BYTES = 20_000_000
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")


class Pages:
    """The pages of one server's conversations. Touched on the event loop only."""

    def __init__(  # noqa: PLR0913 - the editor, the disk, and who knows of both
        self,
        client: Client,
        system: System,
        own: GeneratedDocuments,
        *,
        texts: OpenTexts,
        writer: PageWriter,
        folders: Callable[[], Iterable[str]],
    ) -> None:
        """`texts` are those that the editor has open; `folders` gives the URIs of the workspace: other
        servers write in the same folder.
        """
        self._client = client
        self._system = system
        self._own = own
        self._texts = texts
        self._writer = writer
        self._folders = folders
        self._pages: dict[str, Page] = {}
        self._to_disk: set[str] = set()
        self._disk = asyncio.Lock()
        self._took_seconds = 0.0

    def page(self, chat: str) -> Page:
        """A conversation's page.

        Raises:
            OSError: If there is no folder for it.
        """
        if chat not in self._pages:
            file = self._file_of(chat)
            self._pages[chat] = Page(chat, file, (self._own.folder / file).as_uri())
        return self._pages[chat]

    def known(self, chat: str) -> Page | None:
        """A conversation's page, if the user has had to do with it."""
        return self._pages.get(chat)

    def chat_of(self, uri: str, chats: Iterable[str]) -> str | None:
        """The conversation, of those that are known and `chats`, whose document this is."""
        known = {canonical(page.uri): chat for chat, page in self._pages.items()}
        if (chat := known.get(canonical(uri))) is not None:
            return chat
        if not self._own.is_generated(uri) or not Path(uri).name.startswith("chat-"):
            return None
        name = Path(uri).stem.split("-", 2)[-1]
        return next((one for one in (*chats, name) if Path(uri).name == self._file_of(one)), None)

    def shown(self, page: Page) -> tuple[str, ...] | None:
        """The lines of its text in the editor, as they are now; None if it is not open there."""
        buffer = self._own.buffer(page.uri)
        return None if buffer is None else tuple(buffer.lines)

    async def read(self, page: Page, shown: Sequence[str] | None) -> Reading:
        """Read its text in a worker: what the editor shows, or else the file; of one that is not there,
        what a new one holds.

        Raises:
            OSError: If it is there and can't be read.
        """
        if shown is not None:
            return await asyncio.to_thread(lambda: Reading.of(Sections(shown)))
        async with self._disk:
            return (await asyncio.to_thread(self._stored, page))[1]

    def write(self, page: Page) -> None:
        """Write what there is to write, into the editor if it takes it, else into the file."""
        if self._texts.is_being_read(page.uri):
            return  # it is written to once that is done
        if self._writer.can_write(page):
            self._writer.start(page, lambda: self._was_refused(page))
        elif page.uri not in self._to_disk:
            self._to_disk.add(page.uri)
            self._client.start(self._write_soon(page), f"keep {page.file}")

    async def fill(self, page: Page, note: Callable[[Reading], object] | None = None) -> None:
        """Write the file with all that is missing in it.

        Args:
            page: Whose.
            note: Called with what stands there, before it is filled.

        Raises:
            OSError: If it can't be read or written.
        """
        async with self._disk:
            began = self._system.monotonic()
            shown = self.shown(page)
            stands, found = await asyncio.to_thread(self._stored, page, shown)
            if note is not None:
                note(found)
            found = await asyncio.to_thread(self._fill, page.frozen(), stands)
            self._took_seconds = self._system.monotonic() - began
        if self._own.buffer(page.uri) is None:
            page.adopt(found)

    def _stored(self, page: Page, shown: Sequence[str] | None = None) -> tuple[str | None, Reading]:
        """The text of a document, in the editor or on the disk, if there is any; and what it holds, or
        a new one does. Blocks on the disk.
        """
        text = self._read(page) if shown is None else "".join(shown)
        return text, Reading.of(Sections.of(blank(page.chat) if text is None else text))

    def _fill(self, page: Page, stands: str | None) -> Reading:
        """Write a file with all that is missing in it, and give what it holds. Blocks on the disk."""
        new = page.filled(blank(page.chat) if stands is None else stands)
        if new != stands:
            _ = self._system.write_generated(page.file, new)
        return Reading.of(Sections.of(new))

    async def _write_soon(self, page: Page) -> None:
        await asyncio.sleep(max(DISK_SECONDS, PAUSES * self._took_seconds))
        self._to_disk.discard(page.uri)
        try:
            await self.fill(page)
        except OSError as error:
            log.warning("%s can't be written: %s", page.file, error)

    def _was_refused(self, page: Page) -> None:
        log.info("%s: the editor takes no edits; the file is written", page.uri)
        page.is_refused = True
        self.write(page)

    def _read(self, page: Page) -> str | None:
        """What its file holds; None if there is none. Blocks on the disk."""
        path = self._own.folder / page.file
        if self._system.stat(path) is None:
            return None
        return decode(self._system.read_bytes(path, MAX_BYTES))

    def _file_of(self, chat: str) -> str:
        """The name of a chat's document."""
        roots = "\n".join(canonical(uri) for uri in self._folders())
        name = chat if _PLAIN_NAME.fullmatch(chat) else f"x{_digest(chat)}"
        return f"chat-{_digest(roots)}-{name}.md"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
