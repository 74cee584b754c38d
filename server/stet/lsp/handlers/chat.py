"""Commands about the chat document: `stet.openChat`, `newChat`, `send`."""

from stet.agent.questions import NoQuestion, UnknownQuestion
from stet.agent.turn import Ask, Mode
from stet.lsp.arguments import Arguments
from stet.lsp.chat.chats import NothingToSend
from stet.lsp.chat.page import Page
from stet.lsp.errors import InvalidParams, RequestFailed
from stet.lsp.showing.places import place_of
from stet.lsp.state import ServerState


def open_chat(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """Show a conversation, by default the latest."""
    arguments = Arguments("stet.openChat", given, main="chat")
    chat = arguments.text("chat")
    arguments.finish()
    try:
        return _shown(state.chats.open(chat))
    except OSError as error:
        raise RequestFailed(f"the chat can't be written: {error}") from error


def new_chat(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """Begin a conversation."""
    Arguments("stet.newChat", given).finish()
    try:
        return _shown(state.chats.new())
    except OSError as error:
        raise RequestFailed(f"the chat can't be written: {error}") from error


def send(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """Send what the user has written in a chat's document."""
    arguments = Arguments("stet.send", given, main="chat")
    chat, uri = arguments.text("chat"), arguments.text("uri")
    mode = arguments.one_of("mode", Mode, Mode.AGENT)
    place = place_of(Arguments("stet.send", ()), state.workspace)
    arguments.finish()
    if uri is not None and chat is None and (chat := state.chats.chat_of(uri)) is None:
        raise InvalidParams(f"{uri!r} is no chat document: `stet.openChat` shows one")

    def ask(prompt: str, chat: str) -> Ask:
        return Ask(prompt=prompt, mode=mode, place=place, chat=chat)

    try:
        return {"turn": state.chats.send(chat or state.chats.current, ask)}
    except (NothingToSend, NoQuestion, UnknownQuestion) as error:
        raise RequestFailed(str(error)) from error
    except OSError as error:
        raise RequestFailed(f"the chat can't be read: {error}") from error


def _shown(page: Page) -> dict[str, object]:
    return {"uri": page.uri, "chat": page.chat}
