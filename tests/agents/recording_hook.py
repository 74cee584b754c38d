"""The program that agents run as a hook: `recording_hook.py RULES EVENT`, its input on stdin.

Appends the input to the log that the rules name, and prints the reply that they have for the event.
In the reply, `{"$redirected": NAME}` is the value of that name in the input, with each path of the
rules' `redirects` replaced. The reply `{"$fails": N}` is none: the program writes to stderr and
exits with that code.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def main(rules: Mapping[str, Any], event: str, given: Mapping[str, Any]) -> None:
    """Record the input and print the reply."""
    with Path(rules["log"]).open("a", encoding="utf-8") as log:
        log.write(json.dumps([event, given]) + "\n")
    reply = rules["replies"].get(event, {})
    if "$fails" in reply:
        sys.stderr.write("The hook failed.")
        sys.exit(reply["$fails"])
    reply = _filled(reply, given, rules["redirects"])
    sys.stdout.write(json.dumps(reply))


def _filled(reply: Any, given: Mapping[str, Any], redirects: Mapping[str, str]) -> Any:
    if not isinstance(reply, dict):
        return reply
    if "$redirected" in reply:
        text = json.dumps(given[reply["$redirected"]])
        for old, new in redirects.items():
            text = text.replace(old, new)
        return json.loads(text)
    return {name: _filled(value, given, redirects) for name, value in reply.items()}


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2], json.load(sys.stdin))
