"""Class 37: forged calls of hooks, and what else programs send to the control socket.

What is outside of the workspace is left to the agent's own permissions, so there Stet must answer
nothing: a yes of Stet would be taken for the user's.
"""

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stet.bridges.hooks.patch import parse_patch
from tests.attacks.doors import ControlDoor, after_review, descriptor_of, runtime_env
from tests.attacks.registry import Result, attack
from tests.attacks.seen import Seen
from tests.attacks.stage import Stage
from tests.support.file_tools import NAMES, ToolNames

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
CLAUDE = ToolNames("Read", "Write", "file_path", "old_string", "new_string", "content")
AGENTS = {"claude": CLAUDE, **NAMES}
PATCH_ARGUMENTS = {"codex": "command", "opencode": "patchText"}
READS = (
    ".env", "./.env", "sub/../.env", "//{root}/.env", "{root}/.env/", "to-env.txt", "../secret.txt",
    "to-secret.txt", "up/secret.txt", "sub/../../secret.txt", "{up}/secret.txt",
    "/proc/self/root{root}/.env", "{shadow}/.env", "{shadow}/../../../../secret.txt",
    "{shadow}/to-secret.txt", "{shadow}/up/secret.txt", "{other}/a.txt", "{dead}/a.txt",
)  # fmt: skip
WRITES = (
    *READS, ".git/config", ".git/hooks/pre-commit", "sub/../.git/hooks/x", "up/new.txt", "../new.txt",
    "{up}/new.txt", "{shadow}/.git/hooks/x", "{other}/new.txt", "{dead}/new.txt", "{shadow}/../x",
    "{shadow}", "{run}/serve-1.json", "a.txt/x", "sub", "/dev/null",
)  # fmt: skip
UNNAMED = ("a\nb.txt", "a\u200b.txt", "a\x1b[2J.txt", "x" * 100_000, "sub/\u202etxt.py")
PROTECTED = (
    ".vscode/tasks.json",
    "conftest.py",
    ".github/workflows/x.yml",
    "CLAUDE.md",
    ".mcp.json",
)
SESSIONS: tuple[object, ...] = (
    "../..",
    "a/b",
    "a.b",
    "",
    "x" * 101,
    "a\n",
    None,
    1.5,
    {},
    [],
    "/etc",
)
FORMS: tuple[object, ...] = (
    None, [], {}, {"file_path": []}, {"file_path": "\0"}, {"file_path": "\ud800"},
    {"file_path": {"a": 1}}, {"file_path": "x" * 1_000_000},
)  # fmt: skip
FOLDERS: tuple[object, ...] = ("\0", "\ud800", [], 7, "x" * 100_000)
LINES = (
    b"{", b"[]", b"[" * 200_000, b'{"a":' * 100_000, b"\xff\xfe", b"\0", b'"x"', b"1e999", b"null",
    b'{"id": 1, "method": "control.hook", "params": {}}', b'{"id": 1, "method": [], "params": []}',
    b'{"id": 1, "method": "stet.ask", "params": [{"prompt": "x"}]}',
    b'{"id": 1, "method": "stet.answer", "params": [{"question": "q", "text": "yes"}]}',
    b'{"id": 1, "method": "workspace/executeCommand", "params": []}',
    b'{"id": 1, "method": "__class__", "params": []}',
    b'{"id": ' + b"9" * 5000 + b', "method": "control.text", "params": []}',
)  # fmt: skip


