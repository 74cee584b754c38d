"""Every fault of a model's server, M1 to M43, in a whole turn over real HTTP.

None passes for success, nothing of a cut call is carried out, the user is shown a sentence, and the
next turn of the same chat works: nothing that poisons it was kept.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path

import pytest

from stet.agent.agent_events import AgentEvent, RetryScheduled, TextDelta
from stet.agent.turn import Turn, TurnState
from stet.llm.model_endpoint import ModelEndpoint, Timeouts
from stet.llm.openai_model import OpenAIModel
from stet.system.system import System
from tests.support.agent_harness import AgentHarness
from tests.support.certificates import EXPIRED, server_side
from tests.support.model_faults import DONE, ELSEWHERE, FAULTS, Fault
from tests.support.model_requests import KEY, QUICK, model_at
from tests.support.openai_server import End, OpenAIServer, Reply, call, delta, error
from tests.support.workspaces import make_workspace

pytestmark = pytest.mark.slow


BRIEF = Timeouts(connect=2.0, first=1.5, idle=1.5, total=3.0)
TEXT = "x = 1\n\nmiddle = 0\n\ny = 2\n"


def table_with(model: OpenAIModel) -> AgentHarness:
    """An agent that has `a.py` open and asks this model."""
    return AgentHarness(make_workspace(opened={"/ws/a.py": TEXT}), model=model)


@asynccontextmanager
async def at_work(*replies: object) -> AsyncIterator[tuple[AgentHarness, OpenAIServer]]:
    """An agent and the server of its model."""
    async with OpenAIServer(list(replies)) as server:  # type: ignore[arg-type]
        model = model_at(server, timeouts=BRIEF)
        try:
            yield table_with(model), server
        finally:
            await model.close()


def shown(table: AgentHarness, turn: Turn) -> str:
    """Every sentence about what went wrong that the user can see."""
    waits = [event.reason for event in table.events if isinstance(event, RetryScheduled)]
    return "\n".join([turn.error, *waits, *(run.error for run in turn.tool_calls)])


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
async def test_fault(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stet.llm.completion_stream.MAX_EVENT_BYTES", 200_000)
    async with at_work(*fault.replies, DONE) as (table, server):
        turn = await table.ask()
        assert turn.state == fault.state, turn.error
        assert len(table.hunks) == fault.n_hunks
        if fault.tools:
            assert tuple(run.state for run in turn.tool_calls) == fault.tools
        assert turn.answer == fault.spoken
        assert fault.words in shown(table, turn)
        assert KEY not in shown(table, turn)
        assert bool(turn.error) == (fault.state != "completed")
        if fault.state == "completed":
            server.add(DONE)
        again = await table.ask("Once more")
        assert again.state is TurnState.COMPLETED, again.error
        check_history(server.requests[-1].body["messages"])
        check_history(server.requests[len(fault.replies) - 1].body["messages"])
        document = table.workspace.document("file:///ws/a.py")
        assert document is not None
        assert document.text == TEXT


def check_history(messages: list[dict[str, object]]) -> None:
    """Every call is whole JSON with an id of its own, and has its answer."""
    calls = [one for message in messages for one in message.get("tool_calls", [])]  # type: ignore[attr-defined]
    answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert [one["id"] for one in calls] == answered
    assert len(set(answered)) == len(answered)
    for one in calls:
        assert isinstance(json.loads(one["function"]["arguments"]), dict)


def test_no_fault_of_the_list_is_left_out() -> None:
    known = {fault.id.split()[0] for fault in FAULTS}
    assert known | ELSEWHERE == {f"M{n}" for n in range(1, 44)}
    assert len({fault.id for fault in FAULTS}) == len(FAULTS)


async def test_m40_unresolvable_host_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    endpoint = ModelEndpoint("openai-compatible", "http://nobody.invalid/v1", "m", api_key=KEY)
    model = OpenAIModel(endpoint, System(), timeouts=BRIEF, retry=QUICK)
    turn = await table_with(model).ask()
    await model.close()
    assert turn.state is TurnState.FAILED
    assert "nobody.invalid" in turn.error
    assert "model.baseUrl" in turn.error


async def test_m41_an_expired_certificate_is_refused_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = tmp_path / "authority.pem"
    # Not by a name of this machine, for which no file of certificates counts.
    tls = server_side("0.0.0.0", authority, expires=EXPIRED)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    monkeypatch.setenv("no_proxy", "*")
    async with OpenAIServer([DONE], tls=tls) as server:
        endpoint = ModelEndpoint("openai", server.url("/v1", "0.0.0.0"), "m", api_key=KEY)
        model = OpenAIModel(endpoint, System(), timeouts=BRIEF, retry=QUICK)
        turn = await table_with(model).ask()
        await model.close()
        assert (turn.state, server.requests) == (TurnState.FAILED, [])
        assert "certificate has expired" in turn.error
        assert "clock" in turn.error


class JumpingSystem(System):
    """A machine whose clock jumps by days, on and back."""

    def __init__(self) -> None:
        super().__init__()
        self._jumps: Iterator[int] = cycle([0, 86_400, -86_400 * 30])

    def now(self) -> float:
        return super().now() + next(self._jumps)


async def test_m42_a_clock_that_jumps_ends_nothing_and_hangs_nothing() -> None:
    async with OpenAIServer(
        [error(429, "Slow.", retry_after="0.1"), call("list_files"), DONE]
    ) as server:
        endpoint = ModelEndpoint("openai", server.base_url, "m", api_key=KEY)
        model = OpenAIModel(endpoint, JumpingSystem(), timeouts=BRIEF, retry=QUICK)
        async with asyncio.timeout(60):
            turn = await table_with(model).ask()
        await model.close()
        assert turn.state is TurnState.COMPLETED, turn.error


N_WORDS = 4
CHUNKS = [
    delta(role="assistant", content=""),
    *(delta(content=f"word {n} ") for n in range(N_WORDS)),
    *call("edit_file", file="a.py", old_text="x = 1", new_text="x = 3").events[1:],
]


@pytest.mark.parametrize("k", range(len(CHUNKS) + 1))
async def test_m43_nothing_follows_a_cancel_after_chunk_k(k: int) -> None:
    async with at_work(Reply(CHUNKS[:k], End.HANG), DONE) as (table, server):
        arrived = asyncio.Event()
        n_words = min(max(k - 1, 0), N_WORDS)

        def count_events(event: AgentEvent) -> None:
            n_deltas = sum(isinstance(one, TextDelta) for one in table.events)
            if n_deltas >= n_words:
                arrived.set()

        table.on_event = count_events
        turn_id = table.start()
        await server.asked(1)
        await arrived.wait()
        table.agent.cancel(turn_id)
        n_events = len(table.events)
        async with asyncio.timeout(0.2):
            await server.left()
            await table.rest()
        turn = table.agent.turn(turn_id)
        assert (turn.state, turn.tool_calls, table.hunks) == (TurnState.CANCELLED, (), ())
        assert len(table.events) == n_events
        assert (await table.ask("Again")).state is TurnState.COMPLETED
