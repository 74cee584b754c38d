"""An agent that edits by patches, which calls `stet hook` as Codex, Copilot CLI or OpenCode do."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stet.bridges.hooks.patch import PatchAction, parse_patch
from tests.support.shell import Shell


@dataclass(frozen=True)
class Patched:
    """A patch that was applied, or denied.

    Attributes:
        text: The text of the patch that was applied; "" if it was denied.
        note: What the model is sent with the result.
        denied: The reason of a denial.
    """

    text: str = ""
    note: str = ""
    denied: str = ""


@dataclass(frozen=True)
class PatchAgent:
    """An agent with the tool `apply_patch`.

    Attributes:
        shell: Where it works.
        name: `codex`, `copilot` or `opencode`.
        session: The id of its session.
    """

    shell: Shell
    name: str = "codex"
    session: str = "0a1b-2c"

    async def hook(self, event: str, **more: object) -> dict[str, Any]:
        """Call the hook of an event, by its name in Claude's form; return the output."""
        is_flat = self.name == "copilot"
        key = "sessionId" if is_flat else "session_id"
        given = {key: self.session, "cwd": str(self.shell.folder), **more}
        arguments = ["hook", self.name]
        if is_flat:
            names = {
                "UserPromptSubmit": "userPromptSubmitted",
                "PreToolUse": "preToolUse",
                "PostToolUse": "postToolUse",
                "Stop": "agentStop",
            }
            arguments.append(names[event])
        else:
            given["hook_event_name"] = event
        ended = await asyncio.to_thread(self.shell.run, *arguments, typed=json.dumps(given))
        assert (ended.returncode, ended.stderr) == (0, "")
        answer = json.loads(ended.stdout)
        decision: dict[str, Any] = answer.get("hookSpecificOutput", answer)
        return decision

    async def prompt(self, text: str = "Go.") -> str:
        """Begin a turn; return what the model is sent beside the prompt."""
        return str((await self.hook("UserPromptSubmit", prompt=text)).get("additionalContext", ""))

    async def patch(self, *lines: str) -> Patched:
        """Apply a patch, of which these are the lines between begin and end."""
        text = "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])
        before = await self.hook("PreToolUse", **self._call(text))
        if before.get("permissionDecision") == "deny":
            return Patched(denied=before["permissionDecisionReason"])
        updated = before.get("updatedInput", before.get("modifiedArgs"))
        if isinstance(updated, dict):
            [updated] = [one for one in updated.values() if isinstance(one, str)]
        applied = text if updated is None else updated
        apply_patch(self.shell.folder, applied)
        after = await self.hook("PostToolUse", **self._call(applied))
        notes = (before.get("additionalContext", ""), after.get("additionalContext", ""))
        return Patched(applied, " ".join(filter(None, notes)))

    async def shell_patch(self, *lines: str, command: str = "apply_patch") -> Patched:
        """Apply a patch by a shell command, as Codex does: it calls no hook afterwards."""
        start = f"{command} <<'EOF'\n"
        patch = "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])
        given = {"tool_name": "Bash", "tool_input": {"command": f"{start}{patch}EOF\n"}}
        before = await self.hook("PreToolUse", **given)
        if before.get("permissionDecision") == "deny":
            return Patched(denied=before["permissionDecisionReason"])
        updated = before.get("updatedInput", given["tool_input"])["command"]
        patch = updated.removeprefix(start).removesuffix("EOF\n")
        apply_patch(self.shell.folder, patch)
        return Patched(patch, before.get("additionalContext", ""))

    def _call(self, text: str) -> dict[str, object]:
        if self.name == "copilot":
            return {"toolName": "apply_patch", "toolArgs": text}
        argument = "command" if self.name == "codex" else "patchText"
        return {"tool_name": "apply_patch", "tool_input": {argument: text}}


def apply_patch(folder: Path, text: str) -> None:
    """Apply a patch whose updates have one chunk each, as `apply_patch` does.

    Raises:
        AssertionError: If a chunk does not fit.
    """
    patch = parse_patch(text)
    starts = [at for at, (header, _) in patch.headers.items() if "Move" not in header]
    for file, start, end in zip(patch.files, starts, [*starts[1:], None], strict=True):
        body = [line for line in patch.lines[start + 1 : end] if line and not line.startswith("*")]
        path = folder / file.path
        if file.action is PatchAction.DELETE:
            path.unlink()
            continue
        if file.action is PatchAction.ADD:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line[1:]}\n" for line in body))
            continue
        old = "".join(f"{line[1:]}\n" for line in body if line[0] in " -")
        new = "".join(f"{line[1:]}\n" for line in body if line[0] in " +")
        now = path.read_bytes().decode()
        assert old in now, (old, now)
        target = folder / file.new_path if file.new_path else path
        target.parent.mkdir(parents=True, exist_ok=True)
        path.unlink()
        target.write_bytes(now.replace(old, new, 1).encode())
