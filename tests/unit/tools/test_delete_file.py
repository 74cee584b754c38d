"""`delete_file`: off unless the user wants it; then a proposal like any other."""

from stet.agent.toolbox import tools_for
from stet.agent.turn import Ask, Mode
from stet.context.builder import Place
from stet.review.proposal import HunkKind
from stet.settings.values import AgentSettings, EditSettings, Settings
from stet.tools.base import ToolGroup
from stet.tools.delete_file import DELETE_FILE
from stet.tools.read_file import READ_FILE
from tests.support.turns import make_desk, use
from tests.support.world import make_world


def names(settings: AgentSettings) -> set[str]:
    ask = Ask(prompt="", mode=Mode.AGENT, place=Place(), chat="main")
    return {tool.name for tool in tools_for(ask, settings)}


def test_it_is_off_by_default_and_goes_with_its_group() -> None:
    assert "delete_file" not in names(AgentSettings())
    assert "delete_file" in names(AgentSettings(disabled_tools=()))
    off = AgentSettings(disabled_tools=(), disabled_groups=(ToolGroup.ADVANCED,))
    assert "delete_file" not in names(off)
    assert "move_file" in names(off)


async def test_a_file_is_proposed_for_the_trash_with_what_it_holds() -> None:
    desk = make_desk(make_world(opened={"/ws/a.py": "x = 1\n"}))
    await use(READ_FILE, desk, file="a.py")
    answer = await use(DELETE_FILE, desk, file="a.py", reason="Not\nused.")
    (hunk,) = desk.ledger.hunks()
    assert answer == f"Proposed {hunk.id}: a.py goes to the trash. It waits for the user.\n"
    assert (hunk.kind, hunk.old, hunk.new, hunk.summary) == (
        HunkKind.REMOVE, "x = 1\n", "", "Delete a.py: Not used.",
    )  # fmt: skip


async def test_what_is_not_there_can_not_go() -> None:
    desk = make_desk(make_world({"/ws/sub/b.py": ""}))
    assert (await use(DELETE_FILE, desk, file="none.py")).startswith("Error: There is no file")
    assert (await use(DELETE_FILE, desk, file="sub")).startswith("Error: 'sub' is a folder")


async def test_the_gate_decides_and_the_user_is_told() -> None:
    files = {"/ws/b.py": ""}
    desk = make_desk(make_world(files))
    assert "edit.scope" in await use(DELETE_FILE, desk, file="b.py")
    settings = Settings(edit=EditSettings(can_delete=False))
    desk = make_desk(make_world(files, settings=settings))
    await use(READ_FILE, desk, file="b.py")
    assert "edit.canDelete" in await use(DELETE_FILE, desk, file="b.py")
    assert [(r.position, r.rule) for r in desk.rejected] == [("delete", "edit.canDelete")]
    assert desk.ledger.hunks() == ()
