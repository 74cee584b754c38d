"""Scripts of `tests.support.mcp_program`, the settings that run it, and what it has received."""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stet.llm.model import Completion, ToolCall
from tests.support import openai_server as api
from tests.support.openai_server import OpenAIServer

Step = dict[str, Any]
REPOSITORY = Path(__file__).parents[2]
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {"listChanged": True}},
    "serverInfo": {"name": "robot", "version": "1"},
}
ASKS = ["Allow once", "Allow in this chat", "Always allow", "Don't allow"]
"""The answers to the question about a tool that is not allowed yet."""


def tool(name: str = "echo", description: str = "Says it again.", **schema: Any) -> Step:
    """Make a tool for a list, with one text as its argument unless the schema is given."""
    text = {"type": "object", "properties": {"text": {"type": "string"}}}
    return {"name": name, "description": description, "inputSchema": schema or text}


def says(*texts: str, **more: Any) -> Step:
    """Make a step that answers a call with texts."""
    return {"result": {"content": [{"type": "text", "text": text} for text in texts], **more}}


@dataclass
class McpScript:
    """A script in a folder of its own, for a server's settings.

    Attributes:
        folder: Where the script and its log lie.
        calls: The steps of each call.
        lists: The tools of each list.
        start: The steps before `initialize` is answered.
        initialize: The answer to `initialize`.
        errors: The error with which a method is answered.
        more: More settings of the server.
    """

    folder: Path
    calls: list[list[Step]] = field(default_factory=lambda: [[says("Hello.")]])
    lists: list[Any] = field(default_factory=lambda: [[tool()]])
    start: list[Step] = field(default_factory=list)
    initialize: dict[str, Any] = field(default_factory=lambda: INITIALIZE)
    errors: dict[str, Any] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)

    def server(self) -> dict[str, Any]:
        """Write the script, and return the settings of the server."""
        self.folder.mkdir(exist_ok=True)
        script = self.folder / "script.json"
        fields = ("calls", "lists", "start", "initialize", "errors")
        script.write_text(json.dumps({name: getattr(self, name) for name in fields}))
        command = [sys.executable, "-m", "tests.support.mcp_program", str(script), str(self._log)]
        return {"command": command, "env": {"PYTHONPATH": str(REPOSITORY)}, **self.more}

    def settings(self, name: str = "robot") -> dict[str, Any]:
        """Return settings with this server only."""
        return {"mcpServers": {name: self.server()}}

    @property
    def _log(self) -> Path:
        return self.folder / "log.jsonl"

    def log(self) -> list[dict[str, Any]]:
        """Return what the server has received and recorded, oldest first."""
        text = self._log.read_text(encoding="utf-8") if self._log.exists() else ""
        return [json.loads(line) for line in text.splitlines() if line.endswith("}")]

    def received(self, method: str) -> list[Any]:
        """Return the parameters of each message of a method."""
        return [one.get("params") for one in self.log() if one.get("method") == method]

    def recorded(self, name: str) -> list[Any]:
        """Return each recorded value with this name."""
        return [one[name] for one in self.log() if name in one]


def calling(*calls: tuple[str, dict[str, Any]]) -> OpenAIServer:
    """Make a model that makes these calls, each in a separate round, and is done."""
    rounds = [
        api.of(Completion("", (ToolCall(f"c{n}", name, json.dumps(arguments)),)))
        for n, (name, arguments) in enumerate(calls)
    ]
    return OpenAIServer([*rounds, api.call("done", summary="Done.")])


def results(model: OpenAIServer) -> list[str]:
    """Return the results that the model was sent, in its last request."""
    messages = model.requests[-1].body["messages"]
    return [one["content"] for one in messages if one["role"] == "tool"]


def offered(model: OpenAIServer, number: int = 0) -> dict[str, Any]:
    """Return the functions of a request that belong to servers, by name."""
    tools = model.requests[number].body["tools"]
    functions = [one["function"] for one in tools]
    return {one["name"]: one for one in functions if "__" in one["name"]}