@dataclass
class HookCaller:
    """A program that calls the hooks of an agent, in the name of a session.

    Attributes:
        stage: The workspace.
        seen: Gets the effects.
        door: The control socket.
        name: The agent.
        session: The session.
        cwd: The folder in which the agent says that it works.
    """

    stage: Stage
    seen: Seen
    door: ControlDoor
    name: str
    session: object = "attacker"
    cwd: object = None

    async def event(self, kind: str, **more: object) -> Mapping[str, Any]:
        """Send an event, by its name in Claude's form; return the answer."""
        key, spelled = "session_id", kind
        if self.name == "copilot":
            key, spelled = "sessionId", kind[0].lower() + kind[1:]
            spelled = {"userPromptSubmit": "userPromptSubmitted", "stop": "agentStop"}.get(
                spelled, spelled
            )
        cwd = str(self.stage.root) if self.cwd is None else self.cwd
        event = {key: self.session, "cwd": cwd, "hook_event_name": spelled, **more}
        answer = await self.door.ask("control.hook", {"agent": self.name, "event": event})
        found: Mapping[str, Any] = (answer or {}).get("hookSpecificOutput", answer or {})
        return found

    async def tool(self, kind: str, tool: str, given: object) -> Any:
        """Send the event of a tool; return the input to which Stet says yes, None without it."""
        keys = ("toolName", "toolArgs") if self.name == "copilot" else ("tool_name", "tool_input")
        answer = await self.event(kind, **dict(zip(keys, (tool, given), strict=True)))
        if answer.get("permissionDecision") != "allow":
            return None
        return answer.get("updatedInput", answer.get("modifiedArgs"))


class Attacker(HookCaller):
    """A session that has a copy of `a.txt`, beside another session that has one too."""

    async def begin(self) -> None:
        """Make the copies of both sessions."""
        names = AGENTS[self.name]
        own = await self._copy_of_a(self)
        beside = HookCaller(self.stage, self.seen, self.door, self.name, "other")
        other = await self._copy_of_a(beside)
        self.names = names
        self.folders = {
            "root": str(self.stage.root),
            "up": str(self.stage.top),
            "shadow": str(own),
            "other": str(other),
            "dead": str(own.parents[1] / str(2**22 + 1) / own.name),
            "run": str(own.parents[2]),
        }

    async def _copy_of_a(self, caller: HookCaller) -> Path:
        names = AGENTS[self.name]
        await caller.event("UserPromptSubmit", prompt="Go.")
        given = await caller.tool(
            "PreToolUse", names.read, {names.path: f"{self.stage.root}/a.txt"}
        )
        return Path(given[names.path]).parent

    async def read(self, form: str) -> None:
        """Read a file as the agent, if Stet says yes."""
        given = {self.names.path: self._path(form)}
        if (path := await self._allowed(self.names.read, form, given)) and path.is_file():
            self.seen.sent.append(path.read_text())

    async def write(self, form: str) -> None:
        """Create a file as the agent, if Stet says yes."""
        text = "written by an attacker\n"
        given = {self.names.path: self._path(form), self.names.content: text}
        if path := await self._allowed(self.names.create, form, given):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            await self.done(path)

    async def done(self, path: Path) -> None:
        """Report that the agent has written a file."""
        await self.tool("PostToolUse", self.names.create, {self.names.path: str(path)})

    def _path(self, form: str) -> str:
        return str(self.stage.root / form.format(**self.folders))

    async def _allowed(self, tool: str, form: str, given: Mapping[str, str]) -> Path | None:
        """Return the path to which Stet says yes; one that is no copy of the session is noted."""
        answer = await self.tool("PreToolUse", tool, given)
        if not isinstance(answer, Mapping):
            return None
        path = Path(answer[self.names.path])
        if not is_really_below(path, self.folders["shadow"]):
            self.seen.faults.append(f"allowed: {form} as {path}")
            return None
        return path


def is_really_below(path: Path, folder: str) -> bool:
    """Return whether a path is below a folder, without links."""
    real = Path(os.path.realpath(path.parent), path.name)
    return real.is_relative_to(folder) and not path.is_symlink()


def make_workspace(stage: Stage) -> None:
    """Make a workspace with links that lead out of it, a pipe, and secrets inside and beside."""
    stage.put("a.txt", "one\ntwo\n")
    stage.put(".env")
    stage.put("../secret.txt")
    stage.put("sub/plain.txt", "x\n")
    stage.put(".git/HEAD", "ref: refs/heads/main\n")
    stage.put(".git/hooks/sample", "x\n")
    for name, target in {
        "to-env.txt": ".env",
        "to-secret.txt": "../secret.txt",
        "up": "..",
    }.items():
        (stage.root / name).symlink_to(target)
    os.mkfifo(stage.root / "fifo")


