"""Class 39: who gets into the websocket for Claude Code, and what is sent there and done."""

import asyncio
import json
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from tests.attacks.chat_agents import ELSEWHERE, PLACES
from tests.attacks.doors import SECONDS, after_review, runtime_env
from tests.attacks.hook_calls import LINES, PROTECTED, make_workspace
from tests.attacks.registry import Result, attack
from tests.attacks.seen import Seen
from tests.attacks.stage import Stage
from tests.support.ide_client import (
    HEADER,
    IdeClient,
    IdeRefused,
    connection,
    locks_in,
    token_of,
)

ORIGINS = (
    "https://example.com",
    "http://127.0.0.1",
    "http://localhost",
    "null",
    "file://",
    "vscode-webview://x",
)
READERS = ("openFile", "checkDocumentDirty", "saveDocument", "getDiagnostics")
CALLS: tuple[dict[str, Any], ...] = (
    {"name": "executeCode", "arguments": {"code": "1"}}, {"name": "__init__"}, {"name": ["openDiff"]},
    {"name": "openDiff"}, {"name": "openDiff", "arguments": []}, {"name": "openDiff", "arguments": {"tab_name": []}},
    {"name": "close_tab", "arguments": {"tab_name": "x" * 20_000}}, {"name": "stet.accept", "arguments": {"all": True}},
    {"name": "openFile", "arguments": {"filePath": {"a": 1}}}, {"name": "x" * 100_000}, {}, {"arguments": {}},
)  # fmt: skip


def private_key(stage: Stage) -> list[str]:
    """Write a note with a private key in it; return the lines of the key's body."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    body = ["".join(stage.random.choices(letters, k=64)) for _ in range(8)]
    kind = "PRIVATE " + "KEY-----"
    lines = ["# Notes", f"-----BEGIN {kind}", *body, f"-----END {kind}", "The end."]
    stage.put("key.md", "\n".join([*lines, ""]))
    return body


def key_faults(seen: Seen, body: list[str]) -> list[str]:
    """List the lines of a private key that were sent."""
    return [f"sent: line {n} of a key" for n, line in enumerate(body) if line in str(seen.sent)]


def handshakes(token: str) -> list[tuple[list[tuple[str, str]], str | None, str]]:
    """List headers, an origin and a path of requests that must be refused."""
    wrong = [
        "",
        "x" * 43,
        f"{token}x",
        token[:-1],
        token.swapcase(),
        f" {token}x",
        f"Bearer {token}",
    ]
    found: list[tuple[list[tuple[str, str]], str | None, str]] = [
        ([], None, "/"),
        ([], None, f"/?token={token}"),
        ([], None, f"/{token}"),
        ([("Authorization", f"Bearer {token}")], None, "/"),
        ([("Cookie", f"{HEADER}={token}")], None, "/"),
        ([(HEADER, "x"), (HEADER, token)], None, "/"),
        ([("Host", "evil.example")], None, "/"),
        ([("Host", "evil.example")], "http://evil.example", "/"),
        ([(HEADER, token), ("Host", "evil.example")], "http://evil.example", "/"),
    ]
    found += [([(HEADER, one)], None, "/") for one in wrong]
    found += [([(HEADER, token)], origin, "/") for origin in ORIGINS]
    return found


async def enter(seen: Seen, lock: Path) -> int:
    """Connect without the token, with another one, and as a web page."""
    token = token_of(lock)
    cases = handshakes(token)
    for headers, origin, path in cases:
        connecting = connect(
            f"ws://127.0.0.1:{lock.stem}{path}",
            additional_headers=headers,
            origin=None if origin is None else Origin(origin),
            subprotocols=[Subprotocol("mcp")],
            proxy=None,
            open_timeout=SECONDS,
        )
        has_token = (HEADER, token) in headers
        expected = {401} if origin is None else {403} if has_token else {401, 403}
        try:
            async with connecting:
                seen.faults.append(f"let in: {headers} {origin} {path}")
        except InvalidStatus as refused:
            if (code := refused.response.status_code) not in expected:
                seen.faults.append(f"answered {code}: {headers} {origin} {path}")
    return len(cases) + await plain_request(seen, int(lock.stem))


async def plain_request(seen: Seen, port: int) -> int:
    """Send requests that are none of a websocket."""
    requests = (
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\0" * 10_000,
    )
    for request in requests:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with suppress(ConnectionError):
            writer.write(request)
            writer.write_eof()
            async with asyncio.timeout(SECONDS):
                answer = await reader.read()
            seen.faults += [f"answered: {answer!r:.80}"] if b" 200 " in answer[:20] else []
        writer.close()
    return len(requests)


async def refused(seen: Seen, claude: IdeClient, tool: str, **arguments: object) -> None:
    """Call a tool; note what is answered."""
    with suppress(IdeRefused):
        seen.sent += await claude.call(tool, **arguments)


async def diffs(stage: Stage, seen: Seen, claude: IdeClient) -> int:
    """Open diffs of files that Claude may not change, and read about them."""
    paths = [*(f"{stage.root}/{place}" for place in PLACES), *ELSEWHERE]
    for path in paths:
        answer = await claude.open_diff(path, "written\n", path[:50] or "tab")
        await asyncio.wait({answer}, timeout=1.0 if stage.few else SECONDS)
        if not answer.done() or answer.exception() is None:
            seen.faults.append(f"reviewed: {path!r:.80}")
            break
        for tool in READERS:
            await refused(seen, claude, tool, filePath=path, uri=f"file://{path}")
    for name in PROTECTED:
        _ = await claude.open_diff(stage.root / name, "run: evil\n", name)
    both = {"old_file_path": str(stage.root / "a.txt"), "new_file_path": str(stage.root / ".env")}
    await refused(seen, claude, "openDiff", **both, new_file_contents="x", tab_name="two")
    return len(paths) * (1 + len(READERS)) + len(PROTECTED) + 1


async def calls(seen: Seen, claude: IdeClient, lock: Path) -> int:
    """Call tools that do not exist, with odd arguments, and send what is no message."""
    for call in CALLS:
        with suppress(IdeRefused):
            seen.faults.append(f"ran: {await claude.ask('tools/call', **call)!r:.80}")
    for line in LINES:
        async with connection(lock, token_of(lock)) as connected, asyncio.timeout(SECONDS):
            await connected.send(line)
            await connected.send('{"jsonrpc":"2.0","id":7,"method":"ping"}')
            while json.loads(await connected.recv()).get("id") != 7:
                pass
    await claude.ask("ping")
    return len(CALLS) + len(LINES)


async def selections(stage: Stage, seen: Seen, claude: IdeClient) -> int:
    """Select text of a hidden file, and parts of a private key."""
    editor = seen.editor
    for name, needles in ((".env", ["here"]), ("key.md", key_parts(stage.root / "key.md"))):
        editor.open(name)
        editor.focus(name)
        for needle in needles:
            editor.select(name, needle)
            await editor.command("stet.status")
            for tool in ("getCurrentSelection", "getLatestSelection", "getOpenEditors"):
                await refused(seen, claude, tool)
    seen.sent.append(json.dumps(claude.notifications))
    return 6


def key_parts(path: Path) -> list[str]:
    """Return parts of a private key that don't look like one."""
    text = path.read_text()
    lines = text.splitlines()
    return [lines[4], "\n".join(lines[3:7]), lines[5][:40], text[:200], "\n".join(lines[6:11])]


