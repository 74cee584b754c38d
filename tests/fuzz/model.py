"""A model that answers with sensible edits, odd calls, rubbish and faults, inside the server.

Its answers depend on the requests only, so that a life can be repeated.
"""

import asyncio
import json
import logging
import random
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stet.llm.api_format import to_api_messages
from stet.llm.model import (
    Completion,
    ModelError,
    Request,
    Sink,
    StopReason,
    ToolCall,
    ignore,
    with_usage,
)
from stet.text.document import TextDocument
from tests.support.strict_provider import refusal_of

log = logging.getLogger(__name__)
ODD = (
    "",
    " ",
    "\x00",
    "\ud800",
    "../../etc/passwd",
    "/",
    "a" * 3000,
    "😀",
    "é\r\nx",
    "-1",
    "null",
    "\u202e",
)
FILES = (
    "a.py",
    "b.md",
    "notes/c.md",
    "d.txt",
    "e\u0301.txt",
    "new.py",
    "no/such.md",
    "untitled:U1",
    ".",
)
POSITIONS = (
    "start", "end", "insert:1", "insert:999", "replace:1", "replace:1-3", "replace:3-1", "delete:1",
    "delete:0", "after:## Head", "create", "open", "replace:x", "delete:1-",
)  # fmt: skip
EDITS = ("quote", "quote", "quote", "quote", "quote", "together", "position", "odd quote")
OTHERS = (
    "call",
    "call",
    "call",
    "odd call",
    "no call",
    "no JSON",
    "create",
    "move",
    "delete",
    "ask",
)
NAMES = (
    "nothing", "", " ", "edit_fil", "\x00", "\ud800", "é", "x" * 65, "make.coffee",
    "functions.read_file", "default_api:read_file", "read_file<|channel|>commentary", "ReadFile",
)  # fmt: skip
IDS = ("", "call_0", "call_" + "0" * 70, "é", "a.b:1", "\ud800", "abcdef123")
ENDS = ("done", "done", "done", "done", "say", "say", "nothing", "fault", "long")
MOST_ROUNDS = 7


