"""Files and model scripts that several tests share."""

from dataclasses import dataclass
from typing import Any

GREET = """import os


def greet(name):
    message = "Hello " + name
    print(message)
    return message


def part(name):
    message = "Bye " + name
    print(message)
    return message
"""


@dataclass(frozen=True, slots=True)
class GreetLines:
    """The lines of `GREET` before, with the first hunk, with the second, with both."""

    before: list[str]
    first: list[str]
    second: list[str]
    both: list[str]


_FIRST = ('    message = "Hello " + name', '    message = f"Hello {name}"')
_SECOND = ('    message = "Bye " + name', '    message = f"Bye {name}"')
GREET_FILE = GreetLines(
    GREET.splitlines(),
    GREET.replace(*_FIRST).splitlines(),
    GREET.replace(*_SECOND).splitlines(),
    GREET.replace(*_FIRST).replace(*_SECOND).splitlines(),
)


def edit(file: str, old: str, new: str, summary: str = "An edit") -> dict[str, Any]:
    """Make a tool call that replaces text."""
    arguments = {"file": file, "old_text": old, "new_text": new, "summary": summary}
    return {"name": "edit_file", "arguments": arguments}


def script(*calls: dict[str, Any], held: bool = False) -> list[dict[str, Any]]:
    """Make a model script with these calls in one reply; `held` holds it until released."""
    calling: dict[str, Any] = {"tool_calls": list(calls)}
    if held:
        calling["hold"] = "$HOLD"
    done = {"name": "done", "arguments": {"summary": "It is done."}}
    return [calling, {"tool_calls": [done]}]


def greet_script(*, held: bool = False, file: str = "a.py") -> list[dict[str, Any]]:
    """Make a script with two hunks in `GREET`: lines 5 and 11."""
    calls = [
        edit(file, old + "\n", new + "\n", "Use an f-string") for old, new in (_FIRST, _SECOND)
    ]
    return script(*calls, held=held)
