"""Commands about the chat document: `stet.openChat`, `newChat`, `send`.

The text to send and its order are fixed when the message arrives. A document that is not open in
the editor is read and written in a worker thread, before the answer.
"""

from collections.abc import Awaitable, Iterator
from contextlib import contextmanager

from stet.agent.turn import Ask, Mode, time_of
from stet.agent.turn_runner import NoPendingQuestion, UnknownQuestion
from stet.chat.chat_document import ChatDocument
from stet.lsp.arguments import CommandArguments
from stet.lsp.chat.chat_controller import EmptyMessage
from stet.lsp.lsp_errors import InvalidParams, RequestFailed, report_as
from stet.lsp.presentation.hunk_selection import resolve_location
from stet.lsp.state import ServerState


def open_chat(state: ServerState, values: tuple[object, ...]) -> Awaitable[dict[str, object]]:
    """Show the document of a conversation, by default of the latest."""
    with CommandArguments("stet.openChat", values, main="chat") as arguments:
        chat = arguments.text("chat")
    with _report_errors():
        return _opened_answer(state.agent_ui.chats.open(chat))


def list_chats(state: ServerState, values: tuple[object, ...]) -> list[dict[str, object]]:
    """Return all conversations with their titles, the most recently used first."""
    CommandArguments("stet.chats", values).finish()
    with _report_errors():
        entries = state.agent_ui.chats.list_chats()
    return [
        {
            "chat": entry.chat,
            "title": entry.title,
            "uri": entry.uri,
            "updated": time_of(entry.updated) or None,
            "turns": entry.n_turns,
        }
        for entry in entries
    ]


def new_chat(state: ServerState, values: tuple[object, ...]) -> Awaitable[dict[str, object]]:
    """Begin a conversation."""
    CommandArguments("stet.newChat", values).finish()
    with _report_errors():
        return _opened_answer(state.agent_ui.chats.new())


def send(state: ServerState, values: tuple[object, ...]) -> Awaitable[dict[str, object]]:
    """Send the text that the user has written in a chat's document."""
    with CommandArguments("stet.send", values, main="chat") as arguments:
        chat, uri = arguments.text("chat"), arguments.text("uri")
        mode = arguments.one_of("mode", Mode, Mode.AGENT)
        agent = arguments.text("agent")
        place = resolve_location(CommandArguments("stet.send", ()), state.workspace)
    if uri is not None and chat is None and (chat := state.agent_ui.chats.chat_of(uri)) is None:
        raise InvalidParams(f"{uri!r} is not a chat document; open one with `stet.openChat`")

    def ask(prompt: str, chat: str) -> Ask:
        name = agent or state.agent.agent_of_message(chat)
        return Ask(prompt=prompt, mode=mode, place=place, chat=chat, agent=name)

    with _report_errors():
        return _sent_answer(state.agent_ui.chats.send(chat or state.agent_ui.chats.current, ask))


async def _opened_answer(opening: Awaitable[ChatDocument]) -> dict[str, object]:
    with _report_errors():
        page = await opening
    return {"uri": page.uri, "chat": page.chat}


async def _sent_answer(sending: Awaitable[str]) -> dict[str, object]:
    with _report_errors():
        return {"turn": await sending}


@contextmanager
def _report_errors() -> Iterator[None]:
    """Report errors of the `with` block to the editor.

    Raises:
        RequestFailed: With the message of the error.
    """
    disk = report_as(RequestFailed, OSError, message="the chat can't be read or written: {}")
    with disk, report_as(RequestFailed, EmptyMessage, NoPendingQuestion, UnknownQuestion):
        yield
