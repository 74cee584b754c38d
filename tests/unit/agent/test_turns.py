"""A turn from the question to its end, with a model that says what it is told to."""

import asyncio
import dataclasses
import json
import threading
from collections.abc import Sequence
from itertools import pairwise

import pytest

from stet.agent.archive import Archive
from stet.agent.events import AgentEvent, Answered, Asked, ToolEnded, TurnEnded, TurnStarted
from stet.agent.history import MAX_SAID, NOT_RUN, Exchange
from stet.agent.lifecycle import ToolState
from stet.agent.toolbox import ALL_TOOLS
from stet.agent.turn import Mode, TurnState
from stet.llm.errors import ModelUnavailable
from stet.llm.messages import Completion, StopReason, ToolCall, Usage
from stet.llm.model import Request
from stet.llm.scripted import Reply, call, say, together
from stet.review.verdicts import Heard
from stet.settings.values import AgentSettings, EditSettings, ModelSettings, Price, Settings
from stet.tools.base import ToolGroup, ToolKind
from stet.tools.desk import Desk
from tests.support.turns import Table
from tests.support.world import insertion, make_world

TEXT = "x = 1\ny = 2\n"
EDIT = call("edit_file", file="a.py", old_text="x = 1", new_text="x = 3", summary="Three")
DONE = call("done", summary="Done.")


def table(*replies: Reply, settings: Settings | None = None, **agent: object) -> Table:
    """An agent that has `a.py` open."""
    if agent:
        settings = Settings(agent=AgentSettings(**agent))  # type: ignore[arg-type]
    world = make_world({"/ws/b.py": "b\n"}, opened={"/ws/a.py": TEXT}, settings=settings)
    return Table(world, replies)


def raw(*arguments: str, name: str = "read_file", call_id: str = "") -> Completion:
    """Calls with arguments as a model may write them."""
    calls = tuple(ToolCall(call_id, name, each) for each in arguments)
    return Completion("", calls, StopReason.TOOL_CALLS)


async def test_a_question_is_worked_on_until_the_model_says_that_it_is_done() -> None:
    desk = table(together(say("I look."), call("read_file", file="b.py")), EDIT, DONE)
    turn = await desk.ask()
    assert (turn.state, turn.answer, turn.summary, turn.error) == (
        TurnState.COMPLETED, "I look.", "Done.", "",
    )  # fmt: skip
    assert [(run.tool, run.state, run.file) for run in turn.tool_calls] == [
        ("read_file", "completed", "b.py"),
        ("edit_file", "waitingForUserInput", "a.py"),
        ("done", "completed", ""),
    ]
    assert (turn.files_read, len(turn.rounds), turn.model) == (("b.py",), 3, "scripted")
    assert [hunk.summary for hunk in desk.hunks] == ["Three"]
    assert desk.proposed() == "x = 3\ny = 2\n"
    assert isinstance(desk.events[0], TurnStarted)
    assert isinstance(desk.events[-1], TurnEnded)


async def test_several_calls_of_one_answer_run_in_their_order() -> None:
    other = call("edit_file", file="a.py", old_text="y = 2", new_text="y = 4")
    desk = table(together(EDIT, other, DONE))
    turn = await desk.ask()
    assert [run.tool for run in turn.tool_calls] == ["edit_file", "edit_file", "done"]
    assert desk.proposed() == "x = 3\ny = 4\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"file": "b.py"', "not a JSON object"),
        ("[1]", "not a JSON object"),
        ('{"file": NaN}', "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ("", "file: Field required"),
        ("null", "file: Field required"),
        ('{"file": "b.py", "mode": 1}', "mode: Extra inputs are not permitted"),
        ('{"file": 1}', "file: Input should be a valid string"),
        ('{"file": "a\\u0000b"}', "Error"),
        ('{"file": "\\ud800"}', "Error"),
    ],
)
async def test_arguments_that_are_none_are_told_and_never_kept(arguments: str, told: str) -> None:
    desk = table(raw(arguments), DONE)
    turn = await desk.ask()
    assert turn.state is TurnState.COMPLETED
    assert turn.tool_calls[0].state is ToolState.ERROR
    *_, assistant, answer = desk.model.requests[1].messages
    assert told in answer.content
    assert answer.tool_call_id == assistant.tool_calls[0].id
    kept = json.loads(assistant.tool_calls[0].arguments or "{}", parse_constant=pytest.fail)
    assert isinstance(kept, dict) or arguments == "null"


