"""A model that gets no list of tools, and whose fenced blocks are read as edits."""

import asyncio
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from stet.agent.code_progress import CodeProgress
from stet.agent.small.block_placement import BlockPlacement, BlockTarget
from stet.agent.small.code_blocks import code_blocks
from stet.agent.small.import_merge import LineEdit
from stet.agent.toolbox import parse_arguments
from stet.agent.turn import Ask, Mode
from stet.llm.completion_stream import new_call_id
from stet.llm.model import (
    Completion,
    Message,
    Model,
    ModelWrapper,
    Request,
    Sink,
    StopReason,
    ToolCall,
    ToolDefinition,
    ignore,
)
from stet.llm.stream_gate import StreamGate
from stet.llm.written_calls import read_written_calls
from stet.text.document import TextDocument
from stet.text.render import fence_for
from stet.tools.tool import ToolContext

NOTHING_CHANGED = (
    "Nothing was proposed: the model repeated the code without a change. Say more exactly what should "
    "change, or select the lines and use rewrite."
)
PROPOSED = "Changed {files}."
MAX_SUMMARY = 100
"""The most characters of the request that are the summary of its hunks."""
_OPENING = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_SENTENCE = re.compile(r"[^\n`]{3,300}?[.!](?=\s|\Z)")
_BLANK_LINES = re.compile(r"\n\s*\n")
_RECORD = re.compile(r"<turn_record\b.*?</turn_record>\n?", re.DOTALL)


class BlockModel(ModelWrapper):
    """A model whose answers are prose and fenced blocks.

    Calls of tools that it writes nevertheless are read, too.

    Args:
        inner: The model.
        ctx: The context of the turn, with the files that were shown.
        ask: The user's question. Blocks are read as edits in the mode `agent`; in another mode they
            are part of the answer.
        on_code: Takes the number of lines of the blocks so far, and the latest line; see
            `CodeProgress`. It is called if blocks are read as edits.
        file: The name of the only file that the blocks may be about; None for all that were shown.
    """

    def __init__(
        self,
        inner: Model,
        ctx: ToolContext,
        ask: Ask,
        on_code: Callable[[int, str], None],
        file: str | None = None,
    ) -> None:
        super().__init__(inner)
        self._ctx = ctx
        self._request = ask.prompt
        self._on_code = on_code
        self._may_edit = ask.mode is Mode.AGENT
        self._file = file

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:
        """Ask; see `Model.complete`. Only text before the first block is streamed.

        Raises:
            ModelError: As the inner model does.
        """
        tools = (*request.tools, *request.others)
        messages = tuple(to_block_messages(request.messages))
        plain = replace(request, messages=messages, tools=(), others=())
        gate = _BlockGate(on_text, tools, holds_blocks=self._may_edit)
        write: Sink = gate.write
        restart = gate.restarting(on_wait)
        if self._may_edit:
            redactor = self._ctx.reader.workspace.redactor
            progress = CodeProgress(self._on_code, redactor, begins_in_code=False)
            write, restart = progress.passing_on(write), progress.restarting(restart)
        answered = await self.inner.complete(plain, write, restart)
        if answered.stop_reason is not StopReason.STOP or answered.tool_calls:
            gate.finish(answered.text)
            return answered
        text, calls = await asyncio.to_thread(read_written_calls, answered.text, tools)
        if not calls and self._may_edit:
            text, calls = await self._edits(answered.text, {tool.name for tool in tools})
        gate.finish(text)
        reason = StopReason.TOOL_CALLS if calls else answered.stop_reason
        return replace(answered, text=text, tool_calls=calls, stop_reason=reason)

    async def _edits(self, answer: str, tools: set[str]) -> tuple[str, tuple[ToolCall, ...]]:
        """Return the text of an answer without the blocks that are edits, and calls for these."""
        blocks = code_blocks(answer)
        if not blocks or "edit_file" not in tools:
            return answer, ()
        placement = BlockPlacement(
            self._ctx.reader.snapshot(),
            self._files(),
            self._request,
            may_create="create_file" in tools,
        )
        found = await asyncio.to_thread(placement.place, blocks)
        calls = _calls((target for _, target in found), self._request)
        if not calls:
            return self._without_edit(answer, [target for _, target in found])
        text, end = "", 0
        for block, target in found:
            if target.edits:
                text += answer[end : block.start]
                end = block.end
        text = _BLANK_LINES.sub("\n\n", f"{text}{answer[end:]}").strip()
        names = ", ".join(dict.fromkeys(target.file for _, target in found if target.edits))
        sentence = _SENTENCE.match(text)
        summary = sentence[0] if sentence else PROPOSED.format(files=names)
        return text, (*calls, _call("done", {"summary": summary}))

    def _without_edit(
        self, answer: str, targets: Sequence[BlockTarget]
    ) -> tuple[str, tuple[ToolCall, ...]]:
        """Return an answer whose blocks change nothing, with a sentence if they repeat the file."""
        repeated = [target for target in targets if target.edits == ()]
        if not repeated:
            return answer, ()
        return NOTHING_CHANGED, (_call("done", {"summary": NOTHING_CHANGED}),)

    def _files(self) -> dict[str, TextDocument]:
        """Return the shown files by name, that of the question first."""
        reader = self._ctx.reader
        snapshot, first = reader.snapshot(), reader.question_uri
        shown = sorted(reader.shown.values(), key=lambda document: document.uri != first)
        files = {snapshot.name_of(one.uri): one for one in shown if not one.is_large}
        return {name: one for name, one in files.items() if self._file in (None, name)}


