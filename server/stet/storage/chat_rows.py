"""Chats and turns as the store keeps them: opaque to it but for what it sorts and drops them by.

Light to import: the store is made before SQLite is. What stands in `fields` is the business of who
keeps the rows (`stet.agent.session`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PresetRows:
    """What is given back after a restart.

    Attributes:
        presets: One JSON object each, by name.
        attached: What was attached to questions, one JSON object; None where nothing was kept.
    """

    presets: Mapping[str, str] = field(default_factory=dict)
    attached: str | None = None


MAX_TURNS = 1000
"""How many turns are kept, on the disk and in memory."""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One turn.

    Attributes:
        id: Unique in the workspace.
        chat: The conversation it is of.
        fields: All of it, as one JSON object.
    """

    id: str
    chat: str
    fields: str


@dataclass(frozen=True, slots=True)
class ChatRow:
    """What a conversation knows beside its turns.

    Attributes:
        id: Of the conversation.
        fields: One JSON object.
        texts: Of files, by URI; each text is kept once, however many chats know it.
    """

    id: str
    fields: str
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatRows:
    """What is given back after a restart.

    Attributes:
        turns: In the order they were made.
        chats: One for each id, the one that was kept last.
    """

    turns: tuple[TurnRow, ...] = ()
    chats: tuple[ChatRow, ...] = ()