@attack(
    37, "hooks and control socket", least=150, weakness="anywhere",
    others=(
        "links_followed", "nothing_protected", "mixed_patches",
        *(("anyone_answered",) if IS_ROOT else ()),
    ),
)  # fmt: skip
async def hook_calls(stage: Stage) -> Result:
    result = Result()
    make_workspace(stage)
    n_cases = 0

    async def attack_all(seen: Seen) -> None:
        nonlocal n_cases
        descriptor = await descriptor_of(stage, seen.editor)
        door = ControlDoor(seen, descriptor)
        for name in AGENTS:
            attacker = Attacker(stage, seen, door, name)
            await attacker.begin()
            n_cases += await forged_files(attacker)
            n_cases += await links_in_copies(attacker)
        for name, argument in PATCH_ARGUMENTS.items():
            n_cases += await patches(HookCaller(stage, seen, door, name), argument)
        n_cases += await forged_sessions(stage, seen, door)
        n_cases += await odd_calls(stage, seen, door)
        n_cases += await raw_lines(seen, door)
        n_cases += await reads_of_text(stage, door)
        n_cases += await other_user(seen, Path(descriptor.socket))
        await after_review(seen, stage)

    seen = await stage.play([], prompts=(), after=attack_all, env=runtime_env(stage))
    result.add(n_cases, seen.effects())
    return result


async def forged_files(attacker: Attacker) -> int:
    """Read and write files that the session may not, by all ways to name them."""
    for form in READS:
        await attacker.read(form)
    writes = (*WRITES, *UNNAMED, *PROTECTED)
    for form in writes:
        await attacker.write(form)
    return len(READS) + len(writes)


async def links_in_copies(attacker: Attacker) -> int:
    """Replace copies by links, also between the answer of Stet and the end of the tool."""
    stage, shadow = attacker.stage, Path(attacker.folders["shadow"])
    copy = shadow / "a.txt"
    copy.unlink(missing_ok=True)
    copy.symlink_to(stage.top / "secret.txt")
    await attacker.done(copy)
    await attacker.read("a.txt")
    (shadow / "sub").symlink_to(stage.root / ".git")
    await attacker.done(shadow / "sub" / "HEAD")
    await attacker.write("sub/hooks")
    await attacker.read("sub/plain.txt")
    given = {attacker.names.path: str(stage.root / "late.txt"), attacker.names.content: "x"}
    allowed = await attacker.tool("PreToolUse", attacker.names.create, given)
    late = Path(allowed[attacker.names.path])
    await asyncio.to_thread(late.symlink_to, stage.root / ".env")
    await attacker.done(late)
    (shadow / "fifo").unlink(missing_ok=True)
    os.mkfifo(shadow / "fifo")
    await attacker.done(shadow / "fifo")
    return 6


async def patches(caller: HookCaller, argument: str) -> int:
    """Change a permitted and a forbidden file by one patch."""
    root, top = caller.stage.root, caller.stage.top
    await caller.event("UserPromptSubmit", prompt="Go.")
    inside = "*** Update File: a.txt\n@@\n-two\n+2"
    bodies = [
        f"{inside}\n*** Add File: {place}\n+x"
        for place in (top / "new.txt", "../new.txt", ".git/hooks/x", ".env.local", "/etc/stet", "up/new.txt")
    ]  # fmt: skip
    bodies += [
        f"{inside}\n*** Delete File: ../secret.txt",
        "*** Update File: a.txt\n*** Move to: ../moved.txt\n@@\n-two\n+2",
        "*** Update File: ../secret.txt\n*** Move to: taken.txt\n@@\n-x\n+y",
        "*** Update File: .env\n*** Move to: shown.txt\n@@\n-x\n+y",
        "*** Delete File: .env",
        "*** Add File: a.txt/../../new.txt\n+x",
    ]
    for body in bodies:
        text = f"*** Begin Patch\n{body}\n*** End Patch\n"
        allowed = await caller.tool("PreToolUse", "apply_patch", {argument: text})
        if allowed is None:
            continue
        named = [
            path
            for file in parse_patch(allowed[argument]).files
            for path in (file.path, file.new_path)
            if path
        ]
        caller.seen.faults += [
            f"allowed: {path} of a patch" for path in named if "/shadow/" not in str(root / path)
        ]
    return len(bodies)


