"""A model that is shown the files of a change one after the other, in one conversation.

A model of one or two thousand million parameters that is shown three files changes the first one.
Shown one at a time, with the changes that it has made before, it changes each of them.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from stet.agent.small.block_model import NOTHING_CHANGED, PROPOSED, BlockModel
from stet.agent.small.name_uses import NameUses
from stet.agent.small.shown_lines import file_text
from stet.llm.completion_stream import new_call_id
from stet.llm.model import (
    Completion,
    Message,
    ModelWrapper,
    Request,
    Sink,
    StopReason,
    ToolCall,
    ignore,
)
from stet.tools.tool import ToolContext

FIRST = "Change {file} first."
FURTHER = "Now change {file} for the same request."


class FileByFileModel(ModelWrapper):
    """A model that is asked for one file in each round.

    Its answer has the calls that edit the file, then the call that reads the next file.

    Args:
        block_model: Makes the model whose blocks may be about one file, or about all for None.
        ctx: The context of the turn.
        files: The files, that of the question first.
    """

    def __init__(
        self,
        block_model: Callable[[str | None], BlockModel],
        ctx: ToolContext,
        files: Sequence[NameUses],
    ) -> None:
        super().__init__(block_model(None))
        self._block_model = block_model
        self._ctx = ctx
        self._files = list(files)
        self._next = 0
        self._conversation: list[Message] = []
        self._changed: list[str] = []

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:
        """Ask for the next file; see `Model.complete`.

        Raises:
            ModelError: As the inner model does.
        """
        if self._next == len(self._files):  # the last edits failed
            return await self.inner.complete(request, on_text, on_wait)
        uses = self._files[self._next]
        self._ctx.proposer.untrusted.add("the context of your question", uses.document.text)
        conversation = [*self._conversation, *self._unseen(request.messages)]
        if self._next:
            conversation.append(Message("user", _question(uses, FURTHER.format(file=uses.name))))
        model = self._block_model(uses.name)
        # The prose around the blocks of each file says nothing to the user.
        answered = await model.complete(
            replace(request, messages=tuple(conversation)), ignore, on_wait
        )
        if answered.stop_reason not in (StopReason.TOOL_CALLS, StopReason.STOP):
            return answered
        edits = tuple(call for call in answered.tool_calls if call.name != "done")
        self._conversation = [*conversation, Message("assistant", answered.text, tool_calls=edits)]
        self._next += 1
        self._changed += [uses.name] if edits else []
        calls = (*edits, self._next_call())
        return replace(answered, text="", tool_calls=calls, stop_reason=StopReason.TOOL_CALLS)

    def _unseen(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages of the system and the user that are not in the conversation yet.

        The user may write during the turn. Results of calls are left out.
        """
        seen = {one.content for one in self._conversation}
        return [
            one for one in messages if one.role in ("system", "user") and one.content not in seen
        ]

    def _next_call(self) -> ToolCall:
        """Return the call that reads the next file, or that ends the turn."""
        if self._next < len(self._files):
            uses = self._files[self._next]
            arguments: dict[str, object] = {"file": uses.name}
            if uses.pieces != ((0, uses.document.n_lines),):
                arguments |= {"start_line": uses.pieces[0][0] + 1, "end_line": uses.pieces[-1][1]}
            return ToolCall(new_call_id(), "read_file", json.dumps(arguments, ensure_ascii=False))
        names = ", ".join(self._changed)
        summary = PROPOSED.format(files=names) if names else NOTHING_CHANGED
        return ToolCall(new_call_id(), "done", json.dumps({"summary": summary}, ensure_ascii=False))


def first_question(request: str, uses: NameUses) -> str:
    """Return the first message of the user: the first file and the request."""
    return _question(uses, f"{request}\n\n{FIRST.format(file=uses.name)}")


def _question(uses: NameUses, request: str) -> str:
    """Return the message that shows lines of a file and asks for their change."""
    shown = (file_text(uses.name, uses.document, piece) for piece in uses.pieces)
    return "\n\n".join((*shown, request))
