"""What a very small model is shown of files that are longer than its window."""

import pytest

from stet.agent.small.block_turn import block_messages
from stet.agent.turn import Ask, Mode
from stet.context.context_builder import EditorLocation
from stet.text.position import Position, Range
from tests.support.agent_harness import make_tool_context
from tests.support.workspaces import make_workspace, uri_at

FUNCTIONS = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(400))


@pytest.mark.parametrize(
    ("prompt", "line", "window", "shown"),
    [
        ("Fix f200()", 0, None, "lines 801 to 802"),
        ("Fix this", 800, None, "lines 801 to 802"),
        ("Fix f200()", 0, 1200, "lines 801 to 802"),
        ("Fix it", 0, None, "lines 1 to 250"),
    ],
)
async def test_lines_around_the_place_of_the_question_are_shown(
    prompt: str, line: int, window: int | None, shown: str
) -> None:
    world = make_workspace(opened={"/ws/a.py": FUNCTIONS})
    ctx = make_tool_context(world, asked="/ws/a.py")
    await ctx.reader.read("a.py")
    caret = Position(line, 0)
    place = EditorLocation(uri_at("/ws/a.py"), Range(caret, caret))
    ask = Ask(prompt=prompt, mode=Mode.AGENT, place=place, chat="main")
    [_, question] = await block_messages(ask, ctx, window)
    assert question.content.startswith(f"The file a.py, {shown}:\n")
    where = "" if "f200" in prompt else f"The cursor is in `f{line // 4}`.\n\n"
    assert question.content.endswith(f"```\n\n{where}{prompt}")
    assert window is None or len(question.content) < window * 2


@pytest.mark.parametrize(
    ("mode", "lines", "selected"),
    [
        (Mode.ASK, (1, 2), "    x = 1\n"),
        (Mode.AGENT, (1, 2), "def f():\n    x = 1\n    return x\n"),
        (Mode.AGENT, (1, 4), "    x = 1\n    return x\n\n"),
    ],
)
async def test_selected_lines_are_shown_again_for_an_edit_with_their_function(
    mode: Mode, lines: tuple[int, int], selected: str
) -> None:
    text = "def f():\n    x = 1\n    return x\n\n\nN = 1\n"
    world = make_workspace(opened={"/ws/a.py": text})
    ctx = make_tool_context(world, asked="/ws/a.py")
    await ctx.reader.read("a.py")
    place = EditorLocation(uri_at("/ws/a.py"), Range(Position(lines[0], 0), Position(lines[1], 0)))
    ask = Ask(prompt="Why?", mode=mode, place=place, chat="main")
    [_, question] = await block_messages(ask, ctx, None)
    assert question.content == (
        f"The file a.py:\n\n```py\n{text}```\n\nSelected:\n\n```py\n{selected}```\n\nWhy?"
    )
