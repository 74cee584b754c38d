"""Compaction: keep a conversation within the model's context window and the user's limits.

A conversation is shortened in this order, the oldest parts first: tool results and old states of
the editor are replaced by a placeholder that names the call to repeat; turns are reduced to
question and answer; the oldest turns become a digest. Calls and their results stay together, and
each shortened part says that it is shortened. The functions that shorten are pure.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from stet.agent.limits import MIN_ANSWER_TOKENS, Limits
from stet.agent.prompts import prompt as prompt_file
from stet.agent.turn_history import Exchange, Prompt, flatten, message_groups
from stet.context.context_values import element, escape_tags, single_line
from stet.llm.model import (
    CHARACTERS_PER_TOKEN,
    Completion,
    Message,
    Model,
    ModelError,
    Request,
    StopReason,
    ToolCall,
    Usage,
    estimate_prompt,
    ignore,
)
from stet.review.proposal import OPEN
from stet.settings.values import Settings
from stet.tools.read_file import READ_FILE, ReadFile
from stet.tools.tool import ToolContext
from stet.tools.tool_errors import ToolError

COMPACTED_MARK = "(Compacted: "
"""The beginning of every placeholder for a longer text."""
MIN_RESULT = 400
"""Results longer than this, in characters, are replaced."""
MAX_CUT = 2000
"""Characters of a result that stay if it is truncated instead of replaced."""
MAX_ARGUMENTS = 200
MAX_QUESTION = 300
"""The most characters of a question, and of an answer, in a digest."""
MAX_DIGEST = 6000
"""The most characters of a digest."""
SUMMARY_QUESTION = "What has been said and done until now?"
CONTINUE_PROMPT = "Go on from there."
RECENT_ROUNDS = 2
"""The number of a turn's last rounds whose results are shortened last."""

_DATA = re.compile(r"<additional_data>.*</additional_data>\n?", re.DOTALL)
_OLD_EDITOR_STATE = f"{COMPACTED_MARK}what the editor showed then. `get_attached_context` gives what it shows now.)\n"

Shorten = Callable[[ToolCall, str], str]
"""Returns the text that replaces a result."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A chat as it is sent: earlier turns, and the messages of the running turn, question first."""

    history: tuple[Exchange, ...]
    current_turn: tuple[Message, ...] = ()

    @property
    def tokens(self) -> int:
        """The estimated number of tokens."""
        return estimate_prompt(flatten(self.history)) + estimate_prompt(self.current_turn)


