"""The worked example: a conversation that a small model continues.

Each part has a wrong line, a user's request, and the calls that correct the line: a small model
learns from examples, and hardly from instructions. More or longer parts gave worse results.
"""

import json
from dataclasses import dataclass

from stet.llm.model import Message, ToolCall

PROPOSED = "Proposed.\n"
"""The result that a small model gets for a successful edit."""
_FILE = "File: "


@dataclass(frozen=True, slots=True)
class ExamplePart:
    """One request of the example, with its file and its edit.

    Attributes:
        file: The name of the file.
        text: The text of the file.
        request: The user's request.
        old: The wrong line, with its indent.
        new: The corrected line, with its indent.
    """

    file: str
    text: str
    request: str
    old: str
    new: str


EXAMPLES = (
    ExamplePart(
        "team.py",
        "def players():\n    return 10\n",
        "players() returns the wrong value: it should return 11.",
        "    return 10",
        "    return 11",
    ),
    ExamplePart(
        "names.py",
        "def initials(first, last):\n    if not last:\n        return first[0]\n"
        "    return first[0] + first[0]\n",
        "initials() uses the first name twice: it should return first[0] + last[0].",
        "    return first[0] + first[0]",
        "    return first[0] + last[0]",
    ),
    ExamplePart(
        "access.py",
        "def may_enter(age, ticket):\n    if age < 18:\n        return True\n"
        "    return ticket is not None\n",
        "may_enter() is inverted: if age < 18 it should return False.",
        "        return True",
        "        return False",
    ),
    ExamplePart(
        "temperature.py",
        "def to_kelvin(celsius):\n    return celsius - 273.15\n",
        "to_kelvin() returns the wrong value: it should return celsius + 273.15. Fix it.",
        "    return celsius - 273.15",
        "    return celsius + 273.15",
    ),
)


def worked_example() -> tuple[Message, ...]:
    """Return the messages of all parts in the form of the loop: question, calls, results."""
    messages: list[Message] = []
    for n, example in enumerate(EXAMPLES):
        calls = (
            _call(n, "read_file", file=example.file),
            _call(n, "edit_file", file=example.file, old_text=example.old, new_text=example.new),
            _call(n, "done", summary=""),
        )
        results = (example.text, PROPOSED, "Finished.\n")
        messages.append(Message("user", question(example.file, example.request)))
        for call, result in zip(calls, results, strict=True):
            messages.append(Message("assistant", "", (call,)))
            messages.append(Message("tool", result, tool_call_id=call.id))
    return tuple(messages)


def question(file: str, request: str) -> str:
    """Return the user's question in the form for a small model."""
    return f"{_FILE}{file}\n{request}"


def extract_request(text: str) -> str:
    """Return the user's request from a `question` or from a later message of the user."""
    return text.partition("\n")[2] if text.startswith(_FILE) else text


def _call(n: int, name: str, **arguments: str) -> ToolCall:
    return ToolCall(f"example-{n}-{name}", name, json.dumps(arguments, ensure_ascii=False))
