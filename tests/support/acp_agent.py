"""An agent that speaks the Agent Client Protocol and does what a script says, as a process.

`python -m tests.support.acp_agent SCRIPT LOG`: the script is a JSON object with `initialize` and
`session` (fields of these answers), `errors` (by method), `replay` (the updates of a loaded session) and `prompts`, a list of steps for each
prompt, of which the last one is repeated. The log gets one line of JSON for each message that the
agent receives. The steps:

- `{"update": {...}}`: send an update of the session;
- `{"request": METHOD, "params": {...}}`: send a request, with the id of the session, and wait;
- `{"post": METHOD, "params": {...}}`: send a request, and don't wait;
- `{"write": TEXT}`: write to stdout; `{"error": TEXT}`: write to stderr;
- `{"wait": "cancel"}`: wait until the turn is cancelled; `{"wait": "ever"}`: never go on;
- `{"environment": true}`: log the names of the variables of the process;
- `{"shell": COMMAND}`: run a command, and log its output;
- `{"child": SECONDS}`: start a process that sleeps, and log the ids of both processes;
- `{"exit": CODE}`; `{"fail": CODE, "message": TEXT}`: answer the prompt with an error;
- `{"end": {...}}`: end the turn, with these fields of the answer.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from acp.connection import Connection
from acp.exceptions import RequestError
from acp.stdio import stdio_streams

LIMIT = 2**25
SESSION = "session-1"


class ScriptedAgent:
    """The agent of one process."""

    def __init__(self, script: dict[str, Any], log: Path) -> None:
        self._script = script
        self._log = log
        self._cancelled = asyncio.Event()
        self.connection: Connection | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def handle(self, method: str, params: Any, is_notification: bool) -> Any:
        """Answer a message of the client."""
        self._record({"method": method, "params": params})
        if method in self._script["errors"]:
            error = self._script["errors"][method]
            raise RequestError(error["code"], error["message"])
        if method == "session/prompt":
            return await self._prompt()
        if method == "session/cancel":
            self._cancelled.set()
        if is_notification:
            return None
        if method == "session/load":
            for update in self._script["replay"]:
                await self._do({"update": update})
        answers = {
            "initialize": {"protocolVersion": 1, **self._script["initialize"]},
            "session/new": {"sessionId": SESSION, **self._script["session"]},
            "session/load": self._script["session"],
            "session/set_mode": {},
            "session/set_model": {},
            "session/set_config_option": {"configOptions": []},
            "authenticate": {},
        }
        return answers[method]

    async def _prompt(self) -> dict[str, Any]:
        self._cancelled.clear()
        prompts = self._script["prompts"]
        for step in prompts.pop(0) if len(prompts) > 1 else prompts[0]:
            if "end" in step:
                return {"stopReason": "end_turn", **step["end"]}
            if "fail" in step:
                raise RequestError(step["fail"], step["message"])
            await self._do(step)
        return {"stopReason": "cancelled" if self._cancelled.is_set() else "end_turn"}

    async def _do(self, step: dict[str, Any]) -> None:
        match step:
            case {"update": update}:
                assert self.connection is not None
                params = {"sessionId": SESSION, "update": update}
                await self.connection.send_notification("session/update", params)
            case {"post": method, "params": params}:
                assert self.connection is not None
                message = {"jsonrpc": "2.0", "id": 99, "method": method}
                await self._do({"write": json.dumps({**message, "params": params})})
            case {"request": method, "params": params}:
                await self._request(method, {"sessionId": SESSION, **params})
            case {"child": seconds}:
                child = await asyncio.create_subprocess_exec("sleep", str(seconds))
                self._record({"pids": [os.getpid(), child.pid]})
            case {"write": text}:
                assert self.writer is not None
                self.writer.write((text * step.get("times", 1) + "\n").encode())
                await self.writer.drain()
            case {"wait": "cancel"}:
                await self._cancelled.wait()
            case {"wait": "ever"}:
                await asyncio.Event().wait()
            case _:
                self._act(step)

    def _act(self, step: dict[str, Any]) -> None:
        match step:
            case {"environment": True}:
                self._record({"environment": sorted(os.environ)})
            case {"shell": command}:
                output = subprocess.check_output(command, shell=True, text=True)
                self._record({"shell": command, "output": output})
            case {"error": text}:
                sys.stderr.write(text)
                sys.stderr.flush()
            case {"exit": code}:
                os._exit(code)
            case _:
                raise AssertionError(f"unknown step {step}")

    async def _request(self, method: str, params: dict[str, Any]) -> None:
        assert self.connection is not None
        try:
            result = await self.connection.send_request(method, params)
        except RequestError as error:
            self._record({"of": method, "error": error.to_error_obj()})
        else:
            self._record({"of": method, "result": result})

    def _record(self, entry: object) -> None:
        with self._log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")


async def main(agent: ScriptedAgent) -> None:
    """Serve until the client closes stdin."""
    reader, writer = await stdio_streams(limit=LIMIT)
    agent.writer = writer
    agent.connection = Connection(agent.handle, writer, reader, listening=False)
    await agent.connection.main_loop()


if __name__ == "__main__":
    asyncio.run(main(ScriptedAgent(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))))
