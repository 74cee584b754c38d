"""The turns that a chat remembers, and the part of them that later turns send.

A turn is remembered message by message as it was sent, so that the next request of the chat begins
with the same bytes and a provider's cached prefix stays valid. A record follows the messages: the
time, the model, the active file, the proposals, the successes, the failures and their reasons. A
turn that is too long is compacted (`stet.agent.context_window`) and marked as such.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import groupby

from stet.agent.turn import Turn, time_of
from stet.context.context_values import element, single_line
from stet.llm.model import Message, Usage
from stet.review.proposal import Hunk
from stet.tools.tool_state import ToolRun, ToolState
from stet.workspace.snapshot import Snapshot

STEP_FROM = 10
"""From this `agent.historyLength` on, several old turns are left out at once; see
`recent_exchanges`."""
MAX_ANSWER = 4000
"""The most characters of an answer in the short form of a turn."""
MAX_ENTRIES = 20
"""The most proposals, failures or sources that the record of a turn lists."""
MAX_ENTRY = 200
"""The most characters of one entry of a record."""
NOT_RUN = "Not completed: the turn ended before.\n"
RECORD = "turn_record"


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """The facts about a turn that are remembered in addition to its messages.

    Attributes:
        at: When the user asked, in seconds since the epoch.
        answered: When the turn ended, in seconds since the epoch.
        steered: The times of the user's steering, in seconds since the epoch.
        model: The model that answered.
        usage: The tokens of the turn.
        state: The final state of the turn.
        error: The reason, if the turn did not succeed.
        active: The name of the active file; "" if there was none.
        before: The active file of the previous turn, if it was another one.
        proposed: Hunks, each with its id, its file and its purpose.
        succeeded: Tools that succeeded, with their files.
        failed: Tools that failed, each with the reason.
        sources: Addresses of pages found or read.
    """

    at: float = 0.0
    answered: float = 0.0
    steered: tuple[float, ...] = ()
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    state: str = ""
    error: str = ""
    active: str = ""
    before: str = ""
    proposed: tuple[str, ...] = ()
    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @classmethod
    def of(cls, turn: Turn, hunks: Sequence[Hunk], active: str, before: str) -> "TurnRecord":
        """Return the record of a turn at its end that was asked from the file `active`."""
        ran = [run for run in turn.tool_calls if run.state is not ToolState.ERROR]
        failed = [run for run in turn.tool_calls if run.error]
        return cls(
            turn.at,
            turn.ended_at,
            tuple(one.at for one in turn.utterances if one.role == "user"),
            turn.model,
            turn.usage,
            str(turn.state),
            turn.error,
            active,
            before if before != active else "",
            tuple(f"{hunk.id} {hunk.summary}".strip() for hunk in hunks),
            _count_runs(run for run in ran if not run.error),
            tuple(f"{_describe_run(run)}: {run.error}" for run in failed),
            tuple(source.url for source in turn.sources),
        )

    @property
    def text(self) -> str:
        """The record for the model, in a tag."""
        attributes = {
            "asked": time_of(self.at),
            "answered": time_of(self.answered),
            "model": self.model,
            "tokens": str(self.usage.total),
            "state": self.state,
            "active_file": self.active,
            "active_file_before": self.before,
        }
        lists = {
            "The user said more at": tuple(map(time_of, self.steered)),
            "Ended early": (self.error,) if self.error else (),
            "Proposed": self.proposed,
            "Succeeded": self.succeeded,
            "Failed": self.failed,
            "Sources": self.sources,
        }
        lines = [
            f"{name}: {_format_entries(entries)}" for name, entries in lists.items() if entries
        ]
        given = {name: value for name, value in attributes.items() if value}
        return element(RECORD, "\n".join(lines), given)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn in the form in which later turns send it.

    Attributes:
        messages: From the question to the record; every call has its result.
        question: The question with the feedback before it, without the state of the editor.
        answer: The text that the model wrote.
        record: The other remembered facts; None if several turns are summarized as one.
        n_messages: The number of messages that it counts as for `agent.historyLength`.
        guard: The fingerprint of the privacy rules under which the turn was sent.
    """

    messages: tuple[Message, ...]
    question: str
    answer: str
    record: TurnRecord | None = None
    n_messages: int = 2
    guard: str = ""

    @classmethod
    def from_turn(
        cls, turn_messages: Sequence[Message], question: str, turn: Turn, record: TurnRecord
    ) -> "Exchange":
        """Create the exchange of a finished turn from the messages of that turn.

        The record is appended to the last answer, or is a separate answer after tool results.
        """
        answer = (turn.answer or turn.summary).strip()[:MAX_ANSWER]
        messages = with_missing_results(turn_messages)
        last = messages[-1] if messages else None
        if last is not None and last.role == "assistant":
            content = "\n\n".join(part for part in (last.content.strip(), record.text) if part)
            messages[-1] = replace(last, content=content)
        else:
            messages.append(Message("assistant", record.text))
        return cls(tuple(messages), question, answer, record, 2 + len(turn.steering))

    @classmethod
    def condensed(
        cls, question: str, answer: str, record: TurnRecord | None, n_messages: int
    ) -> "Exchange":
        """Create an exchange with only the question and the answer of a turn."""
        content = "\n\n".join(part for part in (answer, record.text if record else "") if part)
        # Some providers refuse every request that contains an empty answer.
        messages = (Message("user", question), Message("assistant", content or "(No answer.)"))
        return cls(messages, question, answer, record, n_messages)

    def shortened(self) -> "Exchange":
        """Return the exchange with only the question and the answer."""
        return Exchange.condensed(self.question, self.answer, self.record, self.n_messages)