async def forged_sessions(stage: Stage, seen: Seen, door: ControlDoor) -> int:
    """Send events in the name of sessions and agents that can't exist."""
    shadow = Path(door.descriptor.socket).parent / "shadow"
    before = await asyncio.to_thread(lambda: sorted(shadow.glob("*/*")))
    given = {"file_path": str(stage.root / "a.txt"), "content": "x"}
    for session in SESSIONS:
        forged = HookCaller(stage, seen, door, "claude", session)
        if await forged.tool("PreToolUse", "Write", given) is not None:
            seen.faults.append(f"allowed: session {session!r}")
    for agent in ("", "../claude", "Claude", "stet", "x" * 10_000):
        if (
            await HookCaller(stage, seen, door, agent).tool("PreToolUse", "Write", given)
            is not None
        ):
            seen.faults.append(f"allowed: agent {agent!r}")
    after = await asyncio.to_thread(lambda: sorted(shadow.glob("*/*")))
    seen.faults += [f"made: {path}" for path in after if path not in before]
    return len(SESSIONS) + 5


async def odd_calls(stage: Stage, seen: Seen, door: ControlDoor) -> int:
    """Send calls whose file can't be read, or whose folder is none; no edit may be allowed."""
    caller = HookCaller(stage, seen, door, "claude")
    for form in FORMS:
        for tool in ("Write", "Edit", "NotebookEdit"):
            if await caller.tool("PreToolUse", tool, form) is not None:
                seen.faults.append(f"allowed: {form!r:.80}")
    for caller.cwd in FOLDERS:
        call = {"file_path": "../secret.txt", "content": "x"}
        if await caller.tool("PreToolUse", "Write", call) is not None:
            seen.faults.append(f"allowed: in the folder {caller.cwd!r:.80}")
    return 3 * len(FORMS) + len(FOLDERS)


async def raw_lines(seen: Seen, door: ControlDoor) -> int:
    """Send lines that are no requests, or that no program may send; the next one is answered."""
    for line in LINES:
        answers = await door.exchange(line)
        seen.faults += [] if b'"id": 7' in answers else [f"no answer after {line[:60]!r}"]
        first = json.loads(answers.partition(b"\n")[0])
        seen.faults += [f"answered: {line[:60]!r}"] if "result" in first else []
    await door.exchange(b" " * (16 * 2**20 + 1))
    return len(LINES) + 1


async def reads_of_text(stage: Stage, door: ControlDoor) -> int:
    """Read hidden files and files outside by the method that `stet review` uses."""
    names = (".env", "../secret.txt", "to-secret.txt", "to-env.txt", "up/secret.txt", "sub/../.env")
    uris = [f"file://{stage.root}/{name}" for name in names]
    uris += [
        f"file://{stage.top}/secret.txt",
        "file:///proc/self/environ",
        "stet:log",
        "x" * 100_000,
    ]
    for uri in uris:
        await door.ask("control.text", {"uri": uri})
    return len(uris)


_OTHER_USER = """
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(20)
    client.connect(sys.argv[1])
    client.sendall(b'{"id": 1, "method": "control.hasOpen", "params": [{"path": "/"}]}\\n')
    print("answered" if client.recv(100) else "refused")
except OSError as error:
    print("refused")
"""


async def other_user(seen: Seen, path: Path) -> int:
    """Connect as another user of the system, which only root can try.

    The second time the folder and the socket are open to all, as on a badly configured system: only
    the kernel's answer about the peer protects the socket.
    """
    if not IS_ROOT:
        return 0
    command = [sys.executable, "-I", "-c", _OTHER_USER, path.name]
    modes = {one: stat.S_IMODE(one.stat().st_mode) for one in (path.parent, path)}
    try:
        for is_open in (False, True):
            if is_open:
                for one in modes:
                    await asyncio.to_thread(one.chmod, 0o777)
            ended = await asyncio.to_thread(
                subprocess.run, command, cwd=path.parent, capture_output=True, text=True, check=True
            )
            assert ended.stdout.strip() in ("refused", "answered"), ended
            seen.faults += ["another user is answered"] if "answered" in ended.stdout else []
    finally:
        for one, mode in modes.items():
            await asyncio.to_thread(one.chmod, mode)
    return 2
