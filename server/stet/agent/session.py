"""A session: one conversation with its history and its queue, and how it is persisted.

The rows are stored by an `ArchiveStorage`; its implementation is `stet.storage.state_store`. Loaded
rows are not trusted: each row is validated as a whole, and an invalid row is skipped and logged.
"""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from stet.agent.tool_offer import ToolOffer
from stet.agent.turn import FINAL_STATES, Turn, TurnState
from stet.agent.turn_history import MAX_ANSWER, Exchange, Prompt, TurnRecord, with_missing_results
from stet.privacy.taint import TaintTracker
from stet.review.feedback import ModelKnowledge
from stet.review.proposal import Hunk
from stet.review.resolve.pending_view import ShownDocuments
from stet.storage.write_batch import ChatRow, ChatRows, TurnRow
from stet.text.document import TextDocument
from stet.web.web_address import KnownAddresses
from stet.workspace.uris import canonical, is_tracked

if TYPE_CHECKING:
    from pydantic import TypeAdapter


MAX_FILES = 100
"""The most files shown in a chat whose changes are reported to the model."""

MAX_TURNS = 100
"""The most turns in the history of a chat: the maximum of `agent.historyLength`."""
MAX_USER_MESSAGES = 1000
"""The most messages of the user that a chat remembers."""


@dataclass(frozen=True, slots=True)
class TurnStart:
    """The state with which a turn began.

    Attributes:
        feedback: The text before the question, for the model and in the history.
        knowledge: What the model knows after reading this text.
        shown: The files that are shown to the model while the turn runs.
        prompt: The messages that the turn sends.
        n_history: The number of the history's last turns that the prompt replaces.
        active: The name of the active file; "" if there is none.
        epoch: The fingerprint of the privacy rules of the turn.
        is_overflow: Whether the model has refused the turn as too long even after compaction.
    """

    feedback: str
    knowledge: ModelKnowledge
    shown: ShownDocuments
    prompt: Prompt
    n_history: int
    active: str
    epoch: str
    is_overflow: bool = False

    def knowledge_at_end(self) -> ModelKnowledge:
        """Return what the model knows after the turn, with the latest `MAX_FILES` files."""
        shown = {key: one for key, one in self.knowledge.shown.items() if key not in self.shown}
        # The changes in a very long text can't be computed in time.
        now = [(key, one) for key, one in self.shown.items() if not one.is_large]
        known = [*shown.items(), *now]
        return replace(self.knowledge, shown=dict(known[-MAX_FILES:]))


