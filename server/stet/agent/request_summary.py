"""What a request tells a model, as places: files with lines, results of tools, questions; no text."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from stet.llm.messages import Message, ToolCall

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
"""Arguments that say what a call is about, the first that is there."""
_MAX_ABOUT = 120
_WORDS = {
    "file_contents": "file",
    "folder_contents": "names in the folder",
    "manually_added_selection": "selection in",
    "project_instructions": "instructions of the project,",
}


def summarize_request(messages: Sequence[Message], before: Sequence[Message]) -> list[str]:
    """What `messages` tell that the request `before` of the same turn has not told, in order."""
    n_known = sum(1 for _ in takewhile(_is_same, zip(messages, before, strict=False)))
    calls = {call.id: call for message in messages for call in message.tool_calls}
    parts: list[str] = []
    if n_known:
        again = "" if n_known == len(before) else ", and the rest made shorter"
        parts.append(f"what was sent before ({n_known} messages{again})")
    new = messages[n_known:]
    if not before and (n_earlier := _n_earlier(messages)):
        parts.append("the system prompt")
        parts += (part for text in (messages[0].content,) for part in _context_files(text))
        parts.append(f"{n_earlier} messages of earlier turns")
        new = messages[n_earlier + 1 :]
    for message in new:
        parts += _message_parts(message, calls)
    return parts


def _is_same(pair: tuple[Message, Message]) -> bool:
    return pair[0] == pair[1]


def _n_earlier(messages: Sequence[Message]) -> int:
    """How many messages a turn begins with that are of those before it."""
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
    """Files and selections that stand in a context."""
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
    """The result of a call: which, about what, and the lines of a file that it shows."""
    if call is None:
        return "a result"
    about = _call_subject(call)
    numbers = _NUMBERED.findall(message.content) if call.name == "read_file" else []
    lines = f" lines {numbers[0]}-{numbers[-1]}" if numbers else ""
    return f"result of {call.name}{about}{lines} ({len(message.content)} characters)"


def _call_subject(call: ToolCall) -> str:
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return ""
    if not isinstance(arguments, dict):
        return ""
    found = next((arguments[name] for name in _ABOUT if arguments.get(name)), "")
    text = " ".join(str(found).split())
    return f" {text[:_MAX_ABOUT]}" if text else ""
