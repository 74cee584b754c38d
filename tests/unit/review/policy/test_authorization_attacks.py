"""What a model that obeys an attacker gets: refusals, each reported to it and to the user."""

import json
from pathlib import Path

import pytest

from stet.agent.toolbox import ALL_TOOLS, Toolbox
from stet.llm.model import ToolCall
from stet.review.policy.rules import RejectedEdit
from stet.system.system import System
from stet.tools.read_file import READ_FILE
from stet.tools.tool import ToolContext
from stet.workspace.workspace import Workspace
from tests.support.agent_harness import make_tool_context, use
from tests.support.hostile_workspace import (
    ATTACKS,
    LOOSE,
    PROTECTED,
    SETTINGS,
    VICTIM,
    Attack,
    build,
    disk,
)
from tests.support.settings_parsing import parse_settings

TOOLS = {tool.name: tool for tool in ALL_TOOLS}


async def loose_context(root: Path) -> ToolContext:
    """A tool context in the trapped workspace, in which some files have been read."""
    world = Workspace(System(), parse_settings(SETTINGS).settings)
    world.add_root(root.as_uri())
    ctx = make_tool_context(world, asked=None)
    for file in LOOSE:
        assert not (await use(READ_FILE, ctx, file=file)).startswith("Error")
    return ctx


async def carried_out(attack: Attack, top: Path) -> tuple[ToolContext, str]:
    """Return the tool context after the attack, and the answer to the model."""
    ctx = await loose_context(build(top))
    before = disk(top)
    answer = await use(TOOLS[attack.tool], ctx, **attack.at(top))
    assert disk(top) == before
    return ctx, answer


REFUSED = [attack for attack in ATTACKS if attack.rule != PROTECTED]
CAUTIOUS = [attack for attack in ATTACKS if attack.rule == PROTECTED]


@pytest.mark.slow
@pytest.mark.parametrize("attack", REFUSED, ids=str)
async def test_attack_is_refused_and_reported_to_model_and_user(
    attack: Attack, tmp_path: Path
) -> None:
    ctx, answer = await carried_out(attack, tmp_path)
    assert ctx.reader.ledger.hunks() == ()
    assert ctx.reader.report.files_to_open == []
    [refusal] = ctx.reader.report.rejected
    assert answer == f"Error: Refused by the rule {attack.rule}: {refusal.message}"
    file = attack.at(tmp_path)["file"]
    assert refusal == RejectedEdit(file, refusal.position, attack.rule, refusal.message)


@pytest.mark.slow
@pytest.mark.parametrize("attack", CAUTIOUS, ids=str)
async def test_file_that_programs_obey_is_proposed_and_needs_its_own_approval(
    attack: Attack, tmp_path: Path
) -> None:
    ctx, _ = await carried_out(attack, tmp_path)
    assert ctx.reader.report.rejected == []
    [hunk] = ctx.reader.ledger.hunks()
    assert hunk.protected
    assert hunk.reason


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("create_file", {"file": "new.md", "content": "half \ud800"}),
        ("create_file", {"file": "new\udfff.md", "content": ""}),
        ("create_file", {"file": ["new.md"], "content": ""}),
        ("create_file", {"file": {"path": "../x"}, "content": ""}),
        ("edit_file", {"file": "AGENTS.md", "old_text": VICTIM, "new_text": "\udc80"}),
        ("edit_file", {"file": "AGENTS.md", "position": "end", "content": None}),
    ],
)
async def test_arguments_that_are_no_text_propose_nothing(
    tool: str, arguments: dict[str, object], tmp_path: Path
) -> None:
    ctx = await loose_context(build(tmp_path))
    toolbox = Toolbox(ALL_TOOLS, ctx)
    outcome = await toolbox.run(ToolCall("c1", tool, json.dumps(arguments)))
    assert outcome.error
    assert outcome.text == f"Error: {outcome.error}\n"
    assert ctx.reader.ledger.hunks() == ()
