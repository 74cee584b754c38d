"""Makes what is sent of a conversation shorter; pure, and the same from the same.

In this order, the oldest first: results of tools and old states of the editor become a placeholder
that says what it was and how to see it again; turns are told by question and answer; the oldest of
them become a digest. Calls and their results stay together, and what was shortened says so.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from stet.agent.turn_history import Exchange, flatten, message_groups
from stet.llm.model import Message, ToolCall, estimate_prompt

COMPACTED_MARK = "(Compacted: "
"""How everything begins that stands for something longer."""
MIN_RESULT = 400
"""Characters of a result that is worth replacing."""
MAX_CUT = 2000
"""Characters of the beginning of a result that stay where it can't be spared."""
MAX_ARGUMENTS = 200
MAX_QUESTION = 300
"""Characters of each question in a digest."""
MAX_DIGEST = 6000
"""Characters of a digest."""
SUMMARY_QUESTION = "What has been said and done until now?"
CONTINUE_PROMPT = "Go on from there."
RECENT_ROUNDS = 2
"""How many of a turn's last rounds keep their results as long as possible."""

_DATA = re.compile(r"<additional_data>.*</additional_data>\n?", re.DOTALL)

Shorten = Callable[[ToolCall, str], str]
"""What stands in the place of a result."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is said of a chat: earlier turns, and the messages of the one that runs, question first."""

    history: tuple[Exchange, ...]
    current_turn: tuple[Message, ...] = ()

    @property
    def tokens(self) -> int:
        """About how many."""
        return estimate_prompt(flatten(self.history)) + estimate_prompt(self.current_turn)


