"""Build a completion from the bytes of a stream: server-sent events and the chunks in them.

`EventDecoder` reads server-sent events as far as model servers use them (WHATWG HTML, "Interpreting
an event stream"): bytes in any slicing in, whole events out. Line ends are LF, CR LF or CR;
comments, `id` and `retry` are skipped; a byte order mark at the start is dropped.

`CompletionAccumulator` takes chunks of the OpenAI chat completions API, decoded but not validated:
fields may be missing, null or of another type. Known differences between servers are repaired here,
one rule each. Missing text or arguments are never guessed: such an answer is cut off.
"""

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stet.llm.model import Completion, StopReason, ToolCall, Usage

MAX_EVENT_BYTES = 2_000_000
"""The most bytes of one event; without a limit a hostile server fills the memory."""

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


class EventTooLong(ValueError):
    """One event grew beyond `MAX_EVENT_BYTES`."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its name ("" for a plain message) and its data."""

    name: str
    data: str


class EventDecoder:
    """A decoder that assembles events from pieces of bytes."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._name = ""
        self._data: list[bytes] = []
        self._n_bytes = 0
        self._at_start = True

    def feed(self, piece: bytes) -> list[ServerEvent]:
        """Return the events that `piece` completes.

        Raises:
            EventTooLong: If an event has more than `MAX_EVENT_BYTES`.
        """
        self._rest += piece
        if self._n_bytes + len(self._rest) > MAX_EVENT_BYTES:
            raise EventTooLong(f"one event is longer than {MAX_EVENT_BYTES} bytes")
        if not _LINE_END.search(piece):
            return []
        return self._collect(self._lines())

    def flush(self) -> list[ServerEvent]:
        """Return the events that the end of the stream completes; servers omit the last blank
        line.
        """
        last = bytes(self._rest).removesuffix(b"\r")
        self._rest.clear()
        return self._collect([last, b""])

    def _lines(self) -> list[bytes]:
        """Return whole lines; a CR at the very end is kept back, as an LF may follow."""
        held = self._rest[-1:] == b"\r"
        text = bytes(self._rest[:-1] if held else self._rest)
        *lines, rest = _LINE_END.split(text)
        self._rest = bytearray(rest + b"\r" if held else rest)
        return lines

    def _collect(self, lines: list[bytes]) -> list[ServerEvent]:
        events = []
        for line in lines:
            if line:
                self._field(line)
                continue
            if self._data:
                data = b"\n".join(self._data).decode("utf-8", "replace")
                events.append(ServerEvent(self._name, data))
            self._name, self._data, self._n_bytes = "", [], 0
        return events

    def _field(self, line: bytes) -> None:
        if self._at_start:
            line, self._at_start = line.removeprefix(_BOM), False
        key, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if key == b"data":
            self._data.append(value)
            self._n_bytes += len(value) + 1  # empty lines fill the memory too
        elif key == b"event":
            self._name = value.decode("utf-8", "replace")


CALL_ID_LENGTH = 9
"""The length of generated ids of letters and digits: the strictest provider's (Mistral)."""

MAX_ID = 64
"""The most characters of an id that are kept: requests have ids of another form."""

_REASONING = ("reasoning_content", "reasoning", "reasoning_details")
_LENGTH = {"length", "max_tokens", "model_length", "max_output_tokens"}
_REFUSED = {"refusal"}
_FILTERED = {"content_filter", "safety", "prohibited_content", "recitation"}
_BROKEN = {"error", "insufficient_system_resource", "malformed_function_call"}


