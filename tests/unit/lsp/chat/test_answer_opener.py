"""When the chat document of an answer is opened."""

from time import process_time

import pytest

from stet.agent.agent_events import TextDelta, TurnStarted
from stet.agent.turn import Ask, Mode, Turn
from stet.context.context_values import EditorLocation
from stet.lsp.chat.answer_opener import AnswerOpener
from stet.workspace.workspace import Workspace
from tests.support.memory_system import MemorySystem

PARTS = 20_000


@pytest.mark.parametrize(("opening", "is_shown"), [("<think>", False), ("", True)])
def test_answer_opener_takes_linear_time_for_a_long_message(
    opening: str, *, is_shown: bool
) -> None:
    shown: list[str] = []
    opener = AnswerOpener(Workspace(MemorySystem()), shown.append, lambda _: False)
    ask = Ask(prompt="Why?", mode=Mode.ASK, place=EditorLocation(), chat="main")
    turn = Turn(id="t1", ask=ask)
    began = process_time()
    opener.handle_event(TurnStarted(turn))
    for part in (opening, *["word "] * PARTS):
        opener.handle_event(TextDelta(turn, part))
    assert process_time() - began < 5
    assert bool(shown) is is_shown