async def test_a_tool_that_is_none_is_answered_with_those_there_are() -> None:
    desk = table(call("write_file", file="b.py"), DONE)
    turn = await desk.ask()
    assert turn.state is TurnState.COMPLETED
    answer = desk.model.requests[1].messages[-1].content
    assert answer.startswith(
        "Error: There is no tool 'write_file'. The tools are: search_workspace"
    )


@pytest.mark.parametrize(
    ("bug", "told"),
    [
        (ZeroDivisionError("b"), "The tool 'read_file' failed; go on without it."),
        (
            ImportError("no x"),
            "The tool 'read_file' can't be used. A package that Stet needs can't be used (no x). "
            "Install `stet-lsp` again where Stet is installed. Go on without it.",
        ),
    ],
)
async def test_a_tool_that_fails_inside_does_not_end_the_turn(
    bug: Exception, told: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(desk: Desk, name: str) -> None:
        raise bug

    monkeypatch.setattr(Desk, "show", broken)
    desk = table(call("read_file", file="b.py"), DONE)
    turn = await desk.ask()
    assert turn.state is TurnState.COMPLETED
    assert turn.tool_calls[0].error == told
    assert type(bug).__name__ in caplog.text


async def test_ids_that_a_provider_gives_again_lose_no_call() -> None:
    one, two = raw('{"file": "b.py"}', call_id="c"), raw('{"file": "a.py"}', call_id="c")
    turn = await table(one, two, DONE).ask()
    assert [(run.id, run.file) for run in turn.tool_calls[:2]] == [("c", "b.py"), ("c", "a.py")]


# -- ends ----------------------------------------------------------------------------------------


async def test_a_model_that_says_nothing_twice_fails_the_turn() -> None:
    turn = await table(say(""), say(" \n")).ask()
    assert (turn.state, turn.error) == (
        TurnState.FAILED,
        "The model said nothing, twice. Ask again, or choose another model.",
    )


async def test_text_without_done_is_reminded_once_and_then_ends_limited() -> None:
    desk = table(say("I have done it."), say("Really."))
    turn = await desk.ask()
    assert (turn.state, turn.answer) == (TurnState.LIMITED, "I have done it.\n\nReally.")
    assert "call `done`" in desk.model.requests[1].messages[-1].content


async def test_a_model_that_goes_on_after_the_reminder_may_be_reminded_again() -> None:
    turn = await table(say("Well."), EDIT, say("So."), DONE).ask()
    assert turn.state is TurnState.COMPLETED


async def test_a_refusal_fails_the_turn_in_the_models_words() -> None:
    turn = await table(Completion("I will not.", (), StopReason.REFUSED)).ask()
    assert (turn.state, turn.error) == (TurnState.FAILED, "The model refuses: I will not.")


async def test_an_answer_cut_at_its_longest_ends_the_turn_limited() -> None:
    turn = await table(Completion("And so", (), StopReason.LENGTH)).ask()
    assert (turn.state, turn.answer) == (TurnState.LIMITED, "And so")


async def test_a_call_that_was_cut_is_never_run_though_it_reads_as_whole() -> None:
    cut = dataclasses.replace(together(call("read_file", file="b.py"), EDIT))
    desk = table(dataclasses.replace(cut, stop_reason=StopReason.LENGTH), DONE)
    turn = await desk.ask()
    assert [run.state for run in turn.tool_calls] == ["completed", "error", "completed"]
    assert desk.hunks == ()
    assert "cut off" in desk.model.requests[1].messages[-1].content


async def test_a_model_that_cannot_be_asked_fails_the_turn_and_its_proposals_stay() -> None:
    desk = table(EDIT, ModelUnavailable("The host is down; try later."))
    turn = await desk.ask()
    assert (turn.state, turn.error) == (TurnState.FAILED, "The host is down; try later.")
    assert [hunk.state for hunk in desk.hunks] == ["pending"]


async def test_a_fault_of_our_own_fails_the_turn_and_the_chat_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fault(request: Request) -> Completion:
        raise ZeroDivisionError

    desk = table(fault, DONE)
    first, second = desk.start(), desk.start()
    turn = await desk.end_of(first)
    assert (turn.state, turn.error) == (
        TurnState.FAILED, "Stet failed inside (ZeroDivisionError); its log has the details.",
    )  # fmt: skip
    assert (await desk.end_of(second)).state is TurnState.COMPLETED
    assert "ZeroDivisionError" in caplog.text


async def test_a_package_that_cannot_be_imported_is_told_with_what_to_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fault(request: Request) -> Completion:
        raise ModuleNotFoundError("No module named 'openai'")

    desk = table(fault, DONE)
    first, second = desk.start(), desk.start()
    turn = await desk.end_of(first)
    assert (turn.state, turn.error) == (
        TurnState.FAILED,
        "A package that Stet needs can't be used (No module named 'openai'). Install "
        "`stet-lsp` again where Stet is installed.",
    )
    assert (await desk.end_of(second)).state is TurnState.COMPLETED
    assert "ModuleNotFoundError" in caplog.text


# -- limits --------------------------------------------------------------------------------------


async def test_rounds_are_limited_and_the_last_is_told_what_can_still_be_called() -> None:
    read = call("read_file", file="b.py")
    desk = table(read, read, read, max_iterations=2)
    turn = await desk.ask()
    assert (turn.state, len(turn.rounds)) == (TurnState.LIMITED, 2)
    assert "agent.maxIterations" in turn.error
    switched_off = {"delete_file", "execute_command", "web_search", "read_webpage"}
    all_tools = [tool for tool in ALL_TOOLS if tool.name not in switched_off]
    offered = [[tool.name for tool in request.tools] for request in desk.model.requests]
    assert offered == [[tool.name for tool in all_tools]] * 2
    last = [f"`{tool.name}`" for tool in all_tools if tool.group is ToolGroup.ACTION]
    assert f"only {', '.join(last)} can be called" in desk.model.requests[1].messages[-1].content


async def test_tokens_are_limited() -> None:
    reading = dataclasses.replace(call("read_file", file="b.py"), usage=Usage(59_000, 2_000))
    turn = await table(reading, DONE, max_tokens=60_000).ask()
    assert (turn.state, turn.usage.total, len(turn.rounds)) == (TurnState.LIMITED, 61_000, 1)
    assert "agent.maxTokens is 60000" in turn.error


async def test_seconds_are_limited() -> None:
    async def for_ever(request: Request) -> Completion:
        await asyncio.Event().wait()
        raise AssertionError

    turn = await table(EDIT, for_ever, max_seconds=0.5).ask()
    assert turn.state is TurnState.LIMITED
    assert "agent.maxSeconds" in turn.error
    assert len(turn.tool_calls) == 1


async def test_the_cost_is_known_where_the_price_is() -> None:
    price = Price(input=2.0, cached_input=1.0, output=10.0)
    settings = Settings(model=ModelSettings(price=price))
    done = dataclasses.replace(DONE, usage=Usage(1000, 100, cached=400))
    assert (await table(done, settings=settings).ask()).cost == pytest.approx(0.0026)
    assert (await table(done).ask()).cost is None


# -- modes and switches --------------------------------------------------------------------------


async def test_a_question_in_mode_ask_is_answered_in_words_without_tools_that_write() -> None:
    desk = table(EDIT, say("It is three.\nReally."))
    turn = await desk.ask(mode=Mode.ASK)
    assert (turn.state, turn.summary) == (TurnState.COMPLETED, "It is three.")
    kinds = {tool.name: tool.kind for tool in ALL_TOOLS}
    offered = {kinds[tool.name] for tool in desk.model.requests[0].tools}
    assert offered == {ToolKind.READ, ToolKind.CONTROL}
    assert turn.tool_calls[0].error.startswith("There is no tool 'edit_file'")
    assert desk.hunks == ()


async def test_tools_are_switched_off_by_settings_and_question_but_never_done() -> None:
    desk = table(
        DONE, disabled_tools=("done", "list_files"), disabled_groups=("action", "advanced")
    )
    await desk.end_of(desk.start(disabled=["search_workspace"]))
    offered = [tool.name for tool in desk.model.requests[0].tools]
    assert offered == [
        tool.name
        for tool in ALL_TOOLS
        if (tool.group is ToolGroup.WORKSPACE or tool.kind is ToolKind.CONTROL)
        and tool.name not in {"list_files", "search_workspace"}
    ]
    assert offered[-2:] == ["done", "ask_user"]


async def test_a_refused_edit_is_told_to_the_model_and_to_the_user() -> None:
    desk = table(EDIT, DONE, settings=Settings(edit=EditSettings(can_delete=False)))
    turn = await desk.ask()
    assert "edit.canDelete" in desk.model.requests[1].messages[-1].content
    assert [(e.file, e.position, e.rule) for e in turn.rejected] == [
        ("a.py", "x = 1", "edit.canDelete")
    ]
    assert "`edit.canDelete` is off" in desk.model.requests[0].messages[0].content


# -- what is sent --------------------------------------------------------------------------------


async def test_every_request_of_a_turn_begins_with_the_one_before() -> None:
    desk = table(call("read_file", file="b.py"), raw("{"), EDIT, say("Hm."), together(EDIT, DONE))

    def typed(event: AgentEvent) -> None:
        if isinstance(event, ToolEnded):
            desk.type(insertion(1, 0, "# typed\n"))

    desk.on_event = typed
    await desk.ask()
    requests = desk.model.requests
    assert len(requests) == 5
    for before, after in pairwise(requests):
        assert after.messages[: len(before.messages)] == before.messages
        assert after.tools == before.tools


async def test_between_turns_the_beginning_stays_and_the_history_is_bounded() -> None:
    desk = table(*(DONE for _ in range(5)), history_length=3)
    for number in range(5):
        await desk.ask(f"Question {number}")
        desk.type(insertion(0, 0, "# typed\n"))
    requests = desk.model.requests
    assert len({request.messages[0] for request in requests}) == 1
    assert all(request.tools == requests[0].tools for request in requests)
    assert [len(request.messages) for request in requests] == [2, 6, 6, 6, 6]
    earlier = requests[4].messages[1:-1]
    assert earlier[0] == requests[3].messages[-1]  # as it was asked
    assert [one.role for one in earlier] == ["user", "assistant", "tool", "assistant"]
    assert earlier[1].tool_calls[0].name == "done"
    assert "Question 4" in requests[4].messages[-1].content


async def test_what_a_long_day_leaves_in_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stet.agent.agent.MAX_TURNS", 7)
    monkeypatch.setattr("stet.agent.session.MAX_TURNS", 5)
    monkeypatch.setattr("stet.agent.session.MAX_WORDS", 6)
    desk = table(*[DONE] * 20)
    asked = [(await desk.ask(f"Ask {n}")).id for n in range(8)]
    asked += [(await desk.ask(f"Rewrite {n}", Mode.REWRITE)).id for n in range(12)]
    assert [turn.id for turn in desk.agent.turns()] == asked[-7:]
    session = desk.agent.session("main")
    assert len(session.history) == 5
    assert len(session.words) == 6


async def test_a_turn_that_is_not_over_is_never_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stet.agent.agent.MAX_TURNS", 2)
    desk = table(*[DONE] * 5)
    asked = [desk.start("Wait") for _ in range(4)]
    assert [turn.id for turn in desk.agent.turns()] == asked
    _ = desk.agent.cancel()
    later = await desk.ask("More")
    assert [turn.id for turn in desk.agent.turns()][-1] == later.id


async def test_the_history_tells_of_proposals_and_never_holds_an_empty_answer() -> None:
    desk = table(together(EDIT, call("done", summary="")), call("done", summary=" "), DONE)
    for _ in range(3):
        await desk.ask()
    answers = [one for one in desk.model.requests[2].messages if one.role == "assistant"]
    assert all(one.content or one.tool_calls for one in answers)
    [first, second] = [one.content for one in answers if one.content]
    assert f"Proposed: {desk.hunks[0].id} Three\n" in first
    assert "Proposed" not in second


# -- cancelling and waiting ----------------------------------------------------------------------


class Held:
    """A reply that is kept back."""

    def __init__(self, reply: Completion) -> None:
        self.asked, self.go, self.reply = asyncio.Event(), asyncio.Event(), reply

    async def __call__(self, request: Request) -> Completion:
        self.asked.set()
        await self.go.wait()
        return self.reply


async def test_a_cancelled_turn_keeps_its_proposals_and_nothing_follows_its_end() -> None:
    held = Held(call("edit_file", file="a.py", old_text="y = 2", new_text="y = 5"))
    desk = table(EDIT, held, DONE)
    turn_id = desk.start()
    await held.asked.wait()
    assert desk.agent.cancel(turn_id) == (turn_id,)
    held.go.set()
    await desk.rest()
    turn = desk.agent.turn(turn_id)
    assert (turn.state, turn.error) == (TurnState.CANCELLED, "Cancelled.")
    assert isinstance(desk.events[-1], TurnEnded)
    assert [hunk.summary for hunk in desk.hunks] == ["Three"]
    assert desk.agent.cancel(turn_id) == ()


async def test_the_next_turn_knows_of_the_one_that_was_cancelled() -> None:
    held = Held(DONE)
    desk = table(together(say("I begin."), EDIT), held, DONE)
    first = desk.start("Fix it")
    await held.asked.wait()
    desk.agent.cancel(first)
    [hunk] = desk.hunks
    desk.ledger.reject(hunk.id, "No")
    await desk.ask("Again")
    _, question, answer, result, record, again = desk.model.requests[2].messages
    assert question == desk.model.requests[0].messages[1]
    assert (answer.content, answer.tool_calls[0].name) == ("I begin.", "edit_file")
    assert (result.role, result.tool_call_id) == ("tool", answer.tool_calls[0].id)
    assert 'state="cancelled"' in record.content
    assert f"Proposed: {hunk.id} Three\n" in record.content
    assert "The user says: No" in again.content


async def test_of_a_turn_cancelled_before_the_first_answer_the_question_is_known() -> None:
    held = Held(DONE)
    desk = table(held, DONE)
    first = desk.start("Fix it" + "x" * MAX_SAID)
    await held.asked.wait()
    desk.agent.cancel(first)
    await desk.ask("Again")
    _, question, record, _ = desk.model.requests[1].messages
    assert question.content == ("Fix it" + "x" * MAX_SAID)[:MAX_SAID]
    assert 'state="cancelled"' in record.content
    assert "Ended early: Cancelled." in record.content


async def test_a_call_that_a_cancel_broke_off_has_a_result() -> None:
    desk = table(call("ask_user", question="Why?"), DONE)

    def cancel(event: AgentEvent) -> None:
        if isinstance(event, Asked):
            desk.agent.cancel()

    desk.on_event = cancel
    assert (await desk.ask()).state is TurnState.CANCELLED
    await desk.ask("Again")
    messages = desk.model.requests[1].messages
    assert [one.role for one in messages[1:]] == ["user", "assistant", "tool", "assistant", "user"]
    assert messages[3].content == NOT_RUN


async def test_a_chat_remembers_what_was_cancelled_after_a_restart() -> None:
    archive = KeptChats()
    held = Held(DONE)
    desk = Table(make_world(opened={"/ws/a.py": TEXT}), [held], archive=archive)
    first = desk.start("Fix it")
    await held.asked.wait()
    desk.agent.cancel(first)
    await desk.rest()
    assert [one.question for one in archive.chats["main"]] == ["Fix it"]


@pytest.mark.parametrize("steps", range(25))
async def test_a_turn_can_be_cancelled_at_every_step_and_its_chat_goes_on(steps: int) -> None:
    desk = table(call("read_file", file="b.py"), EDIT, DONE, DONE, DONE, DONE)
    first = desk.start()
    for _ in range(steps):
        await asyncio.sleep(0)
    desk.agent.cancel(first)
    n_events, n_hunks = len(desk.events), len(desk.hunks)
    await desk.rest()
    assert (len(desk.events), len(desk.hunks)) == (n_events, n_hunks)
    second = await desk.ask("Again")
    assert second.state is TurnState.COMPLETED


class KeptChats(Archive):
    """Keeps in memory what chats know."""

    def __init__(self) -> None:
        super().__init__()
        self.chats: dict[str, Sequence[Exchange]] = {}

    def keep_chat(self, chat: str, history: Sequence[Exchange], heard: Heard) -> None:
        self.chats[chat] = history


class SlowArchive(Archive):
    """Takes until it may to keep what a chat knows."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.may, self.begun = threading.Event(), asyncio.Event()
        self._loop = loop

    def keep_chat(self, chat: str, history: Sequence[Exchange], heard: Heard) -> None:
        self._loop.call_soon_threadsafe(self.begun.set)
        assert self.may.wait(5)


async def test_a_cancel_while_a_turn_is_kept_finds_it_over_and_not_cancelled() -> None:
    archive = SlowArchive(asyncio.get_running_loop())
    world = make_world(opened={"/ws/a.py": TEXT})
    desk = Table(world, [DONE, DONE], archive=archive)
    first = desk.start("Keep me")
    await archive.begun.wait()
    assert desk.agent.cancel(first) == ()
    turn = desk.agent.turn(first)
    assert (turn.state, turn.summary) == (TurnState.COMPLETED, "Done.")
    n_events = len(desk.events)
    archive.may.set()
    await desk.rest()
    assert len(desk.events) == n_events
    assert [one.question for one in desk.agent.session("main").history] == ["Keep me"]


async def test_turns_of_one_chat_wait_and_other_chats_run_beside_them() -> None:
    held = Held(DONE)
    desk = table(held, DONE, DONE)
    first = desk.start()
    await held.asked.wait()
    queued, beside = desk.start("Next"), desk.start("Beside", chat="other")
    assert (await desk.end_of(beside)).state is TurnState.COMPLETED
    assert desk.agent.turn(queued).state is TurnState.QUEUED
    held.go.set()
    assert (await desk.end_of(queued)).state is TurnState.COMPLETED
    assert desk.agent.turn(first).state is TurnState.COMPLETED
    history = [message.content for message in desk.model.requests[2].messages]
    assert history[1] == desk.model.requests[0].messages[1].content


async def test_a_waiting_turn_that_is_cancelled_never_starts() -> None:
    held = Held(DONE)
    desk = table(held, DONE)
    desk.start()
    await held.asked.wait()
    second, third = desk.start("Second"), desk.start("Third")
    desk.agent.cancel(second)
    held.go.set()
    assert (await desk.end_of(third)).state is TurnState.COMPLETED
    started = [event.turn.id for event in desk.events if isinstance(event, TurnStarted)]
    assert second not in started


async def test_cancelling_all_leaves_nothing_running() -> None:
    desk = table(DONE, DONE, DONE)
    turns = (desk.start(), desk.start(), desk.start(chat="other"))
    assert desk.agent.cancel() == turns
    await desk.rest()
    assert {desk.agent.turn(turn).state for turn in turns} == {TurnState.CANCELLED}
    assert desk.model.requests == []


async def test_what_the_user_types_during_a_turn_is_kept_apart() -> None:
    held = Held(EDIT)
    desk = table(held, DONE)
    turn_id = desk.start()
    await held.asked.wait()
    desk.type(insertion(0, 0, "# typed meanwhile\n"))
    held.go.set()
    await desk.end_of(turn_id)
    assert desk.proposed() == "# typed meanwhile\nx = 3\ny = 2\n"
    assert any(isinstance(event, Answered) for event in desk.events)