@dataclass(slots=True)
class _PartialCall:
    """A tool call of which not all pieces have arrived."""

    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class CompletionAccumulator:
    """An answer that is being received.

    Attributes:
        finish_reason: The provider's reason for the end; "" if it has not been sent.
        usage: The provider's last count of tokens, or None.
        model: The name that the model reports.
        n_choices: The number of chunks with a choice.
        n_characters: The characters of text, calls and thoughts so far.
    """

    def __init__(self) -> None:
        self.finish_reason = ""
        self.usage: Usage | None = None
        self.model = ""
        self.n_choices = 0
        self.n_characters = 0
        self._text: list[str] = []
        self._calls: list[_PartialCall] = []
        self._by_index: dict[int, _PartialCall] = {}
        self._refused = False

    @property
    def text(self) -> str:
        """Return the text so far."""
        return "".join(self._text)

    @property
    def is_broken(self) -> bool:
        """Whether the provider reports that the answer failed."""
        return self.finish_reason in _BROKEN

    def add(self, chunk: Mapping[str, Any]) -> tuple[str, bool]:
        """Add a chunk. Return its text, and whether the chunk has any content."""
        if usage := _usage(chunk.get("usage")):
            self.usage = usage
        if isinstance(name := chunk.get("model"), str):
            self.model = name or self.model
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping):
            return "", False
        self.n_choices += 1
        finished = self._finish(choice.get("finish_reason"))
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, Mapping):
            return "", finished
        text = self._add_text(delta)
        pieces = delta.get("tool_calls")
        pieces = pieces if isinstance(pieces, list) else []
        for piece in pieces:
            if isinstance(piece, Mapping):
                self._add_call(piece)
        thought = next((delta[key] for key in _REASONING if delta.get(key)), "")
        # Reasoning arrives as text, or as a list of objects with text.
        self.n_characters += len(text) + len(thought if isinstance(thought, str) else str(thought))
        return text, bool(text or pieces or thought or finished)

    def completion(self) -> Completion:
        """Return the whole answer. Call this only after the end of the answer has been seen."""
        calls = self._finished_calls()
        reason = self._stop_reason(has_calls=bool(calls))
        return Completion(self.text, calls, reason, self.usage or Usage(), self.model)

    @property
    def has_whole_arguments(self) -> bool:
        """Return whether each call's arguments are JSON. Used if there is no finish reason."""
        return all(_is_json(finished_call.arguments) for finished_call in self._finished_calls())

    def _finish(self, reason: object) -> bool:
        """Keep the first reason, but let a reason that means "cut" replace one that does not."""
        if not isinstance(reason, str) or not reason:
            return False
        reason = reason.lower()
        if not self.finish_reason or reason in _LENGTH | _REFUSED | _FILTERED:
            self.finish_reason = reason
        return True

    def _add_text(self, delta: Mapping[str, Any]) -> str:
        refusal = _string(delta.get("refusal"))
        self._refused = self._refused or bool(refusal)
        if text := _text_of(delta.get("content")) + refusal:
            self._text.append(text)
        return text

    def _add_call(self, piece: Mapping[str, Any]) -> None:
        function = piece.get("function")
        function = function if isinstance(function, Mapping) else {}
        name, call_id = _string(function.get("name")), _string(piece.get("id"))
        call = self._slot(piece.get("index"), call_id, name)
        call.id = call.id or call_id
        # A name may arrive in parts before the arguments; some servers repeat it in each chunk.
        if name and not call.arguments and name != call.name:
            call.name += name
            self.n_characters += len(name)
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if arguments:
            call.arguments.append(arguments)
            self.n_characters += len(arguments)

    def _slot(self, index: object, call_id: str, name: str) -> _PartialCall:
        """Return the call that a piece belongs to.

        The index decides. If a server sends no index, the piece belongs to the last call unless the
        id is another one. An id that changes together with a new name is a new call, even with an
        old index (Gemini numbers every parallel call 0); an id that changes alone is the same call
        (older vLLM).
        """
        number = index if isinstance(index, int) and not isinstance(index, bool) else None
        last = self._calls[-1] if self._calls else None
        known = last if number is None else self._by_index.get(number)
        has_other_id = known and call_id and known.id and call_id != known.id
        if known is not None and not (has_other_id and name):
            return known
        self.n_characters += 1  # endless calls count as an endless answer
        call = _PartialCall(len(self._calls) if number is None else number)
        self._calls.append(call)
        self._by_index[call.index] = call
        return call

    def _finished_calls(self) -> tuple[ToolCall, ...]:
        """Return the calls in the order of their index, each with a unique id."""
        calls: list[ToolCall] = []
        used: set[str] = set()
        for call in sorted(self._calls, key=lambda one: one.index):
            is_usable = call.id not in used and 0 < len(call.id) <= MAX_ID and call.id.isprintable()
            unique = call.id if is_usable else new_call_id()
            used.add(unique)
            # Servers send nothing at all, or "null", for a tool without arguments.
            text = "".join(call.arguments).strip()
            calls.append(ToolCall(unique, call.name, "{}" if text in {"", "null"} else text))
        return tuple(calls)

    def _stop_reason(self, *, has_calls: bool) -> StopReason:
        if self.finish_reason in _LENGTH:
            return StopReason.LENGTH
        if self._refused or self.finish_reason in _REFUSED:
            return StopReason.REFUSED
        if self.finish_reason in _FILTERED:
            return StopReason.FILTERED
        return StopReason.TOOL_CALLS if has_calls else StopReason.STOP


def new_call_id() -> str:
    """Return an id for a call whose provider gave none."""
    return uuid.uuid4().hex[:CALL_ID_LENGTH]


def _string(value: object) -> str:
    """Return a text, or "" for a value of another type."""
    return value if isinstance(value, str) else ""


def _text_of(content: object) -> str:
    """Return the text of a string, or of the parts of type text in a list."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [one for one in content if isinstance(one, Mapping) and one.get("type") == "text"]
    return "".join(_string(part.get("text")) for part in parts)


def _usage(figures: object) -> Usage | None:
    if not isinstance(figures, Mapping):
        return None
    details = figures.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    if cached is None:
        cached = figures.get("prompt_cache_hit_tokens")  # DeepSeek's name
    prompt, completion = figures.get("prompt_tokens"), figures.get("completion_tokens")
    usage = Usage(_count(prompt), _count(completion), _count(cached))
    return usage if usage.total else None


def _count(value: object) -> int:
    return int(value) if isinstance(value, (int, float)) and 0 <= value < 1e12 else 0


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
