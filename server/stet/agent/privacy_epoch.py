"""What earlier turns were sent under rules of privacy that hold no more is not sent again."""

import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from stet.agent.turn_history import Exchange
from stet.workspace.snapshot import Snapshot

_FEEDBACK = re.compile(r"<since_last_turn>.*</since_last_turn>\n?", re.DOTALL)


def privacy_fingerprint(snapshot: Snapshot) -> str:
    """The rules of privacy as a short text that differs where they do, and since when they held.

    The ignore files of the roots are among the rules. Asks the disk.
    """
    settings = snapshot.settings
    stamps = snapshot.rules.stamps(root.path for root in snapshot.roots)
    rules = repr((settings.privacy, settings.context.excluded_folders, stamps))
    digest = sha256(rules.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{digest} {snapshot.system.now()}"


def drop_stale_history(
    history: Sequence[Exchange], guard: str, written: float
) -> tuple[Exchange, ...]:
    """Earlier turns as they may be sent under `guard`.

    Those of other rules hold texts of files that may be out of bounds by now: of them only the
    user's words, the answer and the record are told.

    Args:
        history: Of the conversation.
        guard: Of this turn.
        written: When an ignore file, of any folder, was last written: what was sent before went out
            without it. In seconds since the epoch.
    """
    return tuple(
        exchange
        if exchange.record is None or _is_current(exchange.guard, guard, written)
        else _user_words_only(exchange, guard)
        for exchange in history
    )


def _is_current(earlier: str, guard: str, written: float) -> bool:
    """Whether the rules of an earlier turn are those of this one."""
    rules, _, sent = earlier.partition(" ")
    return rules == guard.partition(" ")[0] and written <= float(sent or 0)


def _user_words_only(exchange: Exchange, guard: str) -> Exchange:
    question = _FEEDBACK.sub("", exchange.question)
    return replace(
        Exchange.condensed(question, exchange.said, exchange.record, exchange.n_said), guard=guard
    )
