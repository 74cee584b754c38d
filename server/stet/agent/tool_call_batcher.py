"""The calls of one answer: those that belong together are run as one, when the first is due."""

from collections.abc import Sequence

from stet.agent.toolbox import Toolbox, ToolOutcome
from stet.llm.messages import ToolCall


class ToolCallBatcher:
    """Runs the calls of one answer of the model, in their order.

    The model wrote all of them before it saw what any of them gave. So edits of one file that it
    sent together mean the text as it was shown before, and are checked and proposed as a whole.

    Args:
        toolbox: Runs them.
        calls: All that may be run.
        last_round: Whether only what can end the turn may be called.
    """

    def __init__(
        self, toolbox: Toolbox, calls: Sequence[ToolCall], *, last_round: bool = False
    ) -> None:
        self._toolbox = toolbox
        self._calls = calls
        self._keys = [toolbox.batch_key(call) for call in calls]
        self._last_round = last_round
        self._done: dict[int, ToolOutcome] = {}

    async def run(self, n: int) -> ToolOutcome:
        """What came of call `n` (from 0)."""
        if n in self._done:
            return self._done[n]
        key = self._keys[n]
        batch = [
            k for k, other_key in enumerate(self._keys) if key is not None and other_key == key
        ]
        if len(batch) < 2:
            return await self._toolbox.run(self._calls[n], last_round=self._last_round)
        outcomes = await self._toolbox.run_batch([self._calls[k] for k in batch])
        self._done.update(zip(batch, outcomes, strict=True))
        return self._done[n]
