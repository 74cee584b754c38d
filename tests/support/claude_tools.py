"""An agent with the tools of Claude Code, which calls `stet hook` as Claude does."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.shell import Shell


@dataclass
class Claude:
    """An agent that has Claude's tools, and calls hooks as Claude does."""

    shell: Shell
    session: str = "0a1b-2c"

    async def hook(self, event: str, **more: object) -> dict[str, Any]:
        """Call the hook of an event; return its output."""
        given = {
            "hook_event_name": event,
            "session_id": self.session,
            "cwd": str(self.shell.folder),
            **more,
        }
        ended = await asyncio.to_thread(self.shell.run, "hook", "claude", typed=json.dumps(given))
        assert (ended.returncode, ended.stderr) == (0, "")
        answer = json.loads(ended.stdout)
        decision: dict[str, Any] = answer.get("hookSpecificOutput", answer)
        return decision

    async def prompt(self, text: str = "Go.") -> str:
        """Begin a turn; return what the model is sent beside the prompt."""
        return str((await self.hook("UserPromptSubmit", prompt=text)).get("additionalContext", ""))

    async def tool(self, name: str, file: str | Path, **given: object) -> "Ran":
        """Run a tool as Claude does, with the input that the hook returns."""
        path = str(self.shell.folder / file)
        call = {"tool_name": name, "tool_input": {"file_path": path, **given}}
        before = await self.hook("PreToolUse", **call)
        if before.get("permissionDecision") == "deny":
            return Ran(path, denied=before["permissionDecisionReason"])
        ran_with = before.get("updatedInput", call["tool_input"])
        place = Path(ran_with["file_path"])
        text = _run(name, place, ran_with)
        after = await self.hook("PostToolUse", tool_name=name, tool_input=ran_with)
        notes = (before.get("additionalContext", ""), after.get("additionalContext", ""))
        return Ran(str(place), text, " ".join(filter(None, notes)))


@dataclass(frozen=True)
class Ran:
    """A tool that ran, or was denied."""

    path: str
    text: str = ""
    note: str = ""
    denied: str = ""


def _run(name: str, place: Path, given: Mapping[str, Any]) -> str:
    if name == "Read":
        return place.read_bytes().decode()
    if name == "Write":
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(given["content"].encode())
        return ""
    text = place.read_bytes().decode()
    assert given["old_string"] in text
    place.write_bytes(text.replace(given["old_string"], given["new_string"], 1).encode())
    return ""
