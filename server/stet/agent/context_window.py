"""Keeps a turn's conversation within what the model can read and the user allows."""

from dataclasses import dataclass

from stet.agent.compaction import (
    COMPACTED_MARK,
    Conversation,
    conversation_text,
    digest,
    drop_tool_results,
    split_prefix,
    truncate_results,
    with_summary,
)
from stet.agent.limits import MIN_ANSWER_TOKENS, Limits
from stet.agent.prompts import prompt as prompt_file
from stet.agent.turn_history import Prompt
from stet.context.context_values import element, escape_tags, single_line
from stet.llm.model import (
    CHARACTERS_PER_TOKEN,
    Completion,
    Message,
    Model,
    ModelError,
    Request,
    StopReason,
    Usage,
    estimate_prompt,
    ignore,
)
from stet.review.proposal import OPEN
from stet.settings.values import Settings
from stet.tools.read_file import READ_FILE, ReadFile
from stet.tools.tool_context import ToolContext
from stet.tools.tool_errors import ToolError

MAX_FILES = 5
HEADING = (
    f"{COMPACTED_MARK}earlier parts of this conversation, to make room. The files that are being edited, as "
    "they are now:)"
)


async def edited_file_texts(ctx: ToolContext, most: int) -> str:
    """Return the files that the turn has edited or has pending, numbered like `read_file`. Return
    "" if there are none.

    A file that would take the text beyond `most` characters is named only.
    """
    hunks = ctx.ledger.hunks(chat=ctx.chat)
    uris = [hunk.uri for hunk in hunks if hunk.state in OPEN or hunk.turn == ctx.turn]
    snapshot = ctx.snapshot()
    parts = []
    for uri in list(dict.fromkeys(reversed(uris)))[:MAX_FILES]:
        name = snapshot.name_of(uri)
        try:
            text = escape_tags(await READ_FILE.run(ReadFile(file=name), ctx))
        except ToolError:
            continue  # gone, or not to be shown any more
        shown = single_line(name)
        if len(text) > most:
            parts.append(f"{shown}: too long to stand here. Read it before you edit it again.")
            continue
        most -= len(text)
        parts.append(f"{shown}:\n{text}")
    return "\n".join([HEADING, *parts]) if parts else ""


MIN_AFFORDABLE_ROUNDS = 5
"""How many rounds a turn must be able to pay, by what it sends at its beginning."""
COMPACT_ABOVE = 0.85
"""The part of a limit from which on room is made."""
COMPACT_TO = 0.6
"""The part of a limit that is taken when room has been made."""
MIN_SAVING = 0.1
"""The part of a conversation that must be saved for its beginning to be changed."""
ANSWER_SHARE = 0.125
"""The part of a window that is kept for the answer."""
SUMMARY_TOKENS = 1000
MIN_WINDOW = 2000
"""Tokens: whatever model it is, a summary may be asked of this much."""
_REFUSALS = (StopReason.REFUSED, StopReason.FILTERED)


def history_budget(settings: Settings, window: int | None, others: int) -> int:
    """Tokens that earlier turns may take of a turn's first request, where `others` take the rest.

    By what the model can read (`window`, if known), by what may be sent without asking, and by
    `agent.maxTokens`, which every round of the turn takes from.
    """
    most = min(
        settings.agent.max_tokens // MIN_AFFORDABLE_ROUNDS,
        int(COMPACT_ABOVE * settings.context.warn_tokens),
    )
    if window is not None:
        most = min(most, int(COMPACT_ABOVE * request_budget(window)))
    return max(0, most - others)


def request_budget(window: int) -> int:
    """Tokens of a request that a window has room for, beside the answer."""
    return int(window * (1 - ANSWER_SHARE))


@dataclass(slots=True)
class ContextWindow:
    """Makes room in one turn's conversation.

    Attributes:
        model: Is asked for a summary.
        prompt: What is sent.
        limits: Of the turn.
        ctx: Shows files that are being edited.
        has_compacted_for_budget: Whether room was made for `agent.maxTokens`, which is done once.
    """

    model: Model
    prompt: Prompt
    limits: Limits
    ctx: ToolContext
    has_compacted_for_budget: bool = False

    async def compact_early(self, messages: list[Message], tokens: int, spent: int) -> Usage | None:  # noqa: ARG002  of the port
        """Make room where the next request, of about `tokens`, comes near a limit.

        Gives what that took; None if nothing was changed.
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
        # A summary would take from what is short already.
        conversation = Conversation(self.prompt.history, self.prompt.current_turn)
        light = drop_tool_results(conversation, conversation.tokens // 2)
        saved = tokens * (1 - light.tokens / conversation.tokens)
        if spent + 2 * (tokens - saved + MIN_ANSWER_TOKENS) > self.limits.tokens:
            return None
        return Usage() if await self._apply_if_shorter(conversation, light) else None

    async def compact(self, messages: list[Message]) -> Usage | None:
        """Make room in a conversation that the model has refused as too long.

        Gives what that took; None if nothing could be made shorter.
        """
        return await self._compact_to(0.5, self.model.context_tokens or estimate_prompt(messages))

    async def _compact_to(self, part: float, window: int) -> Usage | None:
        """Bring the conversation down to `part` of what it is."""
        conversation = Conversation(self.prompt.history, self.prompt.current_turn)
        target = int(part * conversation.tokens)
        short, used = drop_tool_results(conversation, target), Usage()
        if short.tokens > target:
            short, used = await self._summarize_prefix(short, target, window)
        for n_recent_rounds in (1, 0):
            if short.tokens > target:
                short = (
                    drop_tool_results(short, target, 1)
                    if n_recent_rounds
                    else truncate_results(short)
                )
        return used if await self._apply_if_shorter(conversation, short) or used.total else None

    async def _summarize_prefix(
        self, conversation: Conversation, target: int, window: int
    ) -> tuple[Conversation, Usage]:
        """Replace the oldest part with a summary, the model's own if the model gives a summary."""
        prefix, rest = split_prefix(conversation, target)
        if not prefix.history and not prefix.current_turn:
            return conversation, Usage()
        # The request must fit where the conversation did not.
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
        """Send `short` from now on, if that is worth it, and show afresh what is being edited."""
        if short.tokens > (1 - MIN_SAVING) * conversation.tokens:
            return False
        current_turn = list(short.current_turn)
        room = (conversation.tokens - short.tokens) // 2 * CHARACTERS_PER_TOKEN
        if len(current_turn) > 1 and (fresh := await edited_file_texts(self.ctx, room)):
            current_turn.append(Message("user", fresh))
        self.prompt.replace(short.history, current_turn)
        return True
