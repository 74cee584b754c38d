"""A small model as the loop sees it: each of its rounds is put into a form it can manage."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stet.agent.small.call_grammar import AllowedCalls, grammar, parse, render
from stet.agent.small.quotable_lines import LineWindow, find_quotes, window
from stet.agent.small.worked_example import PROPOSED, extract_request
from stet.llm.messages import Completion, Message, StopReason
from stet.llm.model import Model, Request, Sink, ignore
from stet.llm.model_wrapper import ModelWrapper
from stet.llm.text_tool_calls import escape_tags
from stet.text.document import TextDocument
from stet.text.special_tokens import escape_special_tokens
from stet.tools.tool_context import ToolContext

_NUMBER = re.compile(r"^ *(?:[0-9]{1,9}|[a-z][0-9]{1,9}\+)\t", re.MULTILINE)

_PROPOSED_PREFIX = "Proposed "
"""How `edit_file` begins when it has proposed something."""


class GrammarConstrainedModel(ModelWrapper):
    """Asks a model in short words, under a grammar of calls.

    Args:
        inner: The model, one that obeys a grammar (`Model.constrained`).
        ctx: Of the turn: what has been read and proposed stands there.
        files: What it may read, by the name that it knows.
        line: The first line that the user has selected in the first of them, 0-based, if any is.
        request_text: What the user asks.
    """

    def __init__(
        self,
        inner: Model,
        ctx: ToolContext,
        files: Mapping[str, TextDocument],
        line: int | None,
        request_text: str,
    ) -> None:
        super().__init__(inner)
        self._ctx = ctx
        self._files = files
        self._line = line
        self._request = request_text

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:  # noqa: ARG002  it says nothing
        """Ask for one call; see `Model.complete`. The tools of the request say which may be called.

        Raises:
            ModelError: As the inner model does.
        """
        allowed = self._allowed_calls({tool.name for tool in request.tools}, request.messages)
        grammar_request = replace(
            request,
            messages=tuple(to_plain_messages(request.messages)),
            tools=(),
            grammar=grammar(allowed),
        )
        answered = await self.inner.complete(grammar_request, ignore, on_wait)
        call = parse(answered.text, self._summary())
        if call is None:
            return replace(answered, text="")
        return replace(answered, text="", tool_calls=(call,), stop_reason=StopReason.TOOL_CALLS)

    def _allowed_calls(self, tools: set[str], messages: Sequence[Message]) -> AllowedCalls:
        """Return the calls allowed now: offered tools and existing files. No file is read twice."""
        # A line with a secret or a control token can't be quoted: the grammar would tell it.
        redact = self._ctx.workspace.redactor.redact

        def is_quotable(text: str) -> bool:
            return not redact(text).kinds and escape_special_tokens(text) == text

        windows = {name: self._window(name) for name in self._files}
        read = self._ctx.files_read
        readable = {name: shown for name, shown in windows.items() if name not in read}
        quoted = set(_quoted(messages))
        editable = {
            name: [
                quote
                for quote in find_quotes(shown)
                if (name, quote.text) not in quoted and is_quotable(quote.text)
            ]
            for name, shown in windows.items()
            if name in read
        }
        return AllowedCalls(
            readable if "read_file" in tools else {}, editable if "edit_file" in tools else {}
        )

    def _window(self, name: str) -> LineWindow:
        document = self._files[name]
        is_first = name == next(iter(self._files))
        latest = self._ctx.last_shown(document.uri) or document
        return window(latest, self._line if is_first else None, self._request)

    def _summary(self) -> str:
        """Return the outcome of the turn for the user. A small model cannot be trusted to state the
        outcome.
        """
        proposals = self._ctx.ledger.proposals(self._ctx.turn)
        n_hunks = sum(len(proposal.hunks) for proposal in proposals)
        if not n_hunks:
            return "The small model looked and proposed nothing. Say more precisely what to change."
        return f"Proposed {n_hunks} hunk{'s' if n_hunks != 1 else ''}: check whether that is meant."


def to_plain_messages(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield a conversation with calls and results as text, user and assistant alternating.

    Files stand there without line numbers, and behind each what the user has said: a small model
    follows what it has read last.
    """
    names = {call.id: call.name for one in messages for call in one.tool_calls}
    request = ""
    user_parts: list[str] = []
    for message in messages:
        if message.role == "user":
            request = extract_request(message.content)
            user_parts.append(message.content)
        elif message.role == "tool":
            user_parts.append(_result(message.content, names.get(message.tool_call_id), request))
        else:
            if user_parts:
                yield Message("user", "\n".join(user_parts))
                user_parts.clear()
            calls = "".join(map(render, message.tool_calls))
            yield replace(message, content=message.content + calls, tool_calls=())
    if user_parts:
        yield Message("user", "\n".join(user_parts))


def _result(text: str, name: str | None, request: str) -> str:
    """Return the result of a call, in as few words as in the worked example."""
    suffix = ""
    if name == "read_file":
        text, suffix = _NUMBER.sub("", text), f"\n{request}"
    elif text.startswith(_PROPOSED_PREFIX):
        text = PROPOSED
    return f"<tool_result>\n{escape_tags(text)}</tool_result>{suffix}"


def _quoted(messages: Sequence[Message]) -> Iterator[tuple[object, object]]:
    """File and old text of every edit so far: no line is changed twice in a turn."""
    for message in messages:
        for call in message.tool_calls:
            if call.name == "edit_file":
                arguments = json.loads(call.arguments)
                yield arguments["file"], arguments["old_text"]