class RandomModel:
    """A model with pseudorandom answers.

    Args:
        documents: The open documents that it may quote.
        is_counted: Whether answers depend only on the number of the request, so that times and
            folders in a prompt change nothing.
    """

    name = "any"
    provider = "scripted"
    obeys_grammar = False
    is_tiny = False
    context_tokens: int | None = 60_000

    def __init__(
        self, documents: Callable[[], list[tuple[str, TextDocument]]], *, is_counted: bool
    ) -> None:
        self._documents = documents
        self._is_counted = is_counted
        self._n_requests = 0

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:
        """Return a random completion, in pieces, after a delay."""
        _refuse_as_providers_do(request)
        self._n_requests += 1
        dice = random.Random(self._n_requests if self._is_counted else _key(request))
        for _ in range(dice.choice((0, 1, 5, 40))):
            await asyncio.sleep(0)  # let other messages be processed in between
        if dice.random() < 0.05:
            on_wait("Retrying.")
        completion = self._answer(dice, request)
        for start in range(0, len(completion.text), 40):
            on_text(completion.text[start : start + 40])
            await asyncio.sleep(0)
        return with_usage(replace(completion, model="any"), request)

    async def warm(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""

    def _answer(self, dice: random.Random, request: Request) -> Completion:
        n_rounds = sum(message.role == "assistant" for message in request.messages[-30:])
        kinds = ENDS if n_rounds > MOST_ROUNDS else (*EDITS, *EDITS, *OTHERS, *ENDS)
        kind = dice.choice(kinds)
        match kind:
            case "done":
                return _calls(("done", {"summary": f"m{dice.randrange(99)} done"}))
            case "say":
                return Completion("Here: " + dice.choice(ODD) + "\n```\nx\n```\n")
            case "nothing":
                return Completion("")
            case "long":
                return Completion("long " * 2000, stop_reason=StopReason.LENGTH)
            case "fault":
                raise ModelError("The model is ill.")
        ids = dice.choice(IDS) if dice.random() < 0.3 else "c"
        return _calls(*self._calls(kind, dice, request), ids=ids)

    def _calls(
        self, kind: str, dice: random.Random, request: Request
    ) -> list[tuple[str, dict[str, Any] | str]]:
        file, made = dice.choice(FILES), f"made{dice.randrange(20)}.py"
        no_name = dice.choice(NAMES)
        no_json = dice.choice(("{", "[]", "null", '{"file": 3}', "x" * 500, '"a"'))
        named: dict[str, tuple[str, dict[str, Any] | str]] = {
            "create": ("create_file", {"file": made, "content": _new(dice)}),
            "move": ("move_file", {"file": file, "to": f"moved{dice.randrange(9)}.md"}),
            "delete": ("delete_file", {"file": file}),
            "ask": ("ask_user", {"question": "Which?", "choices": ["one", "two"]}),
            "no call": (no_name, {"file": file}),
            "no JSON": ("read_file", no_json),
        }
        if kind in EDITS:
            return self._edits(kind, dice)
        if kind in named:
            return [named[kind]]
        tool = dice.choice(request.tools or (None,))
        if tool is None:
            return []
        return [(tool.name, _arguments(tool.parameters, dice, file, odd=kind == "odd call"))]

    def _edits(self, kind: str, dice: random.Random) -> list[tuple[str, dict[str, Any] | str]]:
        documents = self._documents()
        if not documents:
            return [("read_file", {"file": "a.py"})]
        name, document = dice.choice(documents)
        if kind == "position":
            position = dice.choice(POSITIONS)
            return [("edit_file", {"file": name, "position": position, "content": _new(dice)})]
        if kind == "odd quote":
            old = dice.choice(ODD)
            return [("edit_file", {"file": name, "old_text": old, "new_text": _new(dice)})]
        calls: list[tuple[str, dict[str, Any] | str]] = []
        for _ in range(1 if kind == "quote" else dice.randrange(2, 4)):
            old = _stretch(dice, document.text)
            call = {"file": name, "old_text": old, "new_text": _edited(dice, old), "summary": "m"}
            calls.append(("edit_file", call))
        return calls


def _key(request: Request) -> int:
    shown_text = "".join(
        f"{message.role}{message.content[-2000:]}" for message in request.messages[-3:]
    )
    return zlib.crc32(shown_text.encode("utf-8", "surrogatepass"))


def _new(dice: random.Random) -> str:
    """Make lines that no user writes."""
    lines = [f"m{dice.randrange(1 << 30)}x" for _ in range(dice.choice((0, 1, 1, 2, 5)))]
    return "".join(f"{line}\n" for line in lines)


def _stretch(dice: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    start = dice.randrange(len(lines))
    return "".join(lines[start : start + dice.choice((1, 1, 2, 3))])[:4000]


def _edited(dice: random.Random, old: str) -> str:
    words = old.split(" ")
    match dice.randrange(5):
        case 0:
            return ""
        case 1:
            return old + _new(dice)
        case 2:
            return _new(dice) + old
        case 3:
            words[dice.randrange(len(words))] = f"m{dice.randrange(1 << 30)}x"
            return " ".join(words)
    return _new(dice)


def _arguments(schema: Any, dice: random.Random, file: str, *, odd: bool) -> dict[str, Any]:
    """Make approximate arguments of a tool; `odd` gives them any type."""
    values: dict[str, Any] = {}
    for name, kind in schema.get("properties", {}).items():
        if name not in schema.get("required", ()) and dice.random() < 0.5:
            continue
        if odd and dice.random() < 0.6:
            values[name] = dice.choice((None, -1, 1.5, [], {}, True, *ODD, ["x"], 2**70))
        else:
            text = file if "file" in name else dice.choice((file, "x", "def", "tag:a"))
            values[name] = _value(kind.get("type"), dice, text)
    if odd and dice.random() < 0.3:
        values["more"] = 1
    return values


def _value(kind: object, dice: random.Random, text: str) -> Any:
    """Make a value of a JSON schema's type."""
    kinds = {
        "integer": dice.choice((0, 1, 2, 5, -1, 10**9)),
        "number": dice.choice((0, 0.5, -1)),
        "boolean": dice.random() < 0.5,
        "array": [dice.choice(FILES)],
        "object": {"tag": "x"},
    }
    return kinds.get(str(kind), text)


def _refuse_as_providers_do(request: Request) -> None:
    """Log, for the life to find, what a provider that validates requests would refuse."""
    if refusal := refusal_of(to_api_messages(request.messages, RandomModel.name)):
        log.error("a provider refuses the conversation: %s", refusal)
        raise ModelError(refusal)


def _calls(*wanted: tuple[str, dict[str, Any] | str], ids: str = "c") -> Completion:
    """Make a completion of calls; all have one id if `ids` is odd."""
    calls = tuple(
        ToolCall(
            f"c{n}" if ids == "c" else ids,
            name,
            given if isinstance(given, str) else json.dumps(given),
        )
        for n, (name, given) in enumerate(wanted)
    )
    return Completion("", calls, StopReason.TOOL_CALLS if calls else StopReason.STOP)
