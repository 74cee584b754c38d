"""The last step before a model: redact secrets, break control tokens, log the request.

Every request of a turn passes through this module: the question, tool results, earlier turns,
summaries, rewrites. Before this step, texts are unchanged, so line numbers, quotes and merges stay
correct. The model receives marks (`stet.privacy.redactor`), and marks in its answer are resolved
where edits are made (`stet.tools.edit_file`).

Servers on this machine, including the server of the embedded model, parse the control tokens of
their chat template in all text (`stet.text.spoofing`), so a text could forge a speaker. The tokens
are broken in every message and restored in the model's answer, so that its edits quote the file
unchanged. This is done for every provider: the software behind an address is not known.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from operator import eq
from typing import Any

from stet.llm.api_format import parse_object
from stet.llm.model import (
    Completion,
    Message,
    Model,
    ModelWrapper,
    Request,
    Sink,
    ToolCall,
    ToolDefinition,
    estimate_prompt,
    ignore,
)
from stet.privacy.redactor import Redactor
from stet.privacy.request_log import Recipient, RequestLog, RequestRecord, short_names
from stet.text.spoofing import (
    escape_special_tokens,
    incomplete_token_start,
    unescape_special_tokens,
)

_FILE = re.compile(
    r"<(?P<tag>file_contents|folder_contents|manually_added_selection|project_instructions)"
    r'(?P<attributes>(?: [a-z_]+="[^"\n]*")*)>'
)
_ATTRIBUTE = re.compile(r' (?P<name>[a-z_]+)="(?P<value>[^"\n]*)"')
_CURRENT = re.compile(
    r"<current_file>\nPath: (?P<path>[^\n]*)\n(?:Line: [^\n]*\nLine Content: [^\n]*\n)?"
    r"Lines: (?P<lines>\d+-\d+)?"
)
_NUMBERED = re.compile(r"^ {0,12}(\d{1,9})\t", re.MULTILINE)
_ABOUT = ("file", "path", "folder", "query", "url", "name", "files", "command")
"""The arguments that describe a call; the first one present is used."""
_MAX_ABOUT = 120
_WORDS = {
    "file_contents": "file",
    "folder_contents": "names in the folder",
    "manually_added_selection": "selection in",
    "project_instructions": "instructions of the project,",
}


def summarize_request(messages: Sequence[Message], before: Sequence[Message]) -> list[str]:
    """Return the content that `messages` add to the request `before` of the same turn, in order."""
    n_known = sum(1 for _ in takewhile(bool, map(eq, messages, before)))
    calls = {call.id: call for message in messages for call in message.tool_calls}
    parts: list[str] = []
    if n_known:
        again = "" if n_known == len(before) else ", and the rest made shorter"
        parts.append(f"what was sent before ({n_known} messages{again})")
    new = messages[n_known:]
    if not before and (n_earlier := _n_earlier(messages)):
        parts.append("the system prompt")
        parts += _context_files(messages[0].content)
        parts.append(f"{n_earlier} messages of earlier turns")
        new = messages[n_earlier + 1 :]
    for message in new:
        parts += _message_parts(message, calls)
    return parts


def _n_earlier(messages: Sequence[Message]) -> int:
    """Return how many messages of earlier turns a request contains."""
    users = [n for n, message in enumerate(messages) if message.role == "user"]
    return users[-1] - 1 if len(users) > 1 and messages[0].role == "system" else 0


def _message_parts(message: Message, calls: Mapping[str, ToolCall]) -> Iterator[str]:
    if message.role == "tool":
        yield _describe_result(message, calls.get(message.tool_call_id))
    elif message.role == "assistant":
        yield "the model's own answer"
    elif message.role == "system":
        yield "the system prompt"
        yield from _context_files(message.content)
    else:
        yield from _context_files(message.content)
        yield "words of the user" if "<user_query>" not in message.content else "the question"


def _context_files(text: str) -> Iterator[str]:
    """Yield the files and selections that a context contains."""
    if (current := _CURRENT.search(text)) is not None:
        yield _format_location("file", current["path"], current["lines"])
    for found in _FILE.finditer(text):
        attributes = {one["name"]: one["value"] for one in _ATTRIBUTE.finditer(found["attributes"])}
        yield _format_location(
            _WORDS[found["tag"]], attributes.get("path", ""), attributes.get("lines")
        )


def _format_location(what: str, path: str, lines: str | None) -> str:
    return f"{what} {path} lines {lines}" if lines else f"{what} {path}"


def _describe_result(message: Message, call: ToolCall | None) -> str:
    """Describe the result of a call: the tool, its subject, and the lines of a file shown."""
    if call is None:
        return "a result"
    about = _call_subject(call)
    numbers = _NUMBERED.findall(message.content) if call.name == "read_file" else []
    lines = f" lines {numbers[0]}-{numbers[-1]}" if numbers else ""
    return f"result of {call.name}{about}{lines} ({len(message.content)} characters)"


def _call_subject(call: ToolCall) -> str:
    arguments = parse_object(call.arguments) or {}
    found = next((arguments[name] for name in _ABOUT if arguments.get(name)), "")
    text = " ".join(str(found).split())
    return f" {text[:_MAX_ABOUT]}" if text else ""


_LARGE_TO_REDACT = 20_000
"""Requests with more characters than this are scanned for secrets in a worker thread."""


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """The turn that asks a model, and the host of the model.

    Attributes:
        turn: The id of the turn.
        chat: The id of the conversation.
        host: The host of the model; "" for a model in a process of this server.
    """

    turn: str
    chat: str
    host: str = ""


class RedactingModel(ModelWrapper):
    """A model that receives marks instead of secrets.

    Args:
        inner: The model.
        redactor: Replaces secrets by marks; None if the user wants no marks.
        sendings: The log that records each request.
        origin: The origin of the requests.
        now: Returns the time, in seconds since the epoch.
    """

    def __init__(
        self,
        inner: Model,
        redactor: Redactor | None,
        sendings: RequestLog,
        origin: RequestOrigin,
        now: Callable[[], float],
    ) -> None:
        super().__init__(inner)
        self._redactor = redactor
        self._sendings = sendings
        self._origin = origin
        self._now = now
        self._sent: tuple[Message, ...] = ()

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:
        """Ask; see `Model.complete`.

        Raises:
            ModelError: As the inner model does.
        """
        kinds: Counter[str] = Counter()
        redacted_request = request
        if self._redactor is not None:
            texts = list(_request_texts(request))
            if sum(map(len, texts)) > _LARGE_TO_REDACT:
                # Text of earlier requests is cached, so only the first scan takes long.
                await asyncio.to_thread(_scan_texts, self._redactor, texts)
            redacted_request, kinds = redact_request(request, self._redactor)
        self._log_request(redacted_request, kinds)
        return await self.inner.complete(redacted_request, on_text, on_wait)

    def _log_request(self, request: Request, kinds: Counter[str]) -> None:
        origin = self._origin
        sending = RequestRecord(
            at=self._now(),
            to=Recipient.MODEL,
            host=origin.host,
            model=self.name,
            turn=origin.turn,
            chat=origin.chat,
            parts=short_names(summarize_request(request.messages, self._sent)),
            characters=sum(map(len, _request_texts(request))),
            tokens=estimate_prompt(request.messages, request.tools),
            kinds=tuple(sorted(kinds.items())),
            is_open=self._redactor is None,
        )
        self._sent = request.messages
        self._sendings.add(sending)


def redact_request(request: Request, redactor: Redactor) -> tuple[Request, Counter[str]]:
    """Return a request that may be sent, and the number of secrets of each kind in the original."""
    redactor.reserve_marks(_request_texts(request))
    for text in _request_texts(request):  # a secret found in one text is a secret in all the others
        redactor.learn(text)
    kinds: Counter[str] = Counter()

    def redact_text(text: str) -> str:
        found = redactor.redact(text)
        kinds.update(found.kinds)
        return found.text

    def redact_call(call: ToolCall) -> ToolCall:
        arguments, found = redact_json(call.arguments, redactor)
        kinds.update(found)
        return replace(call, arguments=arguments)

    messages = tuple(_map_message(one, redact_text, redact_call) for one in request.messages)
    tools = _map_descriptions(request.tools, redact_text)
    return replace(request, messages=messages, tools=tools), kinds


def _map_message(
    message: Message, change: Callable[[str], str], change_call: Callable[[ToolCall], ToolCall]
) -> Message:
    content, calls = change(message.content), tuple(map(change_call, message.tool_calls))
    return replace(message, content=content, tool_calls=calls)


def _map_descriptions(
    tools: Iterable[ToolDefinition], change: Callable[[str], str]
) -> tuple[ToolDefinition, ...]:
    return tuple(replace(tool, description=change(tool.description)) for tool in tools)


def redact_parts(
    parts: Sequence[tuple[str, str]], redactor: Redactor | None
) -> list[tuple[str, str]]:
    """Return named texts as they would be sent."""
    if redactor is not None:
        redactor.reserve_marks(text for _, text in parts)
        for _, text in parts:
            redactor.learn(text)
        parts = [(name, redactor.redact(text).text) for name, text in parts]
    return [(name, escape_special_tokens(text)) for name, text in parts]


def _request_texts(request: Request) -> Iterable[str]:
    """Yield all texts of a request."""
    for message in request.messages:
        yield message.content
        for call in message.tool_calls:
            yield call.arguments
    for tool in request.tools:
        yield tool.description


def redact_json(text: str, redactor: Redactor) -> tuple[str, Mapping[str, int]]:
    """Return JSON with marks in its strings, still valid JSON; other text gets marks as plain text.

    Strings are decoded first: a mark in the JSON source may replace a backslash or a quote, and a
    secret that is written with escapes is not found there.
    """
    kinds: Counter[str] = Counter()

    def redact_string(value: str, name: str) -> str:
        # A short password is recognised by its key or variable, which is outside its text.
        head = f'{name} = "' if name else ""
        found = redactor.redact(f'{head}{value}"' if head else value)
        kinds.update(found.kinds)
        if not head or not found.text.startswith(head) or not found.text.endswith('"'):
            return redactor.redact(value).text
        return found.text[len(head) : -1]

    return map_json_strings(text, redact_string), kinds


def map_json_strings(text: str, change: Callable[[str, str], str]) -> str:
    """Return JSON with its strings changed; text that is not JSON is changed as one string.

    `change` takes a string and the key of its value, "" for none.
    """
    try:
        value = json.loads(text)
        changed = _map_strings(value, change)
    except (ValueError, RecursionError):
        return change(text, "")
    return text if changed == value else json.dumps(changed, ensure_ascii=False)


def _map_strings(value: Any, change: Callable[[str, str], str], name: str = "") -> Any:
    """Return a JSON value with its strings changed; `name` is the key of the value."""
    if isinstance(value, str):
        return change(value, name)
    if isinstance(value, list):
        return [_map_strings(each, change, name) for each in value]
    if isinstance(value, dict):
        return {change(key, ""): _map_strings(each, change, key) for key, each in value.items()}
    return value


def _scan_texts(redactor: Redactor, texts: Sequence[str]) -> None:
    """Scan texts in advance, in the order in which marks are assigned."""
    redactor.reserve_marks(texts)
    for text in texts:
        redactor.redact(text)


_LARGE_TO_ESCAPE = 100_000
"""New messages with more characters than this are escaped in a worker thread."""


class TokenEscapingModel(ModelWrapper):
    """A model that receives texts with broken control tokens and visible invisible characters."""

    def __init__(self, inner: Model) -> None:
        super().__init__(inner)
        self._sent: dict[Message, Message] = {}
        """The escaped messages of the previous request: most of them are sent again."""

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:
        """Ask; see `Model.complete`.

        Raises:
            ModelError: As the inner model does.
        """
        mending = _UnescapingStream(on_text)

        def restarted(sentence: str) -> None:
            mending.reset()
            on_wait(sentence)

        escaped = await self._escape_request(request)
        answer = await self.inner.complete(escaped, mending.write, restarted)
        mending.finish()
        calls = tuple(map(_unescape_call, answer.tool_calls))
        return replace(answer, text=unescape_special_tokens(answer.text), tool_calls=calls)

    async def _escape_request(self, request: Request) -> Request:
        """Return the request with escaped texts. Equal texts always have equal results."""
        new = [message for message in request.messages if message not in self._sent]
        if sum(len(message.content) for message in new) > _LARGE_TO_ESCAPE:
            escaped = await asyncio.to_thread(_escape_messages, new)
        else:
            escaped = _escape_messages(new)
        known = self._sent | escaped
        self._sent = {message: known[message] for message in request.messages}
        messages = tuple(known[message] for message in request.messages)
        tools = _map_descriptions(request.tools, escape_special_tokens)
        return replace(request, messages=messages, tools=tools)


class _UnescapingStream:
    """A stream that restores control tokens; a possible part of a token waits for its end."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._pending = ""

    def write(self, piece: str) -> None:
        """Pass on a piece of the answer, except what may be the beginning of a token."""
        text = self._pending + piece
        end = incomplete_token_start(text)
        self._pending = text[end:]
        if end:
            self._sink(unescape_special_tokens(text[:end]))

    def finish(self) -> None:
        """Pass on the rest at the end of the answer."""
        if self._pending:
            self._sink(unescape_special_tokens(self._pending))

    def reset(self) -> None:
        """Discard the waiting text when the answer starts again."""
        self._pending = ""


def _escape_messages(messages: Iterable[Message]) -> dict[Message, Message]:
    return {one: _map_message(one, escape_special_tokens, _escape_call) for one in messages}


def _escape_call(call: ToolCall) -> ToolCall:
    arguments = map_json_strings(call.arguments, lambda text, _: escape_special_tokens(text))
    return replace(call, name=escape_special_tokens(call.name), arguments=arguments)


def _unescape_call(call: ToolCall) -> ToolCall:
    arguments = map_json_strings(call.arguments, lambda text, _: unescape_special_tokens(text))
    return replace(call, arguments=arguments)