@dataclass(slots=True)
class Session:
    """One chat, owned by the agent and used on the event loop only.

    Attributes:
        chat: The id of the chat.
        history: Earlier turns, oldest first. Their messages stay as they were sent until they are
            compacted, so that a provider's cached prefix stays valid.
        queue: Ids of pending turns.
        running: The id of the running turn, if there is one.
        knowledge: What the model knows of its proposals and of files, according to the history.
        turn_start: The state with which the running turn began, until the turn is over.
        user_messages: Only the user's own messages, oldest first: the agent may read from a host
            that the messages name. The history also contains the text of others.
        untrusted: Text by others that was shown to the model.
        approved_hosts: Hosts that a search has returned or the user has allowed.
        offer: The tools that requests describe if the model gets the short prompt; None before the
            first such turn.
        agent_sessions: By name of another agent, the id of its own session for this chat.
        save_lock: Held while the session is written, so that older state is never written last.
    """

    chat: str
    history: list[Exchange] = field(default_factory=list)
    queue: deque[str] = field(default_factory=deque)
    running: str | None = None
    knowledge: ModelKnowledge = field(default_factory=ModelKnowledge)
    turn_start: TurnStart | None = None
    user_messages: list[str] = field(default_factory=list)
    untrusted: TaintTracker = field(default_factory=TaintTracker)
    approved_hosts: KnownAddresses = field(default_factory=KnownAddresses)
    offer: ToolOffer | None = None
    agent_sessions: dict[str, str] = field(default_factory=dict)
    save_lock: asyncio.Lock = field(default_factory=asyncio.Lock, compare=False, repr=False)

    @property
    def active(self) -> str:
        """The active file of the latest turn; "" for none."""
        record = self.history[-1].record if self.history else None
        return record.active if record else ""

    def record_user_message(self, words: str) -> None:
        """Append a message of the user. Discard the oldest beyond `MAX_USER_MESSAGES`."""
        self.user_messages.append(words)
        del self.user_messages[:-MAX_USER_MESSAGES]

    def record_turn(self, turn: Turn, hunks: tuple[Hunk, ...]) -> None:
        """Add the turn to the history.

        Only the question and the outcome are stored if the turn was cancelled before the model's
        first answer, as the next turn sends its context again, or if the model refused it as too
        long, as its messages would be too long again.
        """
        turn_start, self.turn_start = self.turn_start, None
        active = turn_start.active if turn_start is not None else ""
        record = TurnRecord.of(turn, hunks, active, self.active)
        question = turn.ask.prompt
        is_overflow = turn_start is not None and turn_start.is_overflow
        if is_overflow or (turn.state is TurnState.CANCELLED and not turn.rounds):
            # The user may have cancelled the turn because it would have sent too much.
            turn_start, question = None, question[:MAX_ANSWER]
        if turn_start is None:
            answer = turn.answer or turn.summary
            exchange = Exchange.condensed(question, answer.strip(), record, 2)
        else:
            self.knowledge = turn_start.knowledge_at_end()
            prompt, question = turn_start.prompt, turn_start.feedback + question
            # Turns of earlier runs may have been inserted at the front during the turn.
            first = len(self.history) - turn_start.n_history
            self.history[first:] = prompt.history
            exchange = Exchange.from_turn(prompt.current_turn, question, turn, record)
            exchange = replace(exchange, guard=turn_start.epoch)
        self.history.append(exchange)
        del self.history[:-MAX_TURNS]


log = logging.getLogger(__name__)

SERVER_DIED = "Stet was stopped during this turn. Ask again to continue."
MAX_EXCHANGES = 100
MAX_CHARACTERS = 4_000_000
"""The most turns of a chat's history that are persisted, and the most characters of their messages;
the latest turns are persisted."""


class ArchiveStorage(Protocol):
    """The storage of turns and chats; no method raises when the disk fails."""

    def persist_turn(self, row: TurnRow) -> None:
        """Persist a turn. The row outlives the process when this returns."""
        ...

    def persist_chat(self, row: ChatRow) -> None:
        """Persist a chat. This may take long."""
        ...

    def load_chats(self) -> ChatRows:
        """Load the rows of earlier runs. This may take long."""
        ...


@dataclass(frozen=True, slots=True)
class SavedChats:
    """Earlier conversations.

    Attributes:
        turns: The turns, all of them ended, oldest first.
        sessions: The session of each chat, without queued or running turns.
    """

    turns: tuple[Turn, ...] = ()
    sessions: tuple[Session, ...] = ()


