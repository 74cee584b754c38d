"""A small model as the loop sees it: each of its rounds is put into a form it can manage."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stet.agent.small.examples import PROPOSED, asked_in
from stet.agent.small.form import Calls, grammar, parse, render
from stet.agent.small.quotes import Window, quotes, window
from stet.llm.messages import Completion, Message, StopReason
from stet.llm.model import Model, Request, Sink, ignore
from stet.llm.model_wrapper import ModelWrapper
from stet.llm.text_tool_calls import escape_tags
from stet.text.document import TextDocument
from stet.text.special_tokens import escape_special_tokens
from stet.tools.tool_context import ToolContext

_NUMBER = re.compile(r"^ *(?:[0-9]{1,9}|[a-z][0-9]{1,9}\+)\t", re.MULTILINE)

_PROPOSED = "Proposed "
"""How `edit_file` begins when it has proposed something."""


class LedModel(ModelWrapper):
    """Asks a model in short words, under a grammar of calls.

    Args:
        inner: The model, one that obeys a grammar (`Model.constrained`).
        ctx: Of the turn: what has been read and proposed stands there.
        files: What it may read, by the name that it knows.
        line: The first line that the user has selected in the first of them, 0-based, if any is.
        wish: What the user asks.
    """

    def __init__(
        self,
        inner: Model,
        ctx: ToolContext,
        files: Mapping[str, TextDocument],
        line: int | None,
        wish: str,
    ) -> None:
        super().__init__(inner)
        self._ctx = ctx
        self._files = files
        self._line = line
        self._wish = wish

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:  # noqa: ARG002  it says nothing
        """Ask for one call; see `Model.complete`. The tools of the request say which may be called.

        Raises:
            ModelError: As the inner model does.
        """
        allowed = self._calls({tool.name for tool in request.tools}, request.messages)
        asked = replace(
            request, messages=tuple(in_lines(request.messages)), tools=(), grammar=grammar(allowed)
        )
        answered = await self.inner.complete(asked, ignore, on_wait)
        call = parse(answered.text, self._summary())
        if call is None:
            return replace(answered, text="")
        return replace(answered, text="", tool_calls=(call,), stop_reason=StopReason.TOOL_CALLS)

    def _calls(self, tools: set[str], messages: Sequence[Message]) -> Calls:
        """What may be called now: what is on offer, of what is there. No file is read twice."""
        # A line with a secret or a control token can't be quoted: the grammar would tell it.
        redact = self._ctx.workspace.redactor.redact

        def may_be_told(text: str) -> bool:
            return not redact(text).kinds and escape_special_tokens(text) == text

        windows = {name: self._window(name) for name in self._files}
        read = self._ctx.files_read
        readable = {name: shown for name, shown in windows.items() if name not in read}
        quoted = set(_quoted(messages))
        editable = {
            name: [
                quote
                for quote in quotes(shown)
                if (name, quote.text) not in quoted and may_be_told(quote.text)
            ]
            for name, shown in windows.items()
            if name in read
        }
        return Calls(
            readable if "read_file" in tools else {}, editable if "edit_file" in tools else {}
        )

    def _window(self, name: str) -> Window:
        document = self._files[name]
        is_first = name == next(iter(self._files))
        latest = self._ctx.last_shown(document.uri) or document
        return window(latest, self._line if is_first else None, self._wish)

    def _summary(self) -> str:
        """What came of the turn, for the user: so small a model can't be trusted to say it."""
        proposals = self._ctx.ledger.proposals(self._ctx.turn)
        n_hunks = sum(len(proposal.hunks) for proposal in proposals)
        if not n_hunks:
            return "The small model looked and proposed nothing. Say more precisely what to change."
        return f"Proposed {n_hunks} hunk{'s' if n_hunks != 1 else ''}: check whether that is meant."


def in_lines(messages: Sequence[Message]) -> Iterator[Message]:
    """A conversation with calls and results as text, user and assistant in turns.

    Files stand there without line numbers, and behind each what the user has said: a small model
    follows what it has read last.
    """
    names = {call.id: call.name for one in messages for call in one.tool_calls}
    wish = ""
    said: list[str] = []
    for message in messages:
        if message.role == "user":
            wish = asked_in(message.content)
            said.append(message.content)
        elif message.role == "tool":
            said.append(_result(message.content, names.get(message.tool_call_id), wish))
        else:
            if said:
                yield Message("user", "\n".join(said))
                said.clear()
            calls = "".join(map(render, message.tool_calls))
            yield replace(message, content=message.content + calls, tool_calls=())
    if said:
        yield Message("user", "\n".join(said))


def _result(text: str, name: str | None, wish: str) -> str:
    """What a call gave, in as few words as the example has."""
    behind = ""
    if name == "read_file":
        text, behind = _NUMBER.sub("", text), f"\n{wish}"
    elif text.startswith(_PROPOSED):
        text = PROPOSED
    return f"<tool_result>\n{escape_tags(text)}</tool_result>{behind}"


def _quoted(messages: Sequence[Message]) -> Iterator[tuple[object, object]]:
    """File and old text of every edit so far: no line is changed twice in a turn."""
    for message in messages:
        for call in message.tool_calls:
            if call.name == "edit_file":
                arguments = json.loads(call.arguments)
                yield arguments["file"], arguments["old_text"]