def fit_history(history: Sequence[Exchange], budget: int) -> tuple[Exchange, ...]:
    """Earlier turns as a new one may send them: untouched if they take at most `budget` tokens.

    Otherwise they are brought down to half of it, so that this is not needed again at once.
    """
    conversation = Conversation(tuple(history))
    if conversation.tokens <= budget:
        return conversation.history
    target = max(0, budget // 2)
    conversation = drop_tool_results(conversation, target)
    for n, exchange in enumerate(conversation.history):
        if conversation.tokens <= target:
            return conversation.history
        short = Exchange.condensed(
            exchange.question, exchange.said, exchange.record, exchange.n_said
        )
        conversation = Conversation(
            (*conversation.history[:n], short, *conversation.history[n + 1 :])
        )
    condensed = conversation.history
    for n_merged in range(2, len(condensed) + 1):
        if conversation.tokens <= target:
            break
        conversation = Conversation(
            (summarize_history(condensed[:n_merged]), *condensed[n_merged:])
        )
    return conversation.history


def drop_tool_results(
    conversation: Conversation, target: int, n_recent_rounds: int = RECENT_ROUNDS
) -> Conversation:
    """Placeholders for results, oldest first, until at most `target` tokens are left.

    The last `n_recent_rounds` rounds of the turn that runs keep theirs.
    """
    history = list(conversation.history)
    left = conversation.tokens - target
    for n, exchange in enumerate(history):
        if left <= 0:
            break
        history[n] = _drop_exchange_results(exchange)
        left -= estimate_prompt(exchange.messages) - estimate_prompt(history[n].messages)
    groups = message_groups(conversation.current_turn)
    for n in range(_first_recent(groups, n_recent_rounds)):
        if left <= 0:
            break
        before, groups[n] = groups[n], _shorten_results(groups[n], _placeholder)
        left -= estimate_prompt(before) - estimate_prompt(groups[n])
    return Conversation(tuple(history), tuple(message for unit in groups for message in unit))


def truncate_results(conversation: Conversation) -> Conversation:
    """Truncate the latest results too, to their beginnings. Used where nothing else helps."""
    messages = [
        message
        for unit in message_groups(conversation.current_turn)
        for message in _shorten_results(unit, _truncated)
    ]
    return Conversation(conversation.history, tuple(messages))


def split_prefix(conversation: Conversation, target: int) -> tuple[Conversation, Conversation]:
    """Return the part of a conversation to summarize, and the part that stays.

    All earlier turns; of the turn that runs the rounds but the last, if that is not enough.
    """
    prefix, rest = Conversation(conversation.history), Conversation((), conversation.current_turn)
    groups = message_groups(conversation.current_turn)
    n_before_recent = _first_recent(groups, RECENT_ROUNDS)
    if rest.tokens <= target or n_before_recent < 2:
        return prefix, rest
    question, old, recent = groups[0], groups[1:n_before_recent], groups[n_before_recent:]
    old_messages = tuple(message for unit in old for message in unit)
    recent_messages = tuple(message for unit in (question, *recent) for message in unit)
    return Conversation(conversation.history, old_messages), Conversation((), recent_messages)


def with_summary(prefix: Conversation, rest: Conversation, summary: str) -> Conversation:
    """`rest` with a summary in the place of what is told in it; the words are the assistant's.

    They may repeat what a file or a page said, so they must not look like the user's.
    """
    marked = f"{COMPACTED_MARK}this sums up what stood here.)\n{summary}"
    if not prefix.current_turn:
        return Conversation((_summary_exchange(marked, prefix.history),), rest.current_turn)
    between = (Message("assistant", marked), Message("user", CONTINUE_PROMPT))
    history = (summarize_history(prefix.history),) if prefix.history else ()
    return Conversation(history, (rest.current_turn[0], *between, *rest.current_turn[1:]))


def summarize_history(history: Sequence[Exchange]) -> Exchange:
    """Several turns as one, by a digest."""
    return _summary_exchange(
        f"{COMPACTED_MARK}{len(history)} earlier turns, in short.)\n{digest(Conversation(tuple(history)))}",
        history,
    )


def digest(conversation: Conversation) -> str:
    """Return what was asked and the outcome, without asking a model."""
    lines = []
    for exchange in conversation.history:
        if exchange.record is None:
            lines.append(exchange.said)
            continue
        lines.append(f"- The user asked: {_short(exchange.question, MAX_QUESTION)}")
        lines.append(f"  You answered: {_short(exchange.said, MAX_QUESTION)}")
        lines.append(exchange.record.text)
    for unit in message_groups(conversation.current_turn):
        lines += _describe_round(unit)
    text = "\n".join(lines)
    if len(text) <= MAX_DIGEST:
        return text
    half = MAX_DIGEST // 2
    return f"{text[:half]}\n{COMPACTED_MARK}the middle is left out.)\n{text[-half:]}"


def conversation_text(conversation: Conversation, most: int) -> str:
    """Return the conversation as plain text of at most `most` characters. Results are cut, and the
    middle is left out.
    """
    lines = []
    for unit in message_groups((*flatten(conversation.history), *conversation.current_turn)):
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


def _summary_exchange(text: str, history: Sequence[Exchange]) -> Exchange:
    n_said = min(2, sum(one.n_said for one in history)) or 2
    return Exchange.condensed(SUMMARY_QUESTION, text, None, n_said)


def _drop_exchange_results(exchange: Exchange) -> Exchange:
    """Return an earlier turn with placeholders for results and for what the editor showed."""
    messages: list[Message] = []
    for unit in message_groups(exchange.messages):
        messages += _shorten_results(unit, _placeholder)
    first = messages[0]
    shortened = _DATA.sub(
        f"{COMPACTED_MARK}what the editor showed then. `get_attached_context` gives what it shows now.)\n",
        first.content,
    )
    if len(shortened) < len(first.content):
        messages[0] = replace(first, content=shortened)
    return replace(exchange, messages=tuple(messages))


def _first_recent(groups: Sequence[tuple[Message, ...]], n_recent_rounds: int) -> int:
    """Where the last rounds begin, as an index of units; the question is never one of them."""
    rounds = [n for n, unit in enumerate(groups) if unit[0].role == "assistant"]
    if not n_recent_rounds:
        return len(groups)
    return rounds[-n_recent_rounds] if len(rounds) > n_recent_rounds else min(1, len(groups))


def _shorten_results(unit: Sequence[Message], shorten: Shorten) -> tuple[Message, ...]:
    """Return an answer and the results of its calls, with each long result shortened."""
    head, *results = unit
    if head.role != "assistant":
        return tuple(unit)
    short = []
    for call, result in zip(head.tool_calls, results, strict=False):
        content = result.content
        if len(content) > MIN_RESULT and not content.startswith(COMPACTED_MARK):
            content = min(content, shorten(call, content), key=len)
        short.append(replace(result, content=content))
    return (head, *short, *results[len(short) :])


def _placeholder(call: ToolCall, content: str) -> str:
    return f"{COMPACTED_MARK}{len(content)} characters that {_describe_call(call)} gave. Call it again if you need them.)\n"


def _truncated(call: ToolCall, content: str) -> str:
    return (
        f"{COMPACTED_MARK}only the first {MAX_CUT} of {len(content)} characters that {_describe_call(call)} gave; ask "
        f"for less at once.)\n{content[:MAX_CUT]}\n"
    )


def _describe_call(call: ToolCall) -> str:
    return f"`{call.name} {_short(call.arguments, MAX_ARGUMENTS)}`"


def _describe_round(unit: Sequence[Message]) -> list[str]:
    """Return one line for the text of a round, and one line for each call."""
    head, *results = unit
    lines = [f"- {head.role}: {_short(head.content, MAX_QUESTION)}"] if head.content else []
    for call, result in zip(head.tool_calls, results, strict=False):
        lines.append(
            f"- You called {_describe_call(call)}: {_short(result.content, MAX_ARGUMENTS)}"
        )
    return lines


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