class ChatArchive:
    """The conversion between the agent's values and rows."""

    def __init__(self, rows: ArchiveStorage) -> None:
        self._rows = rows

    def save_turn(self, turn: Turn) -> None:
        """Persist a turn; this takes a fraction of a millisecond."""
        self._rows.persist_turn(TurnRow(turn.id, turn.ask.chat, _to_json(asdict(turn))))

    def save_chat(
        self,
        chat: str,
        history: Sequence[Exchange],
        knowledge: ModelKnowledge,
        n_sent_characters: int = 0,
        agent_sessions: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Persist a chat. This may take long: call it in a worker thread.

        Args:
            chat: The id of the chat.
            history: The turns of the chat, oldest first.
            knowledge: What the model knows of proposals and files.
            n_sent_characters: `KnownAddresses.n_sent_characters`.
            agent_sessions: `Session.agent_sessions`.
        """
        exchanges = [asdict(exchange) for exchange in _limit_history(history)]
        texts = {document.uri: document.text for document in knowledge.shown.values()}
        fields: dict[str, object] = {
            "history": exchanges,
            "upto": knowledge.upto,
            "carried": n_sent_characters,
        }
        if agent_sessions:
            fields["agents"] = dict(agent_sessions)
        self._rows.persist_chat(ChatRow(chat, _to_json(fields), texts))

    def load(self) -> SavedChats:
        """Return earlier conversations; a turn that was not over when its server died has failed.

        This may take long, and it imports pydantic: call it in a worker thread.
        """
        saved = self._rows.load_chats()
        turns = filter(None, map(_parse_turn, saved.turns))
        sessions = filter(None, map(_parse_session, saved.chats))
        return SavedChats(tuple(turns), tuple(sessions))


def _limit_history(history: Sequence[Exchange]) -> Sequence[Exchange]:
    """Return the end of a history, within `MAX_EXCHANGES` and `MAX_CHARACTERS`."""
    left, n = MAX_CHARACTERS, 0
    for exchange in reversed(history[-MAX_EXCHANGES:]):
        left -= sum(len(message.content) for message in exchange.messages)
        if left < 0:
            break
        n += 1
    return history[len(history) - n :]


def _to_json(value: object) -> str:
    """Return JSON in valid UTF-8: lone surrogates become question marks."""
    text = json.dumps(value, ensure_ascii=False, default=_to_plain)
    return text.encode("utf-8", "replace").decode()


def _to_plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"{value!r} can't be stored")


def _parse_turn(row: TurnRow) -> Turn | None:
    """Return the ended turn of a row, or None if the row is invalid."""
    try:
        turn: Turn = _adapter(Turn).validate_json(row.fields)
    except ValueError as problem:
        log.warning("the stored turn %r was skipped: %s", row.id, _describe_problem(problem))
        return None
    if (turn.id, turn.ask.chat) != (row.id, row.chat) or not _is_id(turn.id):
        log.warning("the stored turn %r was skipped: its id is %r", row.id, turn.id)
        return None
    return turn if turn.state in FINAL_STATES else turn.ended(TurnState.FAILED, error=SERVER_DIED)


def _parse_session(row: ChatRow) -> Session | None:
    """Return the conversation of a row, or None if the row is invalid."""
    try:
        fields = json.loads(row.fields)
        known = fields if isinstance(fields, dict) else {}
        history = _adapter(list[Exchange]).validate_python(known.get("history"))
        # Providers refuse every request that contains a call without a result.
        history = [
            replace(one, messages=tuple(with_missing_results(one.messages))) for one in history
        ]
    except (ValueError, RecursionError) as problem:
        log.warning(
            ("the stored state of chat %r was skipped: %s"), row.id, _describe_problem(problem)
        )
        return None
    shown_texts = {
        canonical(uri): TextDocument(uri, text)
        for uri, text in row.texts.items()
        if is_tracked(uri)
    }
    knowledge = ModelKnowledge(_count_or_none(known.get("upto")), shown_texts)
    named = KnownAddresses(n_sent_characters=_count_or_none(known.get("carried")) or 0)
    agents = known.get("agents")
    is_valid = isinstance(agents, dict) and all(isinstance(one, str) for one in agents.values())
    return Session(
        row.id, history, knowledge=knowledge, approved_hosts=named,
        agent_sessions=agents if isinstance(agents, dict) and is_valid else {},
    )  # fmt: skip


def _count_or_none(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _describe_problem(problem: Exception) -> str:
    """Describe the fault in a row without the row's content, which is private."""
    from pydantic import ValidationError  # late: see `_adapter`

    if not isinstance(problem, ValidationError):
        return type(problem).__name__
    errors = problem.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['type']}" for one in errors[:3])


def _is_id(text: str) -> bool:
    return text.isascii() and text.isalnum()


@cache
def _adapter(form: Any) -> "TypeAdapter[Any]":
    # Imported late: importing pydantic takes long, and this runs in a thread after `initialize`.
    from pydantic import TypeAdapter

    return TypeAdapter(form)
