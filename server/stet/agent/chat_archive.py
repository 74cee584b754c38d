"""What outlives the process of conversations: their turns, what was said, what the model knows.

The agent keeps by it; rows lie where `ArchiveStorage` puts them, the real ones beside the proposals
(`stet.storage.state_store`). What is read back is taken for hostile: each row is checked whole, and
left out with a word in the log where it does not say what it must.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Protocol

from stet.agent.session import Session
from stet.agent.turn import FINAL_STATES, Turn, TurnState
from stet.agent.turn_history import Exchange, with_missing_results
from stet.review.feedback import ModelKnowledge
from stet.storage.chat_rows import ChatRow, ChatRows, TurnRow
from stet.text.document import TextDocument
from stet.web.web_address import KnownAddresses
from stet.workspace.uris import canonical, is_tracked

if TYPE_CHECKING:
    from pydantic import TypeAdapter

log = logging.getLogger(__name__)

SERVER_DIED = "Stet was ended while this turn was under way. Ask again for the rest."
MAX_EXCHANGES = 100
MAX_CHARACTERS = 4_000_000
"""Of a chat's history, how many turns are kept, and how much they may say: the latest of it."""


class ArchiveStorage(Protocol):
    """Where turns and chats are kept; nothing raises when the disk fails."""

    def keep_turn(self, row: TurnRow) -> None:
        """Keep a turn as it is now; it outlives the process once this returns."""
        ...

    def keep_chat(self, row: ChatRow) -> None:
        """Keep what a chat knows now; may take long."""
        ...

    def load_chats(self) -> ChatRows:
        """Load what earlier runs have persisted. This may take long."""
        ...


@dataclass(frozen=True, slots=True)
class SavedChats:
    """Earlier conversations.

    Attributes:
        turns: All over, oldest first.
        sessions: What each chat remembers; nothing waits or runs in them.
    """

    turns: tuple[Turn, ...] = ()
    sessions: tuple[Session, ...] = ()


class ChatArchive:
    """Between the agent's values and rows."""

    def __init__(self, rows: ArchiveStorage | None = None) -> None:
        """Without rows nothing is kept: for tests, and for previews."""
        self._rows = rows

    def save_turn(self, turn: Turn) -> None:
        """Keep a turn as it is now; takes a fraction of a millisecond."""
        if self._rows is not None:
            self._rows.keep_turn(TurnRow(turn.id, turn.ask.chat, _to_json(asdict(turn))))

    def save_chat(
        self,
        chat: str,
        history: Sequence[Exchange],
        knowledge: ModelKnowledge,
        n_sent_characters: int = 0,
    ) -> None:
        """Keep what a chat knows; for a worker thread, because that may be much.

        Args:
            chat: Its id.
            history: Its turns, oldest first.
            knowledge: What its model knows of proposals and files.
            n_sent_characters: `KnownAddresses.n_sent_characters`.
        """
        if self._rows is None:
            return
        exchanges = [asdict(exchange) for exchange in _limit_history(history)]
        texts = {document.uri: document.text for document in knowledge.shown.values()}
        fields = _to_json(
            {"history": exchanges, "upto": knowledge.upto, "carried": n_sent_characters}
        )
        self._rows.keep_chat(ChatRow(chat, fields, texts))

    def load(self) -> SavedChats:
        """Earlier conversations; a turn that was not over when its server died has failed.

        Takes long where there is much, and imports what checks it: for a worker thread.
        """
        if self._rows is None:
            return SavedChats()
        saved = self._rows.load_chats()
        turns = tuple(turn for row in saved.turns if (turn := _parse_turn(row)) is not None)
        sessions = tuple(
            session for row in saved.chats if (session := _parse_session(row)) is not None
        )
        return SavedChats(turns, sessions)


def _limit_history(history: Sequence[Exchange]) -> Sequence[Exchange]:
    """Return the end of a history, as much as is kept."""
    left, n = MAX_CHARACTERS, 0
    for exchange in reversed(history[-MAX_EXCHANGES:]):
        left -= sum(len(message.content) for message in exchange.messages)
        if left < 0:
            break
        n += 1
    return history[len(history) - n :]


def _to_json(value: object) -> str:
    """JSON that any reader takes: lone surrogates, which none would, become question marks."""
    text = json.dumps(value, ensure_ascii=False, default=_to_plain)
    return text.encode("utf-8", "replace").decode()


def _to_plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"{value!r} can't be kept")


def _parse_turn(row: TurnRow) -> Turn | None:
    """Return the ended turn of a row, or None if the row is invalid."""
    try:
        turn = _turns().validate_json(row.fields)
    except ValueError as problem:
        log.warning("the kept turn %r is left out: %s", row.id, _describe_problem(problem))
        return None
    if (turn.id, turn.ask.chat) != (row.id, row.chat) or not _is_id(turn.id):
        log.warning("the kept turn %r is left out: it calls itself %r", row.id, turn.id)
        return None
    return turn if turn.state in FINAL_STATES else turn.ended(TurnState.FAILED, error=SERVER_DIED)


def _parse_session(row: ChatRow) -> Session | None:
    """Return the conversation of a row, or None if the row is invalid."""
    try:
        fields = json.loads(row.fields)
        known = fields if isinstance(fields, dict) else {}
        history = _histories().validate_python(known.get("history"))
        # A call without its result would be refused by providers, with all that follows.
        history = [
            replace(one, messages=tuple(with_missing_results(one.messages))) for one in history
        ]
    except (ValueError, RecursionError) as problem:
        log.warning("what the chat %r knows is left out: %s", row.id, _describe_problem(problem))
        return None
    upto = known.get("upto")
    upto = upto if type(upto) is int and upto >= 0 else None
    shown_texts = {
        canonical(uri): TextDocument(uri, text)
        for uri, text in row.texts.items()
        if is_tracked(uri)
    }
    saved_count = known.get("carried")
    n_sent_characters = saved_count if type(saved_count) is int and saved_count >= 0 else 0
    named = KnownAddresses(n_sent_characters=n_sent_characters)
    return Session(
        row.id, history, knowledge=ModelKnowledge(upto, shown_texts), approved_hosts=named
    )


def _describe_problem(problem: Exception) -> str:
    """Describe what is wrong with a row without its content. The content belongs to a conversation."""
    from pydantic import ValidationError  # late, as below

    if not isinstance(problem, ValidationError):
        return type(problem).__name__
    errors = problem.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['type']}" for one in errors[:3])


def _is_id(text: str) -> bool:
    return text.isascii() and text.isalnum()


@cache
def _turns() -> "TypeAdapter[Turn]":
    # Imported late: pydantic takes long, and this runs in a thread behind `initialize`.
    from pydantic import TypeAdapter

    return TypeAdapter(Turn)


@cache
def _histories() -> "TypeAdapter[list[Exchange]]":
    from pydantic import TypeAdapter

    return TypeAdapter(list[Exchange])
