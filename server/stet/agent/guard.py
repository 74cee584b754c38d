"""What earlier turns were sent under rules of privacy that hold no more is not sent again."""

import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from stet.agent.history import Exchange
from stet.settings.values import Settings

_NEWS = re.compile(r"<since_last_turn>.*</since_last_turn>\n?", re.DOTALL)


def guard_of(settings: Settings) -> str:
    """The rules of privacy as a short text that differs where they do."""
    rules = repr((settings.privacy, settings.context.excluded_folders))
    return sha256(rules.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def guarded(history: Sequence[Exchange], guard: str) -> tuple[Exchange, ...]:
    """Earlier turns as they may be sent under `guard`.

    Those of other rules hold texts of files that may be out of bounds by now: of them only the
    user's words, the answer and the record are told.
    """
    return tuple(
        one if one.guard == guard or one.record is None else _words_of(one, guard)
        for one in history
    )


def _words_of(one: Exchange, guard: str) -> Exchange:
    question = _NEWS.sub("", one.question)
    return replace(Exchange.in_short(question, one.said, one.record, one.n_said), guard=guard)
