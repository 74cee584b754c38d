"""The arm of OpenCode with the real program and a scripted model: its settings are understood."""

import os
from pathlib import Path

import pytest

from tests.agent_eval.arms import ARMS
from tests.agent_eval.counting_proxy import CountingProxy
from tests.agent_eval.results import Conditions, ResultFile
from tests.agent_eval.runner import WARM_UP, Runner
from tests.parts.kept import MissingPart
from tests.parts.opencode import opencode
from tests.support.openai_server import OpenAIServer, call, say


@pytest.mark.slow
async def test_opencode_reads_edits_and_runs_nothing(tmp_path: Path) -> None:
    try:
        opencode()
    except MissingPart as missing:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(missing))
    path = str(tmp_path / "base" / "project" / "hello.py")
    replies = [
        call("read", filePath=path),
        call("edit", filePath=path, oldString='"Helo"', newString='"Hello"'),
        say("I have corrected the spelling."),
    ]
    conditions = Conditions("qwen2.5-coder-1.5b-instruct", "0" * 64, 16_384, 2, 120)
    store = ResultFile(tmp_path / "results")
    model = OpenAIServer(replies, {"/health": {}})
    async with model as server, CountingProxy(server.url("")) as proxy:
        runner = Runner(proxy, conditions, store, tmp_path / "base")
        await runner.run([ARMS["opencode"]], [WARM_UP], warms_up=False)
    (result,) = store.read()
    assert (result.solved, result.wrong_files, result.rounds) == (True, (), 3)
    assert not result.is_ended
    assert WARM_UP.files["hello.py"].splitlines()[1] in str(server.requests[0].body["messages"])
    offered = [tool["function"]["name"] for tool in server.requests[0].body["tools"]]
    assert {"read", "edit", "write", "grep"} <= set(offered)
    assert not {"bash", "webfetch"} & set(offered)
    written = (store.folder / result.transcript).read_text()
    assert "I have corrected the spelling." in written
