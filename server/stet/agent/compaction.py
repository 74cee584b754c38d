"""Makes what is sent of a conversation shorter; pure, and the same from the same.

In this order, the oldest first: results of tools and old states of the editor become a placeholder
that says what it was and how to see it again; turns are told by question and answer; the oldest of
them become a digest. Calls and their results stay together, and what was shortened says so.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from stet.agent.history import Exchange, flat, units
from stet.llm.messages import Message, ToolCall
from stet.llm.tokens import estimate_prompt

MARK = "(Compacted: "
"""How everything begins that stands for something longer."""
LEAST = 400
"""Characters of a result that is worth replacing."""
MAX_CUT = 2000
"""Characters of the beginning of a result that stay where it can't be spared."""
MAX_ARGUMENTS = 200
MAX_QUESTION = 300
"""Characters of each question in a digest."""
MAX_DIGEST = 6000
"""Characters of a digest."""
WHAT_WAS = "What has been said and done until now?"
GO_ON = "Go on from there."
KEPT_ROUNDS = 2
"""How many of a turn's last rounds keep their results as long as possible."""

_DATA = re.compile(r"<additional_data>.*</additional_data>\n?", re.DOTALL)

Shorten = Callable[[ToolCall, str], str]
"""What stands in the place of a result."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What is said of a chat: earlier turns, and the messages of the one that runs, question first."""

    history: tuple[Exchange, ...]
    own: tuple[Message, ...] = ()

    @property
    def tokens(self) -> int:
        """About how many."""
        return estimate_prompt(flat(self.history)) + estimate_prompt(self.own)


