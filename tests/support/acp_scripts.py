"""Scripts of `tests.support.acp_agent`, the settings that run it, and what it has received."""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Step = dict[str, Any]
REPOSITORY = Path(__file__).parents[2]
OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
"""The answers that the agent offers to a question."""


@dataclass
class AcpScript:
    """A script in a folder of its own, for a server's settings.

    Attributes:
        folder: Where the script and its log lie.
        prompts: The steps of each prompt.
        initialize: Fields of the answer to `initialize`.
        session: Fields of the answer to `session/new`.
        replay: The updates that the agent sends when it loads a session.
        errors: The error with which a method is answered.
        profile: The profile of the agent.
        more: More settings of the agent.
        isolation: Whether the agent is isolated.
    """

    folder: Path
    prompts: list[list[Step]]
    initialize: dict[str, Any] = field(default_factory=dict)
    session: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, Any] = field(default_factory=dict)
    replay: list[dict[str, Any]] = field(default_factory=list)
    profile: str = "qwen"
    more: dict[str, Any] = field(default_factory=dict)
    isolation: str = "none"

    def settings(self) -> dict[str, Any]:
        """Write the script, and return the settings with the agent `robot`."""
        self.folder.mkdir(exist_ok=True)
        script = self.folder / "script.json"
        fields = ("prompts", "initialize", "session", "errors", "replay")
        script.write_text(json.dumps({name: getattr(self, name) for name in fields}))
        command = [sys.executable, "-m", "tests.support.acp_agent", str(script), str(self._log)]
        server = {
            "profile": self.profile,
            "command": command,
            "env": {"PYTHONPATH": str(REPOSITORY)},
            **self.more,
        }
        return {"agents": {"servers": {"robot": server}, "isolation": self.isolation}}

    def user_config(self) -> str:
        """Write the script, and return the user's `config.toml` with the agent `robot`."""
        server = self.settings()["agents"]["servers"]["robot"]
        values = {name: server[name] for name in ("profile", "command")}
        lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
        env = [f"{name} = {json.dumps(value)}" for name, value in server["env"].items()]
        isolation = ["[agents]", f"isolation = {json.dumps(self.isolation)}"]
        return "\n".join(
            [*isolation, "[agents.servers.robot]", *lines, "[agents.servers.robot.env]", *env, ""]
        )

    @property
    def _log(self) -> Path:
        return self.folder / "log.jsonl"

    def log(self) -> list[dict[str, Any]]:
        """Return what the agent has received, oldest first."""
        text = self._log.read_text(encoding="utf-8") if self._log.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def received(self, method: str) -> list[Any]:
        """Return the parameters of each message of a method."""
        return [one["params"] for one in self.log() if one.get("method") == method]

    def answers(self, method: str) -> list[Any]:
        """Return the result, or else the error, of each of the agent's requests of a method."""
        found = [one for one in self.log() if one.get("of") == method]
        return [one.get("result", one.get("error")) for one in found]

    def outputs(self) -> list[str]:
        """Return what each command of the agent has printed."""
        return [one["output"] for one in self.log() if "shell" in one]

    def pids(self) -> list[int]:
        """Return the ids of the processes that the agent has reported and that run."""
        return [pid for one in self.log() for pid in one.get("pids", ()) if _is_running(pid)]

    def prompt_texts(self, number: int = -1) -> str:
        """Return the text of a prompt."""
        blocks = self.received("session/prompt")[number]["prompt"]
        return "\n\n".join(block["text"] for block in blocks)


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def say(text: str) -> Step:
    """Make a step that writes a part of the answer."""
    content = {"type": "text", "text": text}
    return {"update": {"sessionUpdate": "agent_message_chunk", "content": content}}


def shell(command: str) -> Step:
    """Make a step that runs a command."""
    return {"shell": command}


def think(text: str) -> Step:
    """Make a step that thinks."""
    content = {"type": "text", "text": text}
    return {"update": {"sessionUpdate": "agent_thought_chunk", "content": content}}


def tool(name: str, **fields: Any) -> Step:
    """Make a step that reports a tool call."""
    return {"update": {"sessionUpdate": "tool_call", "toolCallId": name, "title": name, **fields}}


def read(path: Path, **fields: Any) -> Step:
    """Make a step that reads a file."""
    return {"request": "fs/read_text_file", "params": {"path": str(path), **fields}}


def write(path: Path, content: str) -> Step:
    """Make a step that writes a file."""
    return {"request": "fs/write_text_file", "params": {"path": str(path), "content": content}}


def permission(title: str, options: list[dict[str, str]] = OPTIONS, **fields: Any) -> Step:
    """Make a step that asks for permission."""
    call = {"toolCallId": "asked", "title": title, **fields}
    return {
        "request": "session/request_permission",
        "params": {"toolCall": call, "options": options},
    }


def progress(name: str, **fields: Any) -> Step:
    """Make a step that reports more of a tool call."""
    return {"update": {"sessionUpdate": "tool_call_update", "toolCallId": name, **fields}}


def plan(*entries: tuple[str, str]) -> Step:
    """Make a step that reports a plan: the text and the status of each entry."""
    listed = [{"content": text, "status": status, "priority": "low"} for text, status in entries]
    return {"update": {"sessionUpdate": "plan", "entries": listed}}
