"""Notices a model that goes round in circles.

Three signs: the same call three times running, two calls in turns (A-B-A-B), the same error three
times. Calls are the same if tool and arguments are, the arguments as canonical JSON: neither the
order of keys nor white space makes another call.
"""

import json
from collections import Counter

from stet.llm.messages import ToolCall

TIMES = 3
"""How often a call or an error may come before it is a sign."""

QUOTE = 160
"""Characters of an error that are repeated to the model."""

_Key = tuple[str, str]


class Watch:
    """Looks at the calls of one turn, in their order."""

    def __init__(self) -> None:
        self._calls: list[tuple[ToolCall, _Key]] = []
        self._errors: Counter[_Key] = Counter()
        self._found = ""

    def saw(self, call: ToolCall, error: str) -> None:
        """A call was carried out; `error` is what went wrong, "" if nothing."""
        self._calls.append((call, (call.name, canonical(call.arguments))))
        if error:
            self._errors[call.name, error] += 1
        self._found = self._found or self._circle() or self._same_error(call, error)

    def look(self) -> str:
        """What was noticed since the last look, as half a sentence about the model; "" for nothing."""
        found, self._found = self._found, ""
        return found

    def _circle(self) -> str:
        keys = [key for _, key in self._calls[-4:]]
        name = self._calls[-1][0].name
        if len(keys) >= TIMES and len(set(keys[-TIMES:])) == 1:
            return f"called {name!r} {TIMES} times with the same arguments"
        if len(keys) == 4 and keys[0] == keys[2] != keys[1] == keys[3]:
            other = self._calls[-2][0].name
            return f"called {other!r} and {name!r} in turns, twice with the same arguments"
        return ""

    def _same_error(self, call: ToolCall, error: str) -> str:
        n = self._errors[call.name, error] if error else 0
        if n < TIMES:
            return ""
        words = error.rstrip(".") if len(error) <= QUOTE else error[: QUOTE - 1] + "…"
        return f"met the same error of {call.name!r} {n} times: {words!r}"


def canonical(arguments: str) -> str:
    """Arguments in the one form of equal ones; what is no JSON stays as it is."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        return arguments.strip()
