"""Turns and conversations as rows and back; what makes no sense is left out."""

import json
from dataclasses import replace

import pytest

from stet.agent.session import (
    MAX_CHARACTERS,
    MAX_EXCHANGES,
    SERVER_DIED,
    ChatArchive,
    SavedChats,
)
from stet.agent.turn import Ask, CommentLocation, Mode, Turn, TurnState
from stet.agent.turn_history import Exchange, TurnRecord
from stet.context.context_builder import EditorLocation
from stet.llm.model import Message, ToolCall, Usage
from stet.review.feedback import ModelKnowledge
from stet.review.policy.rules import RejectedEdit
from stet.storage.write_batch import ChatRow, TurnRow
from stet.text.document import TextDocument
from stet.text.position import Position, Range
from stet.tools.editor_actions import Question
from stet.tools.tool_state import ToolKind, ToolRun, ToolState
from stet.web.web_address import WebSource
from tests.support.agent_harness import AgentHarness, MemoryRows
from tests.support.workspaces import make_workspace

PLACE = EditorLocation("file:///ws/a.py", Range(Position(1, 0), Position(2, 3)))
ASK = Ask(
    prompt="Why? 𝄞",
    mode=Mode.ASK,
    place=PLACE,
    chat="main",
    disabled_tools=frozenset({"b", "a"}),
    disabled_groups=frozenset({"web"}),
)
FULL = Turn(
    id="t7",
    ask=ASK,
    state=TurnState.COMPLETED,
    model="m",
    answer="Because.",
    summary="So.",
    tool_calls=(
        ToolRun("c1", "edit_file", ToolState.ERROR, "a.py", "no", ToolKind.WRITE, ("h1",)),
    ),
    files_read=("a.py",),
    rejected=(RejectedEdit("a.py", "end", "edit.scope", "Not there."),),
    sources=(WebSource("https://a.example", "A"),),
    rounds=(Usage(10, 2, 5), Usage(20, 1, estimated=True)),
    cost=0.5,
    at=1_700_000_000.5,
    notes=("a note",),
)


def test_a_turn_comes_back_as_it_was() -> None:
    archive = ChatArchive(MemoryRows())
    archive.save_turn(FULL)
    assert archive.load() == SavedChats((FULL,))


@pytest.mark.parametrize("state", [TurnState.QUEUED, TurnState.RUNNING, TurnState.WAITING])
def test_unfinished_turn_is_loaded_as_failed_without_its_question(state: TurnState) -> None:
    archive = ChatArchive(MemoryRows())
    run = ToolRun("c1", "ask_user", ToolState.WAITING, course=ToolKind.CONTROL)
    question = Question("q1", "ask", "Which?", ("a", "b"))
    archive.save_turn(replace(FULL, state=state, question=question, tool_calls=(run,)))
    [turn] = archive.load().turns
    assert (turn.state, turn.error, turn.summary, turn.question) == (
        TurnState.FAILED,
        SERVER_DIED,
        SERVER_DIED,
        None,
    )
    assert turn.tool_calls[0].state is ToolState.CANCELED


def test_known_state_of_a_conversation_is_loaded() -> None:
    archive = ChatArchive(MemoryRows())
    call = ToolCall("c1", "read_file", '{"file": "a"}')
    messages = (
        Message("user", "Why?"),
        Message("assistant", "", (call,)),
        Message("tool", "x", (), "c1"),
        Message("assistant", "So."),
    )
    history = [Exchange(messages, "Why?", "So.", TurnRecord.of(FULL, (), "a.py", "b.py"))]
    known = ModelKnowledge(4, {"file:///ws/a": TextDocument("file:///ws/a", "text\n")})
    archive.save_chat("main", history, known, 17)
    [back] = archive.load().sessions
    assert (back.chat, back.history, back.knowledge) == ("main", history, known)
    assert back.approved_hosts.n_sent_characters == 17


def test_end_of_a_long_history_is_kept() -> None:
    archive = ChatArchive(MemoryRows())
    history = [Exchange.condensed(str(n), "x", None, 2) for n in range(MAX_EXCHANGES + 5)]
    archive.save_chat("main", history, ModelKnowledge())
    assert archive.load().sessions[0].history == history[5:]
    huge = Exchange.condensed("x" * MAX_CHARACTERS, "", None, 2)
    archive.save_chat("main", [huge, *history[:2]], ModelKnowledge())
    assert archive.load().sessions[0].history == history[:2]


def test_a_call_without_its_result_comes_back_with_one() -> None:
    archive = ChatArchive(MemoryRows())
    torn = (Message("user", "x"), Message("assistant", "", (ToolCall("c1", "done", "{}"),)))
    archive.save_chat("main", [Exchange(torn, "x", "")], ModelKnowledge())
    [exchange] = archive.load().sessions[0].history
    assert [message.role for message in exchange.messages] == ["user", "assistant", "tool"]


@pytest.mark.parametrize(
    "fields",
    ["", "[]", "{}", '{"id": "t7"}', "[" * 10_000, '{"id": "t7", "ask": {"prompt": 1}}'],
)
def test_rows_that_make_no_sense_are_left_out(fields: str) -> None:
    rows = MemoryRows()
    archive = ChatArchive(rows)
    archive.save_turn(replace(FULL, id="t8"))
    good = rows.turns["t8"]
    rows.turns = {
        "t7": TurnRow("t7", "main", fields),
        "t9": TurnRow("t9", "main", good.fields),
        "t8": TurnRow("t8", "other", good.fields),
        "../x": TurnRow("../x", "main", good.fields.replace('"t8"', '"../x"')),
    }
    rows.chats = {"main": ChatRow("main", fields)}
    assert archive.load() == SavedChats()


async def test_text_of_a_comment_is_loaded_and_does_not_approve_its_hosts() -> None:
    archive = ChatArchive(MemoryRows())
    archive.save_turn(FULL)
    comment = replace(
        ASK, prompt="See https://evil.example", comment=CommentLocation("file:///a", 1, 2)
    )
    archive.save_turn(replace(FULL, id="t8", ask=comment))
    ctx = AgentHarness(make_workspace({}), archive=archive)
    await ctx.agent.restore()
    assert [turn.ask.prompt for turn in ctx.agent.turns()] == [ASK.prompt, comment.prompt]
    assert ctx.agent.session("main").user_messages == [ASK.prompt]


def test_loaded_chat_trusts_only_texts_of_documents() -> None:
    rows = MemoryRows()
    fields = json.dumps({"history": [], "upto": -1})
    rows.persist_chat(ChatRow("main", fields, {"http://x/": "a", "untitled:u": "b"}))
    [session] = ChatArchive(rows).load().sessions
    assert session.knowledge == ModelKnowledge(
        None, {"untitled:u": TextDocument("untitled:u", "b")}
    )


def test_lone_surrogate_does_not_lose_a_turn() -> None:
    archive = ChatArchive(MemoryRows())
    archive.save_turn(replace(FULL, answer="a\ud800b"))
    assert [turn.answer for turn in archive.load().turns] == ["a?b"]
