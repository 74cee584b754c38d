"""Class 41: what clients of `stet mcp` may read, propose and learn."""

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

from tests.attacks.chat_agents import ELSEWHERE, PLACES
from tests.attacks.doors import SECONDS, ControlDoor, after_review, descriptor_of, runtime_env
from tests.attacks.hook_calls import PROTECTED, make_workspace
from tests.attacks.ide_clients import key_faults, key_parts, private_key
from tests.attacks.registry import Result, attack
from tests.attacks.seen import Seen
from tests.attacks.showing import ESCAPES
from tests.attacks.stage import Stage
from tests.support.shell import STET

SESSION, OTHER = "0123456789abcdef", "fedcba9876543210"
SESSIONS = ("", "g" * 16, "../../../x", "0" * 65, "0" * 7, "a\n" * 8, "\u0660" * 16)
TOOLS = (
    "",
    "edit_file",
    "create_file",
    "execute_command",
    "__init__",
    "stet.accept",
    "READ_FILE",
    "read_file ",
)
CLIENTS = ("stet", "STET", "\nstet\n", "\x1b stet", "imported", "s" * 9999, "", *ESCAPES[:6])
FORMS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read_file", {}), ("read_file", {"path": 7}), ("read_file", {"path": ["a.txt"]}),
    ("read_file", {"path": "a.txt", "start_line": -1}), ("read_file", {"path": "a.txt", "start_line": 10**30}),
    ("read_file", {"path": "a.txt", "end_line": 0}), ("read_file", {"path": "a.txt", "encoding": "x"}),
    ("propose_edit", {"path": "a.txt", "old_text": "", "new_text": "x"}),
    ("propose_edit", {"path": "a.txt", "old_text": "one\n", "new_text": "\ud800"}),
    ("propose_edit", {"path": "a.txt", "old_text": "one", "new_text": "x", "replace_all": "maybe"}),
    ("propose_file", {"path": "big.txt", "content": "x" * 3_000_000}),
    ("propose_file", {"path": "half.txt", "content": "\ud800"}),
    ("wait_for_review", {"hunks": ["h1"] * 2000}), ("wait_for_review", {"hunks": []}),
    ("wait_for_review", {"hunks": ["h1"], "timeout_seconds": 10**9}), ("list_proposals", {"state": "x" * 10_000}),
    ("search", {"query": ""}), ("search", {"query": "x" * 2000}), ("search", {"query": "x", "limit": 10**9}),
    ("editor_state", {"all": True}), ("get_diagnostics", {"path": "\0"}),
)  # fmt: skip
SEARCHES = ("kanarie", "kanarie000", "here", "KEY", "BEGIN PRIVATE", "secret", ".env")
LINES = (
    b"{", b"[]", b"\xff\xfe", b"null", b"[" * 100_000, b'{"jsonrpc": "2.0", "id": 1, "method": "stet.accept"}',
    b'{"jsonrpc": "2.0", "id": [], "method": "tools/call", "params": {}}', b'{"jsonrpc": "1.0"}', b"\0" * 1000,
    b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "read_file", "arguments": {"path": ".env"}}}',
    b'{"jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}}',
    b'{"jsonrpc": "2.0", "id": 4, "result": {}}', b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7}',
)  # fmt: skip


class McpCaller:
    """A session that calls the tools of `stet mcp`, as its process passes the calls on."""

    def __init__(self, door: ControlDoor, session: str = SESSION) -> None:
        self._door = door
        self._session = session

    async def call(self, tool: str, **arguments: object) -> Any:
        """Call a tool; return its result, None if it is refused."""
        params = {"session": self._session, "client": "robot", "tool": tool, "arguments": arguments}
        return await self._door.ask("control.tool", params)


async def files(stage: Stage, caller: McpCaller) -> None:
    """Read and change files that an agent may not, and protected ones."""
    paths = [*PLACES, *(f"{stage.root}/{place}" for place in PLACES), *ELSEWHERE]
    paths.remove("a.txt")
    for path in paths:
        await caller.call("read_file", path=path)
        await caller.call("get_diagnostics", path=path)
        await caller.call("list_proposals", path=path)
        await caller.call("propose_file", path=path, content="written\n")
        await caller.call("propose_edit", path=path, old_text="here", new_text="there")
    for name in PROTECTED:
        await caller.call("propose_file", path=name, content="run: evil\n")


async def foreign_hunks(door: ControlDoor, seen: Seen, caller: McpCaller) -> None:
    """Ask in one session for hunks of another, and call tools in the name of no session."""
    other = McpCaller(door, OTHER)
    made = await other.call(
        "propose_file", path="other.conftest.py", content="belongs to another\n"
    )
    for hunk in (*made["hunks"], "h-1", "*", ""):
        if await caller.call("wait_for_review", hunks=[hunk]) is not None:
            seen.faults.append(f"told of a foreign hunk: {hunk}")
    listed = await caller.call("list_proposals")
    seen.faults += ["listed a foreign hunk"] if "belongs to another" in str(listed) else []
    for hunk in made["hunks"]:
        await seen.editor.command("stet.reject", {"hunk": hunk})


