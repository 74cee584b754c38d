"""An agent with tools that read, edit and create files, as those of Copilot CLI and OpenCode."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.patch_tools import PatchAgent


@dataclass(frozen=True)
class ToolNames:
    """How an agent names its tools and their arguments."""

    read: str
    create: str
    path: str
    old: str
    new: str
    content: str


NAMES = {
    "copilot": ToolNames("view", "create", "path", "old_str", "new_str", "file_text"),
    "opencode": ToolNames("read", "write", "filePath", "oldString", "newString", "content"),
}


@dataclass(frozen=True)
class Ran:
    """A tool that ran, or was denied.

    Attributes:
        path: The file with which it ran, or was to run.
        text: What it has read.
        note: What the model is sent with the result.
        denied: The reason of a denial.
    """

    path: Path
    text: str = ""
    note: str = ""
    denied: str = ""


@dataclass(frozen=True)
class FileAgent(PatchAgent):
    """An agent with the tools `NAMES`.

    Attributes:
        parent: The id of the session that has started this one; "" if the user has.
    """

    name: str = "copilot"
    parent: str = ""

    async def hook(self, event: str, **more: object) -> dict[str, Any]:
        """Call the hook of an event, by its name in Claude's form; return the output."""
        key = "parentAgentId" if self.name == "copilot" else "parent_id"
        return await super().hook(event, **more, **({key: self.parent} if self.parent else {}))

    async def read(self, file: str | Path, **more: object) -> Ran:
        """Read a file, or list a folder."""
        return await self._run(self._names.read, file, more)

    async def edit(self, file: str | Path, old: str, new: str) -> Ran:
        """Replace a text of a file."""
        return await self._run("edit", file, {self._names.old: old, self._names.new: new})

    async def create(self, file: str | Path, text: str) -> Ran:
        """Write a whole file."""
        return await self._run(self._names.create, file, {self._names.content: text})

    def call(self, tool: str, file: str | Path, given: Mapping[str, object]) -> dict[str, object]:
        """Return the fields of an event that describe a call."""
        arguments = {self._names.path: str(self.shell.folder / file), **given}
        if self.name == "copilot":
            return {"toolName": tool, "toolArgs": arguments}
        return {"tool_name": tool, "tool_input": arguments}

    @property
    def _names(self) -> ToolNames:
        return NAMES[self.name]

    async def _run(self, tool: str, file: str | Path, given: Mapping[str, object]) -> Ran:
        call = self.call(tool, file, given)
        before = await self.hook("PreToolUse", **call)
        if before.get("permissionDecision") == "deny":
            return Ran(self.shell.folder / file, denied=before["permissionDecisionReason"])
        field = "toolArgs" if self.name == "copilot" else "tool_input"
        ran_with: Any = before.get("updatedInput") or before.get("modifiedArgs") or call[field]
        place = Path(ran_with[self._names.path])
        text = self._act(tool, place, ran_with)
        after = await self.hook("PostToolUse", **{**call, field: ran_with})
        notes = (before.get("additionalContext", ""), after.get("additionalContext", ""))
        return Ran(place, text, " ".join(filter(None, notes)))

    def _act(self, tool: str, place: Path, given: Mapping[str, Any]) -> str:
        """Do what the tool does; return what the model reads."""
        names = self._names
        if tool == names.read:
            if place.is_dir():
                return "\n".join(sorted(one.name for one in place.iterdir()))
            return place.read_bytes().decode()
        if tool == names.create:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(given[names.content].encode())
            return ""
        text = place.read_bytes().decode()
        assert given[names.old] in text
        place.write_bytes(text.replace(given[names.old], given[names.new], 1).encode())
        return ""
