"""An MCP server that does what a script says, as a process, without any library.

`python -m tests.support.mcp_program SCRIPT LOG`: the script is a JSON object with `lists` (the
tools of each `tools/list`, of which the last one is repeated), `calls` (the steps of each
`tools/call`, of which the last ones are repeated), `start` (steps before `initialize` is answered),
and `errors` (by method). The log gets one line of JSON for each message, and the environment. The
steps:

- `{"result": {...}}`: answer the request; `{"error": {...}}`: answer it with an error;
- `{"send": {...}}`: send a message; `{"write": TEXT, "times": N}`: write to stdout;
- `{"stderr": TEXT}`; `{"exit": CODE}`; `{"wait": METHOD}`: wait for a message of this method;
- `{"child": true}`: start a process that sleeps, and log its id.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

Message = dict[str, Any]


class ScriptedServer:
    """The server of one process."""

    def __init__(self, script: Message, log: Path) -> None:
        self._script = script
        self._log = log
        self._record({"environment": dict(os.environ), "pid": os.getpid()})

    def run(self) -> None:
        """Answer until the input ends."""
        while (message := self._read()) is not None:
            self._answer(message)

    def _answer(self, message: Message) -> None:
        method = message.get("method")
        if "id" not in message or method is None:
            return
        if method in self._script["errors"]:
            self._send({"id": message["id"], "error": self._script["errors"][method]})
        elif method == "initialize":
            self._do(self._script["start"], message)
            self._result(message, self._script["initialize"])
        elif method == "tools/list":
            self._result(message, {"tools": self._next("lists")})
        elif method == "tools/call":
            self._do(self._next("calls"), message)

    def _do(self, steps: list[Message], request: Message) -> None:
        for step in steps:
            if "result" in step or "error" in step:
                self._send({"id": request["id"], **step})
            elif "send" in step:
                self._send(step["send"])
            elif "wait" in step:
                self._wait(step["wait"])
            else:
                self._disturb(step)

    def _wait(self, method: str) -> None:
        while (message := self._read()) is not None:
            if message.get("method") == method:
                return

    def _disturb(self, step: Message) -> None:
        match step:
            case {"write": text}:
                for _ in range(step.get("times", 1)):
                    sys.stdout.write(text)
                sys.stdout.write("\n")
                sys.stdout.flush()
            case {"stderr": text}:
                sys.stderr.write(text)
                sys.stderr.flush()
            case {"exit": code}:
                sys.exit(code)
            case {"child": True}:
                child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(999)"])
                self._record({"child": child.pid})

    def _next(self, name: str) -> Any:
        items = self._script[name]
        return items.pop(0) if len(items) > 1 else items[0]

    def _result(self, request: Message, result: Message) -> None:
        self._send({"id": request["id"], "result": result})

    def _send(self, message: Message) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def _read(self) -> Message | None:
        line = sys.stdin.readline()
        if not line:
            return None
        message: Message = json.loads(line)
        self._record(message)
        return message

    def _record(self, entry: Message) -> None:
        with self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


if __name__ == "__main__":
    ScriptedServer(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])).run()
