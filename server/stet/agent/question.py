"""A question of the agent's to the user: the turn waits for it and holds nothing meanwhile."""

from dataclasses import dataclass
from typing import Literal

SEND = "Send it"
DO_NOT_SEND = "Don't send"


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        id: Unique in the server.
        kind: What it is about; `context`: whether so much may be sent.
        text: A sentence.
        choices: What may be answered, the agreeing one first.
    """

    id: str
    kind: Literal["context"]
    text: str
    choices: tuple[str, ...]
