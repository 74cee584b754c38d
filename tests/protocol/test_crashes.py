"""A failure inside Stet writes a report, informs the user once, and reveals nothing private."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Iterable
from contextlib import nullcontext
from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException

from tests.support.canaries import keys
from tests.support.editor import FakeEditor
from tests.support.editor_session import WAIT_SECONDS
from tests.support.live_turns import calls, done, edit, run, scripted
from tests.support.raw_peer import command, connected
from tests.support.server_processes import start

SERVER = (
    sys.executable,
    "-I",
    str(Path(__file__).parents[1] / "support" / "crashing_server.py"),
)
TEXT = "the heron stood in the reeds"
KEY = keys()["GitHub token"]
QUOTED = f"{TEXT} {KEY}"


def reported(editor: FakeEditor) -> list[str]:
    """Return the messages about a failure."""
    return [one.message for one in editor.messages if "internal error" in one.message]


async def until(holds: Callable[[], Awaitable[object]]) -> None:
    """Poll for a state that the server does not announce."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not await holds():
            pass


async def ready(editor: FakeEditor) -> None:
    async def is_ready() -> object:
        return (await editor.command("stet.status"))["ready"]

    await until(is_ready)


def reports(state: Path) -> list[Path]:
    return sorted((state / "stet" / "log" / "crashes").glob("crash-*.txt"))


def texts(files: Iterable[Path]) -> str:
    return "\n".join(file.read_text() for file in files)


@pytest.mark.parametrize("how", ["handler", "task", "callback", "thread"])
async def test_a_failure_leaves_a_report_without_anything_private_and_the_session_goes_on(
    tmp_path: Path, how: str
) -> None:
    root, state = tmp_path / "ws", tmp_path / "state"
    root.mkdir()
    (root / "heron.txt").write_text(TEXT)
    async with FakeEditor.start(
        root,
        command=SERVER,
        env={"XDG_STATE_HOME": str(state)},
        settings={"agent": {"character": TEXT}},
    ) as editor:
        await ready(editor)
        for _ in range(2):
            refused = pytest.raises(JsonRpcException, match="internal error in Stet")
            with refused if how == "handler" else nullcontext():
                await editor.command("test.crash", how, QUOTED)
        message = await editor.wait_for_message("A crash report is in")
        assert (await editor.command("stet.status"))["ready"]
        [report] = reports(state)
        assert str(report) in message
        assert len(reported(editor)) == 1
    text = report.read_text()
    assert "KeyError" in text
    assert "in fail" in text
    assert "editor: neovim" in text
    assert "agent.character" in text
    log = texts((state / "stet" / "log").glob("stet-*.log"))
    assert log
    for private in (TEXT, "heron", KEY, str(tmp_path), str(Path.home())):
        assert private not in text
    for private in (TEXT, KEY):
        assert private not in log
    assert reports(state) == [report]
    assert not list(report.parent.glob("running-*"))


async def test_a_fault_in_native_code_is_reported_by_the_next_server(tmp_path: Path) -> None:
    root, state = tmp_path / "ws", tmp_path / "state"
    root.mkdir()
    env = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(state)}
    notes = state / "stet" / "log" / "crashes"
    async with connected(SERVER, env=env) as peer:

        async def is_recorded() -> object:
            asked = {"command": "test.crash", "arguments": ["is_recorded", ""]}
            return await peer.ask("workspace/executeCommand", asked)

        await until(is_recorded)
        peer.send(command(1, "test.crash", "fault", QUOTED))
        assert await peer.ended() == -signal.SIGSEGV
    async with FakeEditor.start(root, command=SERVER, env=env) as editor:
        message = await editor.wait_for_message("an earlier run crashed")
        assert str(notes) in message
        [report] = reports(state)
        assert "Segmentation fault" in report.read_text()
        assert "crashing_server.py" in report.read_text()
        assert str(tmp_path) not in report.read_text()


async def test_a_failure_before_it_serves_leaves_a_report_too(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "STET_TEST_START": QUOTED}
    process = await start(SERVER, env=env, fresh=True)
    _, errors = await process.communicate()
    assert process.returncode == 1
    assert b"Stet ended by an error" in errors
    [report] = reports(tmp_path)
    for private in (TEXT, KEY):
        assert private not in report.read_text()
        assert private.encode() not in errors


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error"])
async def test_a_session_leaves_no_key_and_no_text_in_the_log(tmp_path: Path, level: str) -> None:
    root, state = tmp_path / "ws", tmp_path / "state"
    root.mkdir()
    (root / "poem.txt").write_text(f"{TEXT}\ntoken = '{KEY}'\n")
    model = scripted(
        tmp_path,
        calls(("read_file", {"file": "poem.txt"})),
        calls(("read_file", {"file": TEXT})),
        calls(edit("poem.txt", f"{TEXT} not", TEXT), edit("poem.txt", TEXT, f"{TEXT}!")),
        done(f"Said that {TEXT}. {KEY}"),
    )
    async with FakeEditor.start(
        root,
        command=(*SERVER, "--log-level", level),
        env={**model, "XDG_STATE_HOME": str(state), "OPENAI_API_KEY": KEY},
    ) as editor:
        uri = editor.open("poem.txt")
        await run(editor, f"{TEXT}?", uri=uri)
        for name in ("stet.accept", "stet.search", "stet.nothing", "test.crash"):
            with pytest.raises(JsonRpcException):
                await editor.command(name, {"hunk": QUOTED, "uri": 3, "limit": TEXT})
        editor.protocol.notify(
            "$/stet/didChangeSelection", {"textDocument": TEXT, "selections": QUOTED}
        )
        assert (await editor.command("stet.status"))["ready"]
    log = state / "stet" / "log"
    written = texts(file for file in log.rglob("*") if file.is_file())
    assert KEY not in written
    if level != "debug":
        assert TEXT not in written
    assert written
