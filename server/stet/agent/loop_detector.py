"""Notices a model that goes round in circles.

Three signs: the same call three times running, two calls in turns (A-B-A-B), the same error three
times. Calls are the same if tool and arguments are, the arguments as canonical JSON: neither the
order of keys nor white space makes another call.
"""

import json
from collections import Counter

from stet.llm.model import ToolCall

MAX_REPEATS = 3
"""How often a call or an error may come before it is a sign."""

MAX_QUOTE = 160
"""Characters of an error that are repeated to the model."""

_Key = tuple[str, str]


class LoopDetector:
    """Looks at the calls of one turn, in their order."""

    def __init__(self) -> None:
        self._calls: list[tuple[ToolCall, _Key]] = []
        self._errors: Counter[_Key] = Counter()
        self._warning = ""

    def record(self, call: ToolCall, error: str) -> None:
        """Record a call that was carried out. `error` is what went wrong, "" if nothing."""
        self._calls.append((call, (call.name, canonical_arguments(call.arguments))))
        if error:
            self._errors[call.name, error] += 1
        self._warning = self._warning or self._repetition() or self._same_error(call, error)

    def take_warning(self) -> str:
        """Return what was noticed since the last look, "" for nothing. The text is half a sentence
        about the model.
        """
        warning, self._warning = self._warning, ""
        return warning

    def _repetition(self) -> str:
        keys = [key for _, key in self._calls[-4:]]
        name = self._calls[-1][0].name
        if len(keys) >= MAX_REPEATS and len(set(keys[-MAX_REPEATS:])) == 1:
            return f"called {name!r} {MAX_REPEATS} times with the same arguments"
        if len(keys) == 4 and keys[0] == keys[2] != keys[1] == keys[3]:
            other_name = self._calls[-2][0].name
            return f"called {other_name!r} and {name!r} in turns, twice with the same arguments"
        return ""

    def _same_error(self, call: ToolCall, error: str) -> str:
        n = self._errors[call.name, error] if error else 0
        if n < MAX_REPEATS:
            return ""
        words = error.rstrip(".") if len(error) <= MAX_QUOTE else error[: MAX_QUOTE - 1] + "…"
        return f"met the same error of {call.name!r} {n} times: {words!r}"


def canonical_arguments(arguments: str) -> str:
    """Arguments in the one form of equal ones; what is no JSON stays as it is."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        return arguments.strip()