class Prompt:
    """The messages of a turn: the system message, earlier turns, and the turn's own messages.

    Args:
        system: The system message.
        history: Earlier turns, oldest first.
        question: The turn's question with the state of the editor.

    Attributes:
        messages: All messages in one flat list. The list object stays the same and grows while the
            turn runs.
    """

    def __init__(self, system: Message, history: Sequence[Exchange], question: Message) -> None:
        self._system = system
        self.history = tuple(history)
        self.messages = [system, *flatten(history), question]

    @property
    def current_turn(self) -> tuple[Message, ...]:
        """The messages of this turn, beginning with its question."""
        return tuple(self.messages[1 + sum(len(one.messages) for one in self.history) :])

    def replace(self, history: Sequence[Exchange], current_turn: Sequence[Message]) -> None:
        """Replace the earlier turns and the messages of this turn."""
        self.history = tuple(history)
        self.messages[:] = [self._system, *flatten(history), *current_turn]


def flatten(history: Iterable[Exchange]) -> tuple[Message, ...]:
    """Return the messages of turns, in order."""
    return tuple(message for exchange in history for message in exchange.messages)


def recent_exchanges(history: Sequence[Exchange], length: int) -> tuple[Exchange, ...]:
    """Return the latest whole turns with at most `length` user messages and answers.

    If there are more, turns are left out until half of `length` remains (from `STEP_FROM` on): if
    they were left out one by one, every turn would begin with other bytes than the previous one,
    and no cached prefix would be valid.
    """
    if sum(one.n_messages for one in history) <= length:
        return tuple(history)
    room = length // 2 if length >= STEP_FROM else length
    latest: list[Exchange] = []
    for one in reversed(history):
        room -= one.n_messages
        if room < 0:
            break
        latest.append(one)
    return tuple(reversed(latest))


def with_missing_results(messages: Sequence[Message]) -> list[Message]:
    """Return `messages` with a result for every call; without one, providers refuse the request."""
    found: list[Message] = []
    for unit in message_groups(messages):
        found += unit
        for call in unit[0].tool_calls[len(unit) - 1 :]:
            found.append(Message("tool", NOT_RUN, tool_call_id=call.id))
    return found


def message_groups(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """Return `messages` in groups: an answer and the results of its calls, or a single message."""
    found: list[list[Message]] = []
    for message in messages:
        if message.role == "tool" and found:
            found[-1].append(message)
        else:
            found.append([message])
    return [tuple(unit) for unit in found]


def _count_runs(runs: Iterable[ToolRun]) -> tuple[str, ...]:
    """Return the tools run, in order. Equal runs in a row are listed once, with their number."""
    counted = ((name, len(list(same))) for name, same in groupby(map(_describe_run, runs)))
    return tuple(f"{name} x{n}" if n > 1 else name for name, n in counted)


def _describe_run(run: ToolRun) -> str:
    return f"{run.tool} {run.file}".strip()


def _format_entries(entries: Sequence[str]) -> str:
    shown = [single_line(entry)[:MAX_ENTRY] for entry in entries[:MAX_ENTRIES]]
    more = len(entries) - MAX_ENTRIES
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


_FEEDBACK = re.compile(r"<since_last_turn>.*</since_last_turn>\n?", re.DOTALL)


def privacy_fingerprint(snapshot: Snapshot) -> str:
    """Return a digest of the privacy rules and the current time, in seconds since the epoch.

    The rules include the ignore files of the roots. Blocks on the disk.
    """
    settings = snapshot.settings
    stamps = snapshot.rules.stamps(root.path for root in snapshot.roots)
    rules = repr((settings.privacy, settings.context.excluded_folders, stamps))
    digest = sha256(rules.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{digest} {snapshot.system.now()}"


def drop_stale_history(
    history: Sequence[Exchange], guard: str, written: float
) -> tuple[Exchange, ...]:
    """Return earlier turns as they may be sent under `guard`.

    Turns sent under other rules contain texts of files that may now be excluded: only the user's
    words, the answer and the record of such turns are sent.

    Args:
        history: The history of the conversation.
        guard: The fingerprint of the rules of this turn.
        written: When an ignore file, of any folder, was last written, in seconds since the epoch:
            earlier texts were sent without that ignore file.
    """
    return tuple(
        exchange
        if exchange.record is None or _is_current(exchange.guard, guard, written)
        else _user_words_only(exchange, guard)
        for exchange in history
    )


def _is_current(earlier: str, guard: str, written: float) -> bool:
    """Return whether an earlier turn was sent under the rules of this turn."""
    rules, _, sent = earlier.partition(" ")
    return rules == guard.partition(" ")[0] and written <= float(sent or 0)


def _user_words_only(exchange: Exchange, guard: str) -> Exchange:
    question = _FEEDBACK.sub("", exchange.question)
    return replace(replace(exchange, question=question).shortened(), guard=guard)
