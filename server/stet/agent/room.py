"""Keeps a turn's conversation within what the model can read and the user allows."""

from dataclasses import dataclass

from stet.agent.compaction import (
    Talk,
    as_text,
    cut_down,
    digest,
    lightened,
    old_part,
    with_summary,
)
from stet.agent.files_at_work import files_at_work
from stet.agent.history import Prompt
from stet.agent.limits import LEAST_ANSWER, Limits
from stet.agent.prompts import prompt as prompt_file
from stet.context.context_tags import element
from stet.llm.errors import ModelError
from stet.llm.messages import Completion, Message, StopReason, Usage
from stet.llm.model import Model, Request, ignore
from stet.llm.tokens import CHARACTERS_PER_TOKEN, estimate_prompt
from stet.settings.values import Settings
from stet.tools.tool_context import ToolContext

ROUNDS = 5
"""How many rounds a turn must be able to pay, by what it sends at its beginning."""
NEAR = 0.85
"""The part of a limit from which on room is made."""
AFTER = 0.6
"""The part of a limit that is taken when room has been made."""
WORTH = 0.1
"""The part of a conversation that must be saved for its beginning to be changed."""
ANSWER = 0.125
"""The part of a window that is kept for the answer."""
SUMMARY_TOKENS = 1000
LEAST_WINDOW = 2000
"""Tokens: whatever model it is, a summary may be asked of this much."""
_REFUSALS = (StopReason.REFUSED, StopReason.FILTERED)


def room_for_history(settings: Settings, window: int | None, others: int) -> int:
    """Tokens that earlier turns may take of a turn's first request, where `others` take the rest.

    By what the model can read (`window`, if known), by what may be sent without asking, and by
    `agent.maxTokens`, which every round of the turn takes from.
    """
    most = min(settings.agent.max_tokens // ROUNDS, int(NEAR * settings.context.warn_tokens))
    if window is not None:
        most = min(most, int(NEAR * readable(window)))
    return max(0, most - others)


def readable(window: int) -> int:
    """Tokens of a request that a window has room for, beside the answer."""
    return int(window * (1 - ANSWER))


@dataclass(slots=True)
class Room:
    """Makes room in one turn's conversation.

    Attributes:
        model: Is asked for a summary.
        prompt: What is sent.
        limits: Of the turn.
        ctx: Shows files that are being edited.
        has_paid: Whether room was made for `agent.maxTokens`, which is done once.
    """

    model: Model
    prompt: Prompt
    limits: Limits
    ctx: ToolContext
    has_paid: bool = False

    async def keep(self, messages: list[Message], tokens: int, spent: int) -> Usage | None:  # noqa: ARG002  of the port
        """Make room where the next request, of about `tokens`, comes near a limit.

        Gives what that took; None if nothing was changed.
        """
        window = self.model.context_tokens
        if window is not None and tokens > NEAR * readable(window):
            return await self._shorten(AFTER * readable(window) / tokens, window)
        if self.has_paid or spent + 2 * (tokens + LEAST_ANSWER) <= self.limits.tokens or not spent:
            return None
        self.has_paid = True
        # A summary would take from what is short already.
        talk = Talk(self.prompt.history, self.prompt.own)
        light = lightened(talk, talk.tokens // 2)
        saved = tokens * (1 - light.tokens / talk.tokens)
        if spent + 2 * (tokens - saved + LEAST_ANSWER) > self.limits.tokens:
            return None
        return Usage() if await self._take(talk, light) else None

    async def make(self, messages: list[Message]) -> Usage | None:
        """Make room in a conversation that the model has refused as too long.

        Gives what that took; None if nothing could be made shorter.
        """
        return await self._shorten(0.5, self.model.context_tokens or estimate_prompt(messages))

    async def _shorten(self, part: float, window: int) -> Usage | None:
        """Bring the conversation down to `part` of what it is."""
        talk = Talk(self.prompt.history, self.prompt.own)
        wanted = int(part * talk.tokens)
        short, used = lightened(talk, wanted), Usage()
        if short.tokens > wanted:
            short, used = await self._summed_up(short, wanted, window)
        for kept_rounds in (1, 0):
            if short.tokens > wanted:
                short = lightened(short, wanted, 1) if kept_rounds else cut_down(short)
        return used if await self._take(talk, short) or used.total else None

    async def _summed_up(self, talk: Talk, wanted: int, window: int) -> tuple[Talk, Usage]:
        """A summary in the place of the oldest part, the model's own if it gives one."""
        told, rest = old_part(talk, wanted)
        if not told.history and not told.own:
            return talk, Usage()
        # The request must fit where the conversation did not.
        most = max(LEAST_WINDOW, readable(window) // 2) * CHARACTERS_PER_TOKEN
        material = element("conversation", as_text(told, most))
        request = Request(
            (Message("system", prompt_file("summary")), Message("user", material)),
            max_tokens=SUMMARY_TOKENS,
            ceiling=2 * SUMMARY_TOKENS,
        )
        try:
            answer = await self.model.complete(request, ignore)
        except ModelError:
            answer = Completion("")
        said = "" if answer.stop_reason in _REFUSALS else answer.text.strip()
        shorter = with_summary(told, rest, said or digest(told))
        return (shorter if shorter.tokens < talk.tokens else talk), answer.usage

    async def _take(self, talk: Talk, short: Talk) -> bool:
        """Send `short` from now on, if that is worth it, and show afresh what is being edited."""
        if short.tokens > (1 - WORTH) * talk.tokens:
            return False
        own = list(short.own)
        room = (talk.tokens - short.tokens) // 2 * CHARACTERS_PER_TOKEN
        if len(own) > 1 and (fresh := await files_at_work(self.ctx, room)):
            own.append(Message("user", fresh))
        self.prompt.become(short.history, own)
        return True
