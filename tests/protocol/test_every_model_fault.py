"""Every fault of a model's server, M1 to M43, in the whole server: no text or proposal is harmed.

`tests/unit/agent/test_loop_model_faults.py` tests the outcome of each in the turn. One server must
survive all faults that a reply can have; after each it answers, its texts equal the editor's byte
by byte, every hunk is unchanged, and the chat continues.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.certificates import EXPIRED, server_side
from tests.support.fault_scene import TEXT, FaultScene, at_fault, check_unharmed
from tests.support.live_turns import ask, end_of, provider, run, states
from tests.support.model_faults import DONE, ELSEWHERE, FAULTS, Fault
from tests.support.openai_server import End, OpenAIServer, Reply, call, delta
from tests.support.proposals import IMPATIENT_SERVER

PROGRAM = "x = 1\n\nmiddle = 0\n\ny = 2\n"

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Survivor:
    """A scene with the server of its model."""

    scene: FaultScene
    server: OpenAIServer


def made(folder: Path) -> Path:
    """Make a workspace of two files."""
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    (folder / "a.py").write_text(PROGRAM)
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def survivor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Survivor]:
    """Yield the scene that must survive all faults."""
    root = made(tmp_path_factory.mktemp("faults") / "ws")
    async with (
        OpenAIServer() as server,
        at_fault(root, env=provider(server), command=IMPATIENT_SERVER) as scene,
    ):
        scene.editor.open("a.py")
        yield Survivor(scene, server)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
async def test_a_fault_of_a_reply_harms_nothing(survivor: Survivor, fault: Fault) -> None:
    editor, server = survivor.scene.editor, survivor.server
    before = await states(editor)
    server.forget()
    server.add(*fault.replies, DONE)
    turn = await run(editor, fault.id, uri=editor.uri("a.py"), chat=fault.id)
    assert turn["state"] == fault.state, turn["error"]
    assert bool(turn["error"]) == (fault.state == "failed")
    assert len(turn["hunks"]) == fault.n_hunks
    new = dict.fromkeys(turn["hunks"], "pending")
    await check_unharmed(editor, before | new)
    server.forget()
    server.add(DONE)
    again = await run(editor, f"{fault.id}, again", uri=editor.uri("a.py"), chat=fault.id)
    assert again["state"] == "completed", again["error"]
    for hunk in new:
        await editor.command("stet.reject", {"hunk": hunk})
    await check_unharmed(editor, before | dict.fromkeys(new, "rejected"))


async def test_m1_to_m43_are_all_here() -> None:
    assert {fault.id.split()[0] for fault in FAULTS} | ELSEWHERE == {f"M{n}" for n in range(1, 44)}


ELSE = "0.0.0.0"
"""A name of this machine that Stet does not treat as loopback, where it ignores `SSL_CERT_FILE`."""


def trusting(authority: Path, server: OpenAIServer) -> dict[str, str]:
    """Return the environment that makes the server use a provider and trust its certificates."""
    address = {"OPENAI_BASE_URL": server.url("/v1", ELSE), "SSL_CERT_FILE": str(authority)}
    return {**provider(server), **address}


class Offering(OpenAIServer):
    """A server that records the negotiated protocol of each connection."""

    def __init__(self, replies: Sequence[Reply], tls: ssl.SSLContext) -> None:
        super().__init__(replies, tls=tls)
        self.agreed: list[str | None] = []

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.agreed.append(writer.get_extra_info("ssl_object").selected_alpn_protocol())
        await super()._connected(reader, writer)


async def test_m19_http_2_is_never_agreed_on_so_nothing_can_go_away_in_it(tmp_path: Path) -> None:
    authority = tmp_path / "authority.pem"
    tls = server_side(ELSE, authority)
    tls.set_alpn_protocols(["h2", "http/1.1"])
    async with Offering([DONE], tls) as server:
        env = trusting(authority, server)
        async with at_fault(made(tmp_path / "ws"), env=env) as scene:
            turn = await run(scene.editor, "Hello", uri=scene.uri)
            assert turn["state"] == "completed", turn["error"]
            assert server.agreed == ["http/1.1"]
            await scene.survives()


async def test_m22_a_line_of_a_hundred_megabytes(tmp_path: Path) -> None:
    endless = Reply([b"data: ", *[b"x" * 1_000_000] * 100])
    async with (
        OpenAIServer([endless, endless]) as server,
        at_fault(made(tmp_path / "ws"), env=provider(server)) as scene,
    ):
        turn = await run(scene.editor, "Hello", uri=scene.uri)
        assert turn["state"] == "failed"
        assert "is longer than" in turn["error"]
        await scene.survives()


async def test_m40_a_name_that_leads_nowhere(tmp_path: Path) -> None:
    env = {
        "OPENAI_API_KEY": "test-key",
        "OPENAI_BASE_URL": "http://nobody.invalid/v1",
        "no_proxy": "*",
    }
    async with at_fault(made(tmp_path / "ws"), env=env, command=IMPATIENT_SERVER) as scene:
        turn = await run(scene.editor, "Hello", uri=scene.uri)
        assert turn["state"] == "failed"
        assert "nobody.invalid" in turn["error"]
        await scene.survives()


async def test_m41_a_certificate_that_has_expired(tmp_path: Path) -> None:
    authority = tmp_path / "authority.pem"
    tls = server_side(ELSE, authority, expires=EXPIRED)
    async with OpenAIServer([DONE], tls=tls) as server:
        env = trusting(authority, server)
        async with at_fault(made(tmp_path / "ws"), env=env, command=IMPATIENT_SERVER) as scene:
            turn = await run(scene.editor, "Hello", uri=scene.uri)
            assert (turn["state"], server.requests) == ("failed", [])
            assert "certificate has expired" in turn["error"]
            await scene.survives()


@pytest.mark.parametrize("seconds", [86_400.0, -86_400.0 * 30], ids=["on", "back"])
async def test_m42_a_clock_that_jumps_in_an_answer(survivor: Survivor, seconds: float) -> None:
    editor, server = survivor.scene.editor, survivor.server
    before = await states(editor)
    server.forget()
    server.add(Reply([delta(content="Hm")], End.HANG), Reply([delta(content="Hm")], End.HANG), DONE)
    n_asked = len(server.requests)
    turn = await ask(editor, f"Jump {seconds}", chat=f"jump {seconds}")
    await server.asked(n_asked + 1)
    await editor.command("test.jump", seconds)
    ended = await end_of(editor, turn)
    assert ended["state"] in ("failed", "limited")
    assert ended["error"] or ended["summary"]
    await check_unharmed(editor, before)


PIECES = call("edit_file", file="a.py", old_text="x = 1", new_text="x = 3").events


@pytest.mark.parametrize("k", range(len(PIECES) + 1))
async def test_m43_a_cancel_after_chunk_k(survivor: Survivor, k: int) -> None:
    editor, server = survivor.scene.editor, survivor.server
    before = await states(editor)
    server.forget()
    server.add(Reply(PIECES[:k], End.HANG))
    n_asked = len(server.requests)
    turn = await ask(editor, f"Cancel {k}", uri=editor.uri("a.py"), chat=f"cancel {k}")
    await server.asked(n_asked + 1)
    await editor.command("stet.cancel", {"turn": turn})
    ended = await end_of(editor, turn)
    assert (ended["state"], ended["hunks"]) == ("cancelled", [])
    await check_unharmed(editor, before)
