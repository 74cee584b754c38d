"""The share of a request that the next one begins with, on which a provider's prompt cache depends.

Three turns of ten rounds in one chat that read, edit and fail, while the user types, rejects and
opens other files. The worst pair is shown. aider keeps 54 to 56 %.
"""

import asyncio
import dataclasses
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from stet.llm.api_format import to_api_message, to_api_tool
from stet.llm.model import Request
from stet.llm.scripted_model import Reply, call
from stet.settings.values import AgentSettings, Settings
from stet.workspace.workspace import Workspace
from tests.bench.table import Row, at_least
from tests.support.agent_harness import AgentHarness
from tests.support.prompt_cache import cached_share
from tests.support.workspaces import insertion, make_workspace, open_document, uri_at

ROUNDS = 10
TURNS = 3
SETTINGS = Settings(agent=AgentSettings(max_tokens=1_000_000))
FILES = {f"/ws/f{n}.py": "".join(f"value_{n}_{m} = {m}\n" for m in range(200)) for n in range(8)}


def rows() -> Iterator[Row]:
    """Yield percentages of the bytes."""
    requests = asyncio.run(_requests())
    shares = [100 * cached_share(before, after) for before, after in pairwise(requests)]
    between = shares[ROUNDS - 1 :: ROUNDS]
    within = [share for n, share in enumerate(shares, 1) if n % ROUNDS]
    what = "bytes of a prompt kept"
    yield Row(f"{what} between rounds", "%", min(within), must=at_least(99), aim=at_least(99.5))
    yield Row(f"{what} between turns", "%", min(between), must=at_least(90), aim=at_least(95))


async def _requests() -> list[dict[str, Any]]:
    world = _world()
    table = AgentHarness(world, [reply for n in range(TURNS) for reply in _turn(n)])
    for n in range(TURNS):
        turn = await table.end_of(table.start(f"Question {n}", file="/ws/f0.py"))
        assert len(turn.rounds) == ROUNDS, turn.error
        table.ledger.reject(table.hunks[-1].id, "No")
        table.type(insertion(3, 0, f"# typed {n}\n"), "/ws/f0.py")
        open_document(world, uri_at(f"/ws/f{n + 1}.py"), FILES[f"/ws/f{n + 1}.py"])
    return [_body(request) for request in table.model.requests]


def _world() -> Workspace:
    context = dataclasses.replace(SETTINGS.context, warn_tokens=1_000_000)
    opened = {"/ws/f0.py": FILES["/ws/f0.py"]}
    return make_workspace(
        FILES, opened=opened, settings=dataclasses.replace(SETTINGS, context=context)
    )


def _turn(number: int) -> list[Reply]:
    """Return the replies of ten rounds."""
    old = f"value_0_{number} = {number}\n"
    return [
        *(call("read_file", file=f"f{n}.py") for n in range(6)),
        call("edit_file", file="f0.py", old_text=old, new_text=f"value_0_{number} = 'new'\n"),
        call("edit_file", file="f1.py", old_text=f"lost {number}", new_text="x"),
        call("list_files"),
        call("done", summary="Done."),
    ]


def _body(request: Request) -> dict[str, Any]:
    return {
        "tools": [to_api_tool(tool) for tool in request.tools],
        "messages": [to_api_message(message) for message in request.messages],
    }
