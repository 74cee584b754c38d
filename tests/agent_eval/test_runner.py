"""Runs of arms with a scripted model on loopback: judged, counted, kept, and not repeated."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from tests.agent_eval.arms import ARMS, Arm, Command, StetArm, Workplace
from tests.agent_eval.counting_proxy import CountingProxy
from tests.agent_eval.model_server import ModelServerFailed
from tests.agent_eval.results import Conditions, Result, ResultFile
from tests.agent_eval.runner import WARM_UP, Runner
from tests.agent_eval.task import Task
from tests.support.openai_server import End, OpenAIServer, Reply, Scripted, call, say, usage

CONDITIONS = Conditions("qwen2.5-coder-1.5b-instruct", "0" * 64, 16_384, 2, 60)
PAGES = {"/health": {"status": "ok"}}
COUNTING_PAGES = {"/apply-template": {"prompt": "x"}, "/tokenize": {"tokens": [1, 2, 3]}}
RIGHT = '```python\ndef hello():\n    return "Hello"\n```'


class FixedStetArm(StetArm):
    """Stet with a version that does not depend on whether the checkout has been changed."""

    def version(self) -> str:
        return "1"


class ShellArm(Arm):
    """A program that works without a model."""

    name = "shell"

    def __init__(self, script: str) -> None:
        self._script = script

    def version(self) -> str:
        return "1"

    def command(self, task: Task, workplace: Workplace) -> Command:
        return Command(["sh", "-c", self._script])

    def shown_answer(self, output: str) -> str:
        return output


def half_cached(reply: Reply) -> Reply:
    """Make the server say that it still knew four of the ten tokens of the prompt."""
    return replace(reply, events=[*reply.events[:-1], usage(10, 5, cached=4)])


@asynccontextmanager
async def scripted(
    folder: Path, replies: Sequence[Scripted] = ()
) -> AsyncIterator[tuple[OpenAIServer, CountingProxy, ResultFile]]:
    """Run a scripted model behind a proxy, with a file for results."""
    pages = {**PAGES, **COUNTING_PAGES}
    async with OpenAIServer(replies, pages) as server, CountingProxy(server.url("")) as proxy:
        yield server, proxy, ResultFile(folder / "results")


async def run_one(arm: Arm, folder: Path, *replies: Scripted, limit: int = 60) -> Result:
    """Run an arm on the warm-up task; return its result."""
    conditions = Conditions("m", "0" * 64, 16_384, 2, limit)
    async with scripted(folder, replies) as (_, proxy, store):
        runner = Runner(proxy, conditions, store, folder / "base")
        await runner.run([arm], [WARM_UP], warms_up=False)
        (result,) = store.read()
    return result


def is_running(pid: int) -> bool:
    """Tell whether a process exists that is not a zombie (Linux only)."""
    stat = Path("/proc", str(pid), "stat")
    return stat.exists() and ") Z " not in stat.read_text()


async def test_rewrite_is_judged_counted_and_not_repeated(tmp_path: Path) -> None:
    async with scripted(tmp_path, [half_cached(say(RIGHT))]) as (server, proxy, store):
        for _ in range(2):
            runner = Runner(proxy, CONDITIONS, store, tmp_path / "base")
            await runner.run([FixedStetArm("rewrite")], [WARM_UP], warms_up=False)
        (asked,) = server.requests
        (result,) = store.read()
    assert (asked.body["temperature"], asked.body["seed"]) == (0.0, 1)
    assert (result.solved, result.failure) == (True, "")
    assert (result.applied, result.wrong_files, result.shows_call) == (True, (), False)
    assert (result.rounds, result.prompt_tokens, result.completion_tokens) == (1, 10, 5)
    assert result.cached_tokens == 4
    assert (result.exit_code, result.is_ended) == (0, False)
    written = (tmp_path / "results" / result.transcript).read_text()
    assert WARM_UP.prompt in written
    assert '+    return "Hello"' in written


async def test_agent_edits_through_its_tools(tmp_path: Path) -> None:
    edit = call("edit_file", file="hello.py", old_text='"Helo"', new_text='"Hello"')
    result = await run_one(
        FixedStetArm("agent"), tmp_path, edit, call("done", summary="Fixed the spelling.")
    )
    assert (result.solved, result.applied, result.rounds) == (True, True, 2)


async def test_answer_without_an_edit_is_not_solved(tmp_path: Path) -> None:
    result = await run_one(FixedStetArm("agent"), tmp_path, say("It is fine."))
    assert (result.solved, result.applied, result.failure) == (
        False,
        False,
        "AssertionError at: assert hello() == 'Hello'",
    )


async def test_changes_of_other_files_are_listed(tmp_path: Path) -> None:
    result = await run_one(
        ShellArm("sed -i s/Helo/Hello/ hello.py; echo > extra.py; echo > .hidden"), tmp_path
    )
    assert (result.solved, result.applied, result.wrong_files) == (True, True, ("extra.py",))
    assert result.rounds == 0


async def test_time_limit_ends_the_agent_and_its_children(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    result = await run_one(ShellArm(f"sleep 600 & echo $! > {pid_file}; wait"), tmp_path, limit=1)
    assert (result.is_ended, result.solved, result.exit_code) == (True, False, -9)
    assert not is_running(int(pid_file.read_text()))


async def test_no_result_is_stored_when_the_model_server_ends(tmp_path: Path) -> None:
    async with OpenAIServer() as server, CountingProxy(server.url("")) as proxy:
        store = ResultFile(tmp_path)
        runner = Runner(proxy, CONDITIONS, store, tmp_path / "base")
        with pytest.raises(ModelServerFailed):
            await runner.run([ShellArm("true")], [WARM_UP], warms_up=False)
        assert store.read() == []


async def test_unfinished_answer_is_left_upstream_and_counted(tmp_path: Path) -> None:
    half = Reply(say("one two three").events[:3], end=End.HANG)
    async with scripted(tmp_path, [half]) as (server, proxy, _):
        body = {"messages": [{"role": "user", "content": "Hi"}], "stream": True}
        async with httpx2.AsyncClient(trust_env=False) as client:
            url = f"{proxy.base_url}/chat/completions"
            async with client.stream("POST", url, json=body) as response:
                async for line in response.aiter_lines():
                    if "two" in line:
                        break
        async with asyncio.timeout(30):
            await server.left()
        await proxy.count_unfinished()
        (exchange,) = proxy.exchanges
    assert (exchange.prompt_tokens, exchange.text, exchange.is_whole) == (3, "one two", False)


def test_cut_lines_of_results_are_left_out(tmp_path: Path) -> None:
    store = ResultFile(tmp_path)
    result = Result(
        "t", "d", "bug", False, "aider", "1", CONDITIONS, True, "", True, ("a.py",), False, 1, 2, 0, 3,
        4.0, False, 0, "x.txt",
    )  # fmt: skip
    store.append(result)
    path = tmp_path / "results.jsonl"
    path.write_text(path.read_text() + path.read_text()[:40])
    assert ResultFile(tmp_path).read() == [result]


@pytest.mark.parametrize(
    ("arm", "output", "shows"),
    [
        ("stet-agent", '{"answer": "Fixed.", "summary": ""}', False),
        ("stet-agent", '{"answer": "<tools>\\n{}</tools>", "summary": ""}', True),
        ("stet-agent", "Traceback\n", False),
        ("opencode", '{"type": "text", "part": {"text": "{\\"arguments\\": {}}"}}', True),
        ("opencode", '{"type": "tool_use", "part": {"arguments": {}}}\nnot JSON', False),
        ("aider", '{"arguments": {}}', False),
    ],
)
def test_shown_calls_are_recognised(arm: str, output: str, shows: bool) -> None:
    assert ARMS[arm].shows_call(output) == shows