def _calls(targets: Iterable[BlockTarget], request: str) -> tuple[ToolCall, ...]:
    """Return the calls for the edits of a request; of edits of the same lines, only the last."""
    taken: dict[str, list[LineEdit]] = {}
    calls: list[ToolCall] = []
    for target in reversed(list(targets)):
        others = taken.setdefault(target.file, [])
        for edit in target.edits or ():
            if any(edit.first <= one.last and one.first <= edit.last for one in others):
                continue
            others.append(edit)
            calls.append(_edit_call(target.file, edit, request))
    return tuple(reversed(calls))


def _edit_call(file: str, edit: LineEdit, request: str) -> ToolCall:
    """Return the call for an edit; its summary for the user is the request."""
    if not edit.first:
        return _call("create_file", {"file": file, "content": edit.text})
    is_insertion = edit.last < edit.first
    position = f"insert:{edit.first}" if is_insertion else f"replace:{edit.first}-{edit.last}"
    arguments = {"file": file, "position": position, "content": edit.text}
    return _call(
        "edit_file",
        arguments | {"summary": textwrap.shorten(request, MAX_SUMMARY, placeholder="…")},
    )


def _call(name: str, arguments: dict[str, str]) -> ToolCall:
    return ToolCall(new_call_id(), name, json.dumps(arguments, ensure_ascii=False))


class _BlockGate:
    """A sink that streams an answer up to its first block, and the rest once it is known.

    Args:
        sink: Receives the text.
        tools: The tools whose calls are held back.
        holds_blocks: Whether blocks are held back.
    """

    def __init__(self, sink: Sink, tools: Sequence[ToolDefinition], *, holds_blocks: bool) -> None:
        self._sink = sink
        self._gate = StreamGate(self._pass_on, tools)
        self._holds_blocks = holds_blocks
        self._sent = ""
        self._is_open = True

    def write(self, piece: str) -> None:
        """Handle a piece of the answer."""
        self._gate.write(piece)

    def restarting(self, on_wait: Sink) -> Sink:
        """Return `on_wait` for a request that is repeated from its beginning."""
        restart_gate = self._gate.restarting(on_wait)

        def restart(sentence: str) -> None:
            self._sent, self._is_open = "", True
            restart_gate(sentence)

        return restart

    def finish(self, text: str) -> None:
        """Send the part of the complete answer `text` that has not been sent yet."""
        if text.startswith(self._sent):
            self._sink(text[len(self._sent) :])

    def _pass_on(self, text: str) -> None:
        found = _OPENING.search(text) if self._holds_blocks else None
        if self._is_open:
            sent = text[: found.start()] if found else text
            self._sent += sent
            self._sink(sent)
        self._is_open = self._is_open and found is None


def to_block_messages(messages: Iterable[Message]) -> list[Message]:
    """Return a conversation without calls: an edit is the block that the model wrote."""
    plain = [one for one in map(_to_block_message, messages) if one.content.strip()]
    return [
        Message(role, "\n\n".join(one.content for one in adjacent))
        for role, adjacent in groupby(plain, key=lambda one: one.role)
    ]


def _to_block_message(message: Message) -> Message:
    if message.role == "tool":
        return Message("user", message.content)
    if message.role != "assistant":
        return message
    parts = [_RECORD.sub("", message.content).strip()]
    for call in message.tool_calls:
        arguments = parse_arguments(call) or {}
        content = arguments.get("content") or arguments.get("new_text")
        if call.name in ("edit_file", "create_file") and isinstance(content, str):
            fence = fence_for(content)
            parts.append(f"{fence}\n{content}{fence}")
        elif call.name != "done":
            given = ", ".join(f"{key}={json.dumps(value)}" for key, value in arguments.items())
            parts.append(f"{call.name}({given})")
    return Message("assistant", "\n\n".join(filter(None, parts)))