def fit_history(history: Sequence[Exchange], budget: int) -> tuple[Exchange, ...]:
    """Return earlier turns in at most `budget` tokens, unchanged if they already fit.

    Otherwise they are shortened to half of `budget`, so that the next turn need not do it again.
    """
    conversation = Conversation(tuple(history))
    if conversation.tokens <= budget:
        return conversation.history
    target = max(0, budget // 2)
    conversation = drop_tool_results(conversation, target)
    for n, exchange in enumerate(conversation.history):
        if conversation.tokens <= target:
            return conversation.history
        history = conversation.history
        conversation = Conversation((*history[:n], exchange.shortened(), *history[n + 1 :]))
    condensed = fitted = conversation.history
    for n_merged in range(2, len(condensed) + 1):
        if Conversation(fitted).tokens <= target:
            break
        fitted = (summarize_history(condensed[:n_merged]), *condensed[n_merged:])
    return fitted


def drop_tool_results(
    conversation: Conversation, target: int, n_recent_rounds: int = RECENT_ROUNDS
) -> Conversation:
    """Replace results by placeholders, oldest first, until at most `target` tokens are left.

    The last `n_recent_rounds` rounds of the running turn keep their results.
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
    return Conversation(tuple(history), tuple(chain.from_iterable(groups)))


def truncate_results(conversation: Conversation) -> Conversation:
    """Truncate all results, also the latest, to their beginnings. This is the last resort."""
    groups = message_groups(conversation.current_turn)
    return Conversation(conversation.history, _shorten_groups(groups, _truncated))


def split_prefix(conversation: Conversation, target: int) -> tuple[Conversation, Conversation]:
    """Return the part of a conversation to summarize, and the part that stays.

    The first part has all earlier turns and, if that is not enough, the older rounds of the running
    turn.
    """
    prefix, rest = Conversation(conversation.history), Conversation((), conversation.current_turn)
    groups = message_groups(conversation.current_turn)
    n_before_recent = _first_recent(groups, RECENT_ROUNDS)
    if rest.tokens <= target or n_before_recent < 2:
        return prefix, rest
    old = tuple(chain.from_iterable(groups[1:n_before_recent]))
    recent = tuple(chain(groups[0], *groups[n_before_recent:]))
    return Conversation(conversation.history, old), Conversation((), recent)


def with_summary(prefix: Conversation, rest: Conversation, summary: str) -> Conversation:
    """Return `rest` with a summary of the missing part. The summary is an assistant message.

    A summary may repeat text of a file or a page, so it must not look like a user message.
    """
    marked = f"{COMPACTED_MARK}this sums up what stood here.)\n{summary}"
    if not prefix.current_turn:
        return Conversation((_summary_exchange(marked, prefix.history),), rest.current_turn)
    between = (Message("assistant", marked), Message("user", CONTINUE_PROMPT))
    history = (summarize_history(prefix.history),) if prefix.history else ()
    return Conversation(history, (rest.current_turn[0], *between, *rest.current_turn[1:]))


def summarize_history(history: Sequence[Exchange]) -> Exchange:
    """Return several turns as one, by a digest."""
    return _summary_exchange(
        f"{COMPACTED_MARK}{len(history)} earlier turns, in short.)\n{digest(Conversation(tuple(history)))}",
        history,
    )


def digest(conversation: Conversation) -> str:
    """Return the questions and their outcomes, without asking a model."""
    lines = []
    for exchange in conversation.history:
        if exchange.record is None:
            lines.append(exchange.answer)
            continue
        question, answer = (
            _short(text, MAX_QUESTION) for text in (exchange.question, exchange.answer)
        )
        lines += [
            f"- The user asked: {question}",
            f"  You answered: {answer}",
            exchange.record.text,
        ]
    for unit in message_groups(conversation.current_turn):
        lines += _describe_round(unit)
    middle = f"{COMPACTED_MARK}the middle is left out.)"
    return _without_middle("\n".join(lines), MAX_DIGEST, middle)


def conversation_text(conversation: Conversation, most: int) -> str:
    """Return the conversation as plain text of about `most` characters, without its middle.

    Arguments and results are truncated.
    """
    lines = []
    for unit in message_groups((*flatten(conversation.history), *conversation.current_turn)):
        head = unit[0]
        if head.content:
            lines.append(f"{head.role}: {head.content}")
        for call, result in zip(head.tool_calls, unit[1:], strict=False):
            lines.append(f"call: {call.name} {call.arguments[:MAX_CUT]}")
            lines.append(f"result: {result.content[:MAX_CUT]}")
    return _without_middle("\n".join(lines), most, "(The middle is left out.)")


def _without_middle(text: str, most: int, note: str) -> str:
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}\n{note}\n{text[len(text) - half :]}"


def _summary_exchange(text: str, history: Sequence[Exchange]) -> Exchange:
    n_messages = min(2, sum(one.n_messages for one in history)) or 2
    return Exchange.condensed(SUMMARY_QUESTION, text, None, n_messages)


def _drop_exchange_results(exchange: Exchange) -> Exchange:
    """Return an earlier turn with placeholders for results and for the state of the editor."""
    first, *others = _shorten_groups(message_groups(exchange.messages), _placeholder)
    shortened = _DATA.sub(_OLD_EDITOR_STATE, first.content)
    if len(shortened) < len(first.content):
        first = replace(first, content=shortened)
    return replace(exchange, messages=(first, *others))


def _first_recent(groups: Sequence[tuple[Message, ...]], n_recent_rounds: int) -> int:
    """Return the index of the first group of the last rounds; never that of the question."""
    rounds = [n for n, unit in enumerate(groups) if unit[0].role == "assistant"]
    return rounds[-n_recent_rounds] if len(rounds) > n_recent_rounds else min(1, len(groups))


def _shorten_groups(groups: Iterable[tuple[Message, ...]], shorten: Shorten) -> tuple[Message, ...]:
    return tuple(chain.from_iterable(_shorten_results(unit, shorten) for unit in groups))


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
    return lines + [
        f"- You called {_describe_call(call)}: {_short(result.content, MAX_ARGUMENTS)}"
        for call, result in zip(head.tool_calls, results, strict=False)
    ]


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


MAX_FILES = 5
HEADING = (
    f"{COMPACTED_MARK}earlier parts of this conversation, to make room. The files that are being edited, as "
    "they are now:)"
)


async def edited_file_texts(ctx: ToolContext, most: int) -> str:
    """Return the files that the turn has edited or has pending, numbered like `read_file`.

    Return "" if there are no such files. A file that would make the text longer than `most`
    characters is only named.
    """
    hunks = ctx.reader.ledger.hunks(chat=ctx.reader.turn.chat)
    uris = [hunk.uri for hunk in hunks if hunk.state in OPEN or hunk.turn == ctx.reader.turn.id]
    snapshot = ctx.reader.snapshot()
    parts = []
    for uri in list(dict.fromkeys(reversed(uris)))[:MAX_FILES]:
        name = snapshot.name_of(uri)
        try:
            text = escape_tags(await READ_FILE.run(ReadFile(file=name), ctx))
        except ToolError:
            continue  # the file was deleted, or may not be shown any more
        shown = single_line(name)
        if len(text) > most:
            parts.append(f"{shown}: too long to include here. Read it before you edit it again.")
            continue
        most -= len(text)
        parts.append(f"{shown}:\n{text}")
    return "\n".join([HEADING, *parts]) if parts else ""


MIN_AFFORDABLE_ROUNDS = 5
"""The first request may take at most `agent.maxTokens` divided by this number."""
COMPACT_ABOVE = 0.85
"""The share of a limit above which the conversation is compacted."""
COMPACT_TO = 0.6
"""The share of a limit that is left after compaction."""
MIN_SAVING = 0.1
"""The share of a conversation that a compaction must save to be applied."""
ANSWER_SHARE = 0.125
"""The share of a window that is reserved for the answer."""
SUMMARY_TOKENS = 1000
MIN_WINDOW = 2000
"""The text to summarize may have at least this many tokens, however small the window is."""
_REFUSALS = (StopReason.REFUSED, StopReason.FILTERED)


def history_budget(settings: Settings, window: int | None, others: int) -> int:
    """Return the most tokens of earlier turns in a turn's first request.

    The bounds are `agent.maxTokens`, which all rounds share, `context.warnTokens` and `window`.

    Args:
        settings: The user's settings.
        window: The tokens that the model can read, if known.
        others: The tokens of the rest of the request.
    """
    most = min(
        settings.agent.max_tokens // MIN_AFFORDABLE_ROUNDS,
        int(COMPACT_ABOVE * settings.context.warn_tokens),
    )
    if window is not None:
        most = min(most, int(COMPACT_ABOVE * request_budget(window)))
    return max(0, most - others)


def request_budget(window: int) -> int:
    """Return the tokens of a window that a request may take, without those of the answer."""
    return int(window * (1 - ANSWER_SHARE))


@dataclass(slots=True)
class ContextWindow:
    """The compaction of one turn's conversation.

    Attributes:
        model: The model that writes summaries.
        prompt: The messages of the turn.
        limits: The limits of the turn.
        ctx: Reads the files that are being edited.
        has_compacted_for_budget: Whether there was a compaction for `agent.maxTokens`; at most one.
    """

    model: Model
    prompt: Prompt
    limits: Limits
    ctx: ToolContext
    has_compacted_for_budget: bool = False

    async def compact_early(self, tokens: int, spent: int) -> Usage | None:
        """Compact the conversation if the next request, of about `tokens`, comes near a limit.

        `spent` is the number of tokens of the turn so far. Return the usage of the compaction, or
        None if nothing was changed.
        """
        window = self.model.context_tokens
        if window is not None and tokens > COMPACT_ABOVE * request_budget(window):
            return await self._compact_to(COMPACT_TO * request_budget(window) / tokens, window)
        if (
            self.has_compacted_for_budget
            or spent + 2 * (tokens + MIN_ANSWER_TOKENS) <= self.limits.tokens
            or not spent
        ):
            return None
        self.has_compacted_for_budget = True
        # A summary would itself spend the tokens that are short.
        conversation = Conversation(self.prompt.history, self.prompt.current_turn)
        light = drop_tool_results(conversation, conversation.tokens // 2)
        saved = tokens * (1 - light.tokens / conversation.tokens)
        if spent + 2 * (tokens - saved + MIN_ANSWER_TOKENS) > self.limits.tokens:
            return None
        return Usage() if await self._apply_if_shorter(conversation, light) else None

    async def compact(self) -> Usage | None:
        """Compact a conversation that the model has refused as too long.

        Return the usage of the compaction, or None if nothing could be shortened.
        """
        window = self.model.context_tokens or estimate_prompt(self.prompt.messages)
        return await self._compact_to(0.5, window)

    async def _compact_to(self, part: float, window: int) -> Usage | None:
        """Shorten the conversation to the share `part` of its tokens."""
        conversation = Conversation(self.prompt.history, self.prompt.current_turn)
        target = int(part * conversation.tokens)
        short, used = drop_tool_results(conversation, target), Usage()
        if short.tokens > target:
            short, used = await self._summarize_prefix(short, target, window)
        if short.tokens > target:
            short = drop_tool_results(short, target, 1)
        if short.tokens > target:
            short = truncate_results(short)
        return used if await self._apply_if_shorter(conversation, short) or used.total else None

    async def _summarize_prefix(
        self, conversation: Conversation, target: int, window: int
    ) -> tuple[Conversation, Usage]:
        """Replace the oldest part with a summary, by the model if the model returns one."""
        prefix, rest = split_prefix(conversation, target)
        if not prefix.history and not prefix.current_turn:
            return conversation, Usage()
        # The request must fit into the window, and the conversation did not.
        most = max(MIN_WINDOW, request_budget(window) // 2) * CHARACTERS_PER_TOKEN
        material = element("conversation", conversation_text(prefix, most))
        request = Request(
            (Message("system", prompt_file("summary")), Message("user", material)),
            max_tokens=SUMMARY_TOKENS,
            ceiling=2 * SUMMARY_TOKENS,
        )
        try:
            answer = await self.model.complete(request, ignore)
        except ModelError:
            answer = Completion("")
        summary = "" if answer.stop_reason in _REFUSALS else answer.text.strip()
        shorter = with_summary(prefix, rest, summary or digest(prefix))
        return (shorter if shorter.tokens < conversation.tokens else conversation), answer.usage

    async def _apply_if_shorter(self, conversation: Conversation, short: Conversation) -> bool:
        """Replace the conversation by `short`, with the edited files, if this saves enough."""
        if short.tokens > (1 - MIN_SAVING) * conversation.tokens:
            return False
        current_turn = list(short.current_turn)
        room = (conversation.tokens - short.tokens) // 2 * CHARACTERS_PER_TOKEN
        if len(current_turn) > 1 and (fresh := await edited_file_texts(self.ctx, room)):
            current_turn.append(Message("user", fresh))
        self.prompt.replace(short.history, current_turn)
        return True