def fitted(history: Sequence[Exchange], room: int) -> tuple[Exchange, ...]:
    """Earlier turns as a new one may send them: untouched if they take at most `room` tokens.

    Otherwise they are brought down to half of it, so that this is not needed again at once.
    """
    talk = Talk(tuple(history))
    if talk.tokens <= room:
        return talk.history
    wanted = max(0, room // 2)
    talk = lightened(talk, wanted)
    for n, one in enumerate(talk.history):
        if talk.tokens <= wanted:
            return talk.history
        short = Exchange.in_short(one.question, one.said, one.record, one.n_said)
        talk = Talk((*talk.history[:n], short, *talk.history[n + 1 :]))
    told = talk.history
    for n_told in range(2, len(told) + 1):
        if talk.tokens <= wanted:
            break
        talk = Talk((summed_up(told[:n_told]), *told[n_told:]))
    return talk.history


def lightened(talk: Talk, wanted: int, kept_rounds: int = KEPT_ROUNDS) -> Talk:
    """Placeholders for results, oldest first, until at most `wanted` tokens are left.

    The last `kept_rounds` rounds of the turn that runs keep theirs.
    """
    history = list(talk.history)
    left = talk.tokens - wanted
    for n, one in enumerate(history):
        if left <= 0:
            break
        history[n] = _without_data(one)
        left -= estimate_prompt(one.messages) - estimate_prompt(history[n].messages)
    own = units(talk.own)
    for n in range(_first_kept(own, kept_rounds)):
        if left <= 0:
            break
        before, own[n] = own[n], _shorter(own[n], _placeholder)
        left -= estimate_prompt(before) - estimate_prompt(own[n])
    return Talk(tuple(history), tuple(message for unit in own for message in unit))


def cut_down(talk: Talk) -> Talk:
    """The last results too, to their beginnings: where nothing else helps."""
    own = [message for unit in units(talk.own) for message in _shorter(unit, _beginning)]
    return Talk(talk.history, tuple(own))


def old_part(talk: Talk, wanted: int) -> tuple[Talk, Talk]:
    """What is to be summed up, and what stays.

    All earlier turns; of the turn that runs the rounds but the last, if that is not enough.
    """
    told, rest = Talk(talk.history), Talk((), talk.own)
    own = units(talk.own)
    n_kept = _first_kept(own, KEPT_ROUNDS)
    if rest.tokens <= wanted or n_kept < 2:
        return told, rest
    question, old, kept = own[0], own[1:n_kept], own[n_kept:]
    old_messages = tuple(message for unit in old for message in unit)
    kept_messages = tuple(message for unit in (question, *kept) for message in unit)
    return Talk(talk.history, old_messages), Talk((), kept_messages)


def with_summary(told: Talk, rest: Talk, summary: str) -> Talk:
    """`rest` with a summary in the place of what is told in it; the words are the assistant's.

    They may repeat what a file or a page said, so they must not look like the user's.
    """
    marked = f"{MARK}this sums up what stood here.)\n{summary}"
    if not told.own:
        return Talk((_one(marked, told.history),), rest.own)
    between = (Message("assistant", marked), Message("user", GO_ON))
    history = (summed_up(told.history),) if told.history else ()
    return Talk(history, (rest.own[0], *between, *rest.own[1:]))


def summed_up(history: Sequence[Exchange]) -> Exchange:
    """Several turns as one, by a digest."""
    return _one(
        f"{MARK}{len(history)} earlier turns, in short.)\n{digest(Talk(tuple(history)))}", history
    )


def digest(talk: Talk) -> str:
    """What was asked and what came of it, without asking a model."""
    lines = []
    for one in talk.history:
        if one.record is None:
            lines.append(one.said)
            continue
        lines.append(f"- The user asked: {_short(one.question, MAX_QUESTION)}")
        lines.append(f"  You answered: {_short(one.said, MAX_QUESTION)}")
        lines.append(one.record.text)
    for unit in units(talk.own):
        lines += _round(unit)
    text = "\n".join(lines)
    if len(text) <= MAX_DIGEST:
        return text
    half = MAX_DIGEST // 2
    return f"{text[:half]}\n{MARK}the middle is left out.)\n{text[-half:]}"


def as_text(talk: Talk, most: int) -> str:
    """What was said as plain text of at most `most` characters, results cut, the middle left out."""
    lines = []
    for unit in units((*flat(talk.history), *talk.own)):
        head = unit[0]
        if head.content:
            lines.append(f"{head.role}: {head.content}")
        for call, result in zip(head.tool_calls, unit[1:], strict=False):
            lines.append(f"call: {call.name} {call.arguments[:MAX_CUT]}")
            lines.append(f"result: {result.content[:MAX_CUT]}")
    text = "\n".join(lines)
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}\n(The middle is left out.)\n{text[len(text) - most // 2 :]}"


def _one(text: str, history: Sequence[Exchange]) -> Exchange:
    n_said = min(2, sum(one.n_said for one in history)) or 2
    return Exchange.in_short(WHAT_WAS, text, None, n_said)


def _without_data(one: Exchange) -> Exchange:
    """An earlier turn with placeholders for results and for what the editor showed."""
    found: list[Message] = []
    for unit in units(one.messages):
        found += _shorter(unit, _placeholder)
    first = found[0]
    light = _DATA.sub(
        f"{MARK}what the editor showed then. `get_attached_context` gives what it shows now.)\n",
        first.content,
    )
    if len(light) < len(first.content):
        found[0] = replace(first, content=light)
    return replace(one, messages=tuple(found))


def _first_kept(own: Sequence[tuple[Message, ...]], kept_rounds: int) -> int:
    """Where the last rounds begin, as an index of units; the question is never one of them."""
    rounds = [n for n, unit in enumerate(own) if unit[0].role == "assistant"]
    if not kept_rounds:
        return len(own)
    return rounds[-kept_rounds] if len(rounds) > kept_rounds else min(1, len(own))


def _shorter(unit: Sequence[Message], shorten: Shorten) -> tuple[Message, ...]:
    """An answer and the results of its calls, each result that is long made short."""
    head, *results = unit
    if head.role != "assistant":
        return tuple(unit)
    short = []
    for call, result in zip(head.tool_calls, results, strict=False):
        content = result.content
        if len(content) > LEAST and not content.startswith(MARK):
            content = min(content, shorten(call, content), key=len)
        short.append(replace(result, content=content))
    return (head, *short, *results[len(short) :])


def _placeholder(call: ToolCall, content: str) -> str:
    return f"{MARK}{len(content)} characters that {_call(call)} gave. Call it again if you need them.)\n"


def _beginning(call: ToolCall, content: str) -> str:
    return (
        f"{MARK}only the first {MAX_CUT} of {len(content)} characters that {_call(call)} gave; ask "
        f"for less at once.)\n{content[:MAX_CUT]}\n"
    )


def _call(call: ToolCall) -> str:
    return f"`{call.name} {_short(call.arguments, MAX_ARGUMENTS)}`"


def _round(unit: Sequence[Message]) -> list[str]:
    """A round in a line for what was said, and one for each call."""
    head, *results = unit
    lines = [f"- {head.role}: {_short(head.content, MAX_QUESTION)}"] if head.content else []
    for call, result in zip(head.tool_calls, results, strict=False):
        lines.append(f"- You called {_call(call)}: {_short(result.content, MAX_ARGUMENTS)}")
    return lines


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