async def forged_names(door: ControlDoor, seen: Seen, caller: McpCaller) -> None:
    """Call tools in the name of no session, tools that do not exist, and as odd clients."""
    for session in SESSIONS:
        if await McpCaller(door, session).call("editor_state") is not None:
            seen.faults.append(f"answered: session {session!r}")
    for tool in TOOLS:
        if await caller.call(tool, path="a.txt") is not None:
            seen.faults.append(f"ran: {tool!r}")
    for n, client in enumerate(CLIENTS):
        arguments = {"path": f"by{n}.txt", "content": "x\n"}
        named = {"session": f"{n:032x}", "client": client}
        await door.ask("control.tool", {**named, "tool": "propose_file", "arguments": arguments})
        await seen.editor.command("stet.reject", {"file": f"by{n}.txt"})
    for hunk in await seen.editor.command("stet.proposals"):
        if hunk["author"] == "stet" or not hunk["author"].replace("-", "").isalnum():
            seen.faults.append(f"author: {hunk['author']!r}")


async def odd_arguments(seen: Seen, caller: McpCaller) -> None:
    """Call tools with arguments that their schemas refuse, or that are too large."""
    for tool, arguments in FORMS:
        answer = await caller.call(tool, **arguments)
        if answer is not None and tool not in {"read_file", "list_proposals", "propose_edit"}:
            seen.faults.append(f"took: {tool} {arguments!r:.80}")


async def secrets(stage: Stage, seen: Seen, caller: McpCaller) -> int:
    """Read parts of a private key, select them, and search for what is hidden."""
    for start in range(1, 13):
        for n_lines in (1, 3):
            await caller.call(
                "read_file", path="key.md", start_line=start, end_line=start + n_lines
            )
    for query in SEARCHES:
        await caller.call("search", query=query)
    editor, parts = seen.editor, key_parts(stage.root / "key.md")
    editor.open("key.md")
    editor.focus("key.md")
    for part in parts:
        editor.select("key.md", part)
        await editor.command("stet.status")
        await caller.call("editor_state")
        await caller.call("search", query=part[:60])
    await caller.call("propose_edit", path="key.md", old_text="The end.", new_text="The End.")
    await caller.call("list_proposals")
    return 24 + len(SEARCHES) + 2 * len(parts) + 2


async def process(stage: Stage, seen: Seen) -> int:
    """Send the process what is no request, and then a request; it must not end before."""
    started = await asyncio.create_subprocess_exec(
        *STET, "mcp", cwd=stage.root, env={"PATH": "/usr/bin:/bin", **runtime_env(stage)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    first = {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"},
    }  # fmt: skip
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": first}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert started.stdin is not None
    assert started.stdout is not None
    lines = [json.dumps(hello).encode(), json.dumps(ready).encode(), *LINES]
    started.stdin.write(
        b"\n".join([*lines, b'{"jsonrpc": "2.0", "id": 77, "method": "ping"}', b""])
    )
    answers = b""
    async with asyncio.timeout(SECONDS):
        while b'"id":77' not in answers and (line := await started.stdout.readline()):
            answers += line
        seen.faults += [] if b'"id":77' in answers else ["the process has ended"]
        seen.faults += ["a file outside is read"] if b"root:" in answers else []
        words = await asyncio.to_thread(words_of, started.pid)
        started.stdin.close()
        _, errors = await started.communicate()
    seen.faults += [f"argument: {word}" for word in words if len(word) > 30 and "/" not in word]
    seen.sent += [answers.decode(errors="replace"), errors.decode(errors="replace")]
    return len(LINES) + 1


def words_of(process: int) -> list[str]:
    """Return the command line of a process; empty if the system does not show it."""
    command = Path(f"/proc/{process}/cmdline")
    return command.read_text().split("\0") if command.exists() else []


@attack(
    41, "clients of stet mcp", least=150, weakness="anywhere",
    others=("nothing_private", "nothing_redacted", "nothing_protected", "hunks_of_all"),
)  # fmt: skip
async def mcp_clients(stage: Stage) -> Result:
    result = Result()
    make_workspace(stage)
    body = private_key(stage)
    n_cases = 0

    async def attack_all(seen: Seen) -> None:
        nonlocal n_cases
        door = ControlDoor(seen, await descriptor_of(stage, seen.editor))
        caller = McpCaller(door)
        await files(stage, caller)
        await foreign_hunks(door, seen, caller)
        await forged_names(door, seen, caller)
        await odd_arguments(seen, caller)
        await secrets(stage, seen, caller)
        n_cases = door.n_asked + (0 if stage.few else await process(stage, seen))
        seen.faults += key_faults(seen, body)
        await seen.editor.command("stet.reject", {"file": "key.md"})
        await after_review(seen, stage)

    seen = await stage.play([], prompts=(), after=attack_all, env=runtime_env(stage))
    result.add(n_cases, seen.effects())
    return result
