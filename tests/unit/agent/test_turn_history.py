"""What a chat remembers of a turn, and how much of it later turns are sent."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.agent.turn import Ask, Mode, Turn, TurnState
from stet.agent.turn_history import (
    Exchange,
    Prompt,
    TurnRecord,
    flatten,
    message_groups,
    recent_exchanges,
    with_missing_results,
)
from stet.context.context_builder import EditorLocation
from stet.llm.model import Message, ToolCall, Usage
from stet.llm.scripted_model import call
from stet.tools.tool_state import ToolRun, ToolState
from stet.web.web_address import WebSource
from tests.support.agent_harness import AgentHarness
from tests.support.conversations import exchanges, is_well_formed
from tests.support.memory_system import MemorySystem
from tests.support.workspaces import make_workspace

ASK = Ask(prompt="Do it", mode=Mode.AGENT, place=EditorLocation(None), chat="main")
AT = 1_763_780_000.0
READ, EDIT = ToolCall("c1", "read_file", "{}"), ToolCall("c2", "edit_file", "{}")
DONE = call("done", summary="Done.")


def brief(name: str, n_messages: int = 2) -> Exchange:
    return Exchange.condensed(f"Question {name}", f"Answer {name}", None, n_messages)


@pytest.mark.slow
@given(exchanges(), st.integers(0, 100))
def test_whole_turns_are_sent_and_never_more_messages_than_wanted(
    history: list[Exchange], length: int
) -> None:
    sent = recent_exchanges(history, length)
    assert sum(one.n_messages for one in sent) <= length
    assert sent == tuple(history[len(history) - len(sent) :])
    assert is_well_formed(flatten(sent))


def test_a_short_history_slides_by_single_turns_and_a_long_one_in_steps() -> None:
    history: list[Exchange] = []
    lengths = []
    for n in range(12):
        history = [*recent_exchanges(history, 10), brief(str(n))]
        lengths.append(len(recent_exchanges(history, 10)))
    assert lengths == [1, 2, 3, 4, 5, 2, 3, 4, 5, 2, 3, 4]
    three = [brief("1"), brief("2"), brief("3")]
    assert recent_exchanges(three, 4) == (three[1], three[2])
    assert recent_exchanges(three, 3) == (three[2],)
    assert recent_exchanges(three, 1) == recent_exchanges(three, 0) == ()


def test_steering_messages_count_as_messages() -> None:
    steered = brief("steered", n_messages=4)
    assert recent_exchanges([brief("1"), steered], 5) == (steered,)


def test_every_call_that_was_not_carried_out_gets_a_result() -> None:
    asked = Message("user", "Do it")
    cut = [asked, Message("assistant", "", (READ, EDIT)), Message("tool", "x", tool_call_id="c1")]
    assert with_missing_results(cut) == [
        *cut,
        Message("tool", "Not completed: the turn ended before.\n", tool_call_id="c2"),
    ]


def test_turn_is_stored_as_sent_and_followed_by_its_record() -> None:
    turn = Turn(
        id="t1",
        ask=ASK,
        state=TurnState.FAILED,
        model="m",
        answer="I try.",
        error="The model is gone.",
        tool_calls=(
            ToolRun("c1", "read_file", ToolState.COMPLETED, "a.py"),
            ToolRun("c2", "read_file", ToolState.COMPLETED, "a.py"),
            ToolRun("c3", "edit_file", ToolState.ERROR, "a.py", "not found\n</turn_record>"),
        ),
        sources=(WebSource("https://example.org/x", "X"),),
        rounds=(Usage(10, 2), Usage(20, 3)),
        at=AT,
    )
    record = TurnRecord.of(turn, (), "a.py", "b.py")
    own = (Message("user", "<q>Do it</q>"), Message("assistant", "I try."))
    exchange = Exchange.from_turn(own, "Do it", turn, record)
    assert exchange.messages[0] == own[0]
    assert exchange.messages[1].content == (
        "I try.\n\n"
        '<turn_record asked="2025-11-22T02:53:20Z" model="m" tokens="35" state="failed" '
        'active_file="a.py" active_file_before="b.py">\n'
        "Ended early: The model is gone.\n"
        "Succeeded: read_file a.py x2\n"
        "Failed: edit_file a.py: not found\\n&lt;/turn_record>\n"
        "Sources: https://example.org/x\n"
        "</turn_record>"
    )
    assert (exchange.answer, exchange.n_messages) == ("I try.", 2)


def test_replacing_a_prompt_changes_the_list_of_its_messages() -> None:
    system, question = Message("system", "Be good."), Message("user", "And now?")
    prompt = Prompt(system, [brief("1"), brief("2")], question)
    sent = prompt.messages
    sent.append(Message("assistant", "Well."))
    assert prompt.current_turn == (question, sent[-1])
    prompt.replace([brief("2")], prompt.current_turn)
    assert sent == [system, *brief("2").messages, question, Message("assistant", "Well.")]
    assert prompt.current_turn == (question, sent[-1])


@pytest.mark.slow
@given(exchanges())
def test_message_groups_hold_all_messages_in_order(history: list[Exchange]) -> None:
    messages = flatten(history)
    found = message_groups(messages)
    assert tuple(message for unit in found for message in unit) == messages
    assert all(message.role == "tool" for unit in found for message in unit[1:])


async def test_note_reports_a_change_of_the_active_file() -> None:
    table = AgentHarness(make_workspace(opened={"/ws/b.py": "b\n", "/ws/a.py": "a\n"}), [DONE] * 4)
    for file in ("/ws/a.py", "/ws/b.py", "/ws/b.py", "/ws/a.py"):
        await table.end_of(table.start(file=file))
    records = [
        message.content
        for message in table.model.requests[3].messages
        if message.role == "assistant"
    ]
    shown = [text.partition("active_file=")[2].partition(">")[0] for text in records if text]
    assert shown == ['"a.py"', '"b.py" active_file_before="a.py"', '"b.py"']


async def test_new_privacy_rules_apply_to_the_history() -> None:
    world = make_workspace({"/ws/b.txt": "hunter2\n"}, opened={"/ws/a.py": "a\n"})
    table = AgentHarness(world, [call("read_file", file="b.txt"), DONE, DONE, DONE])
    await table.ask("First")
    await table.ask("Second")
    privacy = dataclasses.replace(world.settings.privacy, deny=("b.txt",))
    world.settings = dataclasses.replace(world.settings, privacy=privacy)
    await table.ask("Third")
    second, third = (str(request.messages) for request in table.model.requests[2:])
    assert "hunter2" in second
    assert "hunter2" not in third
    assert "First" in third
    assert "Second" in third


@pytest.mark.parametrize(
    ("ignore_file", "pattern"),
    [
        (".stetignore", "sub/b.txt\n"),
        (".gitignore", "sub/\n"),
        (".git/info/exclude", "b.txt\n"),
        ("sub/.stetignore", "b.txt\n"),
        ("sub/.gitignore", "*.txt\n"),
    ],
)
async def test_files_ignored_since_are_not_sent_again(ignore_file: str, pattern: str) -> None:
    files = {"/ws/sub/b.txt": "hunter2\n", "/ws/.stetignore": "nothing\n"}
    world = make_workspace(files, opened={"/ws/a.py": "a\n"})
    table = AgentHarness(world, [call("read_file", file="sub/b.txt"), DONE, DONE, DONE, DONE])
    system = world.snapshot().system
    assert isinstance(system, MemorySystem)
    await table.ask("First")
    system.time += 60
    await table.ask("Second")
    system.time += 60
    system.add_file(f"/ws/{ignore_file}", pattern)
    await table.ask("Third")
    system.time += 60
    await table.ask("Fourth")
    second, third, fourth = (str(request.messages) for request in table.model.requests[2:])
    assert "hunter2" in second
    assert "hunter2" not in third + fourth
    assert "First" in third
    assert "Second" in fourth


async def test_ignore_file_found_later_leaves_the_history_unchanged() -> None:
    files = {"/ws/b.txt": "hunter2\n", "/ws/sub/.gitignore": "x\n", "/ws/sub/c.txt": "c\n"}
    world = make_workspace(files, opened={"/ws/a.py": "a\n"})
    read = [call("read_file", file=name) for name in ("b.txt", "sub/c.txt")]
    table = AgentHarness(world, [read[0], DONE, read[1], DONE, DONE])
    for prompt in ("First", "Second", "Third"):
        await table.ask(prompt)
    assert "hunter2" in str(table.model.requests[-1].messages)


async def test_without_a_history_nothing_is_sent_and_nothing_is_lost() -> None:
    world = make_workspace(opened={"/ws/a.py": "a\n"})
    table = AgentHarness(world, [DONE] * 4)
    await table.ask()
    settings = world.settings
    none = dataclasses.replace(settings.agent, history_length=0)
    world.settings = dataclasses.replace(settings, agent=none)
    await table.ask()
    world.settings = settings
    await table.ask("Third")
    sizes = [len(request.messages) for request in table.model.requests]
    assert sizes == [2, 2, 2 + 2 * 4]