def token_faults(seen: Seen, lock: Path, token: str) -> list[str]:
    """List the places in which the token is found, besides the lock file."""
    found = []
    editor = seen.editor
    shown = [
        *(one.message for one in editor.messages),
        *(one.message for one in editor.log_messages),
    ]
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            shown.append(process.read_bytes().decode(errors="replace"))
    found += [f"token in {text[:80]!r}" for text in (*shown, *seen.sent) if token in text]
    home = lock.parents[2]
    files = [one for one in home.rglob("*") if one.is_file() and one != lock]
    found += [f"token in {one}" for one in files if token.encode() in one.read_bytes()]
    mode = stat.S_IMODE(lock.stat().st_mode) | stat.S_IMODE(lock.parent.stat().st_mode)
    return found + ([f"mode: {mode:o}"] if mode & 0o077 else [])


@attack(
    39, "Claude's way into the editor", least=150, weakness="anywhere",
    others=("token_unchecked", "pages_let_in", "nothing_redacted", "nothing_protected", "open_to_all"),
)  # fmt: skip
async def ide_clients(stage: Stage) -> Result:
    result = Result()
    make_workspace(stage)
    body = private_key(stage)
    n_cases = 0

    async def attack_all(seen: Seen) -> None:
        nonlocal n_cases
        async with asyncio.timeout(SECONDS):
            while not (found := await asyncio.to_thread(locks_in, str(stage.top / "home"))):
                await seen.editor.command("stet.status")
        [lock] = found
        token = token_of(lock)
        n_cases += await enter(seen, lock)
        async with IdeClient.at(lock) as claude:
            n_cases += await diffs(stage, seen, claude)
            n_cases += await calls(seen, claude, lock)
            n_cases += await selections(stage, seen, claude)
            await after_review(seen, stage)
        seen.faults += await asyncio.to_thread(token_faults, seen, lock, token)
        seen.faults += key_faults(seen, body)

    settings = {"agents": {"claudeIde": True, "socket": False}}
    env = runtime_env(stage)
    seen = await stage.play([], prompts=(), after=attack_all, settings=settings, env=env)
    own = """listens: ["('127.0.0.1', 0)"]"""
    result.add(n_cases + 3, [one for one in seen.effects() if one != own])
    return result
