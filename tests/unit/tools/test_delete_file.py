"""`delete_file`: off unless the user wants it; then it asks, and what the user lets go is taken."""

import pytest

from stet.agent.toolbox import tools_for
from stet.agent.turn import Ask, Mode
from stet.context.builder import Place
from stet.review.proposal import HunkKind
from stet.settings.values import AgentSettings, EditSettings, Settings
from stet.tools.base import ToolGroup
from stet.tools.delete_file import DELETE_FILE
from stet.tools.desk import Desk
from stet.tools.errors import UserDeclined
from stet.tools.hands import Hands
from stet.tools.question import Question
from stet.tools.read_file import READ_FILE
from tests.support.turns import make_desk, type_into, use
from tests.support.world import insertion, make_world


def names(settings: AgentSettings) -> set[str]:
    ask = Ask(prompt="", mode=Mode.AGENT, place=Place(), chat="main")
    return {tool.name for tool in tools_for(ask, settings)}


def test_it_is_off_by_default_and_goes_with_its_group() -> None:
    assert "delete_file" not in names(AgentSettings())
    assert "delete_file" in names(AgentSettings(disabled_tools=()))
    off = AgentSettings(disabled_tools=(), disabled_groups=(ToolGroup.ADVANCED,))
    assert "delete_file" not in names(off)
    assert "move_file" in names(off)


def desk_with(answer: str, problem: str = "", **files: str) -> tuple[Desk, list[Question]]:
    """A desk whose user says `answer`, and whose editor says `problem`."""
    desk = make_desk(make_world(opened=files or {"/ws/a.py": "x = 1\n"}))
    asked: list[Question] = []

    async def inquire(question: Question) -> str:
        asked.append(question)
        assert desk.ledger.hunks() == ()
        return answer

    async def accept(hunk_id: str) -> str:
        assert desk.ledger.hunk(hunk_id).state == "pending"
        return problem

    desk.inquire, desk.hands = inquire, Hands(accept=accept)
    return desk, asked


async def test_on_a_yes_a_file_is_proposed_for_the_trash_and_taken_at_once() -> None:
    desk, asked = desk_with("Delete")
    await use(READ_FILE, desk, file="a.py")
    answer = await use(DELETE_FILE, desk, file="a.py", reason="Not\nused.")
    (hunk,) = desk.ledger.hunks()
    assert answer == (
        f"The user says yes: a.py is in the trash ({hunk.id}); they can bring it back.\n"
    )
    assert (hunk.kind, hunk.old, hunk.new, hunk.summary) == (
        HunkKind.REMOVE, "x = 1\n", "", "Delete a.py: Not used.",
    )  # fmt: skip
    [question] = asked
    assert (question.kind, question.choices) == ("delete", ("Delete", "Keep"))
    assert question.text == (
        "Delete a.py? Not used.\nIt goes to Stet's trash, and `stet.undo` brings it back."
    )


async def test_on_a_no_nothing_is_proposed() -> None:
    desk, _ = desk_with("Keep")
    await use(READ_FILE, desk, file="a.py")
    with pytest.raises(UserDeclined, match=r"The user keeps a\.py"):
        await DELETE_FILE.run(DELETE_FILE.params(file="a.py"), desk)  # type: ignore[call-arg]
    assert desk.ledger.hunks() == ()


async def test_what_the_editor_does_not_do_waits_as_a_proposal() -> None:
    desk, _ = desk_with("Delete", "It is not saved.")
    await use(READ_FILE, desk, file="a.py")
    answer = await use(DELETE_FILE, desk, file="a.py")
    (hunk,) = desk.ledger.hunks()
    assert answer == (
        "The user says yes, but a.py is not deleted yet: It is not saved. It waits for the user as "
        f"{hunk.id}.\n"
    )


async def test_a_file_that_machines_obey_is_named_as_one() -> None:
    desk, asked = desk_with("Keep", **{"/ws/Makefile": "all:\n"})
    await use(READ_FILE, desk, file="Makefile")
    await use(DELETE_FILE, desk, file="Makefile")
    assert "\nCaution: " in asked[0].text


async def test_what_goes_is_what_is_there_when_the_user_says_yes() -> None:
    desk, _ = desk_with("Delete")
    await use(READ_FILE, desk, file="a.py")

    async def type_first(question: Question) -> str:
        type_into(desk.workspace, desk.ledger, insertion(0, 0, "new\n"))
        return "Delete"

    desk.inquire = type_first
    await use(DELETE_FILE, desk, file="a.py")
    assert desk.ledger.hunks()[0].old == "new\nx = 1\n"


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
