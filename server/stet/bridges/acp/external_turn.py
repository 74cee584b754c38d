"""A turn that an agent answers: its updates become events of the turn, its requests questions."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    Cost,
    PermissionOption,
    RequestPermissionRequest,
    SessionNotification,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    UsageUpdate,
)
from pydantic import ValidationError

from stet.agent.agent_events import RoundCompleted, TextDelta, ToolEnded, ToolStarted
from stet.agent.turn import Turn, TurnState, Utterance, first_line
from stet.agent.turn_runner import TurnChannel
from stet.bridges.acp.agent_process import Spawn
from stet.text.escape import escape_line
from stet.tools.editor_actions import MAX_ASKED, Question
from stet.tools.tool_state import ToolRun, ToolState

MAX_ANSWER = 1_000_000
"""The most characters of an agent's answer; later text is left out."""
MAX_CALLS = 1_000
"""The most tool calls of a turn that are shown."""
MAX_TITLE = 200
"""The most characters of a tool's title, and of a thought."""
MAX_PLAN = 50
"""The most entries of a plan that are shown."""
MAX_OPTIONS = 20
"""The most answers to a question that an agent may offer."""
_USED = frozenset(
    {"agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"}
    | {"usage_update"}
)
"""The kinds of updates that are read; others may be large."""
_ENDS = {"completed": ToolState.COMPLETED, "failed": ToolState.ERROR}
_BOXES = {"completed": "x"}
_KINDS = ("allow_once", "allow_always", "reject_always", "reject_once")
"""The order in which answers are offered: an agreeing one first, a refusing one last."""
_REFUSE = "Refuse"
"""The last answer where the agent offers none that refuses."""
_REFUSED = {"outcome": {"outcome": "cancelled"}}


class ExternalTurn:
    """The state of a running turn; used on the event loop only.

    Attributes:
        turn: The turn as it is now.
        n_writes: The number of calls that have changed files, by what the agent reports.
        is_over: Whether no more updates are taken.
        cost: The cost of the agent's session so far, in US dollars; None if it reports none.
        is_reviewed: Whether the agent's edits become hunks, so that they need no permission.
    """

    def __init__(
        self,
        turn: Turn,
        channel: TurnChannel,
        spawn: Spawn,
        *,
        name_of: Callable[[str], str],
        now: Callable[[], float],
    ) -> None:
        """Begin a turn.

        Args:
            turn: The turn, running.
            channel: The way to the editor.
            spawn: Starts the tasks that wait for the user.
            name_of: Returns the name of a file of the workspace by its path, or "".
            now: Returns the time, in seconds since the epoch.
        """
        self.turn = turn
        self.cost: float | None = None
        self._channel = channel
        self._spawn = spawn
        self._name_of = name_of
        self._now = now
        self.is_reviewed = False
        self._message = ""
        self._thought = ""
        self.n_writes = 0
        self._calls: dict[str, int] = {}
        self._writing: set[str] = set()
        self._plan: tuple[str, ...] = ()
        self._shown_plan: tuple[str, ...] = ()
        self._n_questions = 0
        self._asking = asyncio.Lock()
        self._waiting: set[asyncio.Task[str]] = set()
        self.is_over = False

    def update(self, params: Any) -> None:
        """Handle an update of the session; one that is not of the protocol is left out."""
        if self.is_over or _kind_of(params) not in _USED:
            return
        try:
            update = SessionNotification.model_validate(params).update
        except (ValidationError, RecursionError):
            return
        match update:
            case AgentMessageChunk(content=TextContentBlock(text=text)):
                self._add_text(text)
            case AgentThoughtChunk(content=TextContentBlock(text=text)):
                self._thought = (self._thought + text)[: 2 * MAX_TITLE]
            case ToolCallStart() | ToolCallProgress():
                self._update_call(update)
            case AgentPlanUpdate():
                entries = update.entries[:MAX_PLAN]
                self._set_plan(tuple(_plan_line(one.content, one.status) for one in entries))
            case UsageUpdate(cost=Cost(currency="USD", amount=amount)) if amount >= 0:
                self.cost = amount
            case _:
                pass

    def add_line(self, line: str) -> None:
        """Show a line of Stet among the tool calls."""
        self._flush_thought()
        self._flush_message()
        self._show_line(_cut(line))

    async def ask_permission(self, request: RequestPermissionRequest) -> dict[str, Any]:
        """Return the user's answer to a request for permission.

        An edit that becomes hunks is allowed: the user decides about the hunks.
        """
        options = sorted(request.options[:MAX_OPTIONS], key=lambda one: _KINDS.index(one.kind))
        text = self._described(request.tool_call)
        if self.is_over or not options:
            return _REFUSED
        if self.is_reviewed and self._is_edit(request.tool_call):
            chosen = next((one for one in options if one.kind == "allow_once"), None)
            if chosen is not None:
                return _selected(chosen)
        if len(text) > MAX_ASKED:
            refusing = [one for one in options if one.kind.startswith("reject")]
            return _selected(refusing[-1]) if refusing else _REFUSED
        labels = _labels(options)
        if not options[-1].kind.startswith("reject"):
            labels = (*labels, _REFUSE)
        answer = await self._ask(text, labels)
        if answer is None or answer == len(options):
            return _REFUSED
        return _selected(options[answer])

    def stop(self) -> None:
        """Take no more updates; open questions are withdrawn."""
        self.is_over = True
        for task in self._waiting:
            task.cancel()

    def finish(self, **fields: Any) -> Turn:
        """End the last message and all calls. Return the turn with `fields`, its state unchanged."""
        self._flush_thought()
        for call, number in list(self._calls.items()):
            if self.turn.tool_calls[number].state is ToolState.INIT:
                self._end_call(call, ToolState.ERROR, "the agent did not report its end")
        if self._plan != self._shown_plan:
            self._show_plan()
        self._flush_message()
        self.stop()
        self.turn = replace(self.turn, state=TurnState.RUNNING, question=None, **fields)
        self._channel.emit(RoundCompleted(self.turn))
        return self.turn

    def summary(self) -> str:
        """Return the first line of the last message."""
        messages = [one.text for one in self.turn.messages if one.role == "assistant"]
        return first_line(messages[-1]) if messages else ""

    def _add_text(self, text: str) -> None:
        self._flush_thought()
        left = MAX_ANSWER - len(self.turn.answer) - len(self._message)
        if (piece := text[: max(0, left)]) != "":
            self._message += piece
            self._channel.emit(TextDelta(self.turn, piece))

    def _flush_message(self) -> None:
        """Add the message to the answer of the turn."""
        text, self._message = self._message.strip(), ""
        if not text:
            return
        answer = "\n\n".join(filter(None, (self.turn.answer, text)))
        utterance = Utterance("assistant", self._now(), len(answer))
        utterances = (*self.turn.utterances, utterance)
        self.turn = replace(self.turn, answer=answer, utterances=utterances)
        self._channel.emit(RoundCompleted(self.turn))

    def _flush_thought(self) -> None:
        """Show a thought as one line."""
        thought, self._thought = " ".join(self._thought.split()), ""
        if thought:
            self._show_line(f"thought: {_cut(thought)}")

    def _show_line(self, line: str) -> None:
        call = f"line-{len(self.turn.tool_calls)}"
        self._add_call(call, line, "")
        self._end_call(call, ToolState.COMPLETED)

    def _set_plan(self, lines: tuple[str, ...]) -> None:
        self._plan = lines
        if not self._shown_plan:
            self._show_plan()

    def _show_plan(self) -> None:
        self._shown_plan = self._plan
        self._flush_message()
        self._add_text("\n".join(("Plan:", "", *self._plan)))
        self._flush_message()

    def _update_call(self, update: ToolCallStart | ToolCallProgress) -> None:
        call = update.tool_call_id[:MAX_TITLE]
        if call not in self._calls:
            self._flush_thought()
            self._flush_message()
            self._add_call(call, *self._label(update))
        elif update.title or update.locations:
            self._name_call(call, *self._label(update))
        if call in self._calls and update.kind in ("edit", "delete", "move"):
            self._writing.add(call)
        state = _ENDS.get(update.status or "")
        if state is not None:
            self._end_call(call, state, "" if state is ToolState.COMPLETED else "failed")

    def _add_call(self, call: str, tool: str, file: str) -> None:
        if len(self._calls) >= MAX_CALLS:
            return
        self._calls[call] = len(self.turn.tool_calls)
        run = ToolRun(call, tool, ToolState.INIT, file)
        self.turn = self.turn.with_calls((run,))
        self._channel.emit(ToolStarted(self.turn, run))

    def _name_call(self, call: str, tool: str, file: str) -> None:
        """Take over the name of a call that an agent has reported later."""
        number = self._calls[call]
        run = self.turn.tool_calls[number]
        if run.state is ToolState.INIT and (file or not run.file):
            self.turn = self.turn.with_run(number, replace(run, tool=tool, file=file))

    def _end_call(self, call: str, state: ToolState, error: str = "") -> None:
        number = self._calls.get(call)
        if number is None or self.turn.tool_calls[number].state is not ToolState.INIT:
            return
        self.n_writes += state is ToolState.COMPLETED and call in self._writing
        run = self.turn.tool_calls[number].transition_to(state, error)
        self.turn = self.turn.with_run(number, run)
        self._channel.emit(ToolEnded(self.turn, run))

    def _label(self, update: ToolCallUpdate | ToolCallStart) -> tuple[str, str]:
        """Return the name of a call, and the name of its file or ""."""
        paths = [one.path for one in update.locations or ()]
        files = [name for path in paths if (name := self._name_of(path))]
        if files and update.kind in ("read", "edit", "delete", "move"):
            return update.kind, files[0]
        return _cut(escape_line(update.title or update.kind or "tool")), ""

    def _is_edit(self, call: ToolCallUpdate) -> bool:
        """Return whether a call only edits files of the workspace, by its diffs."""
        paths = [one.path for one in call.content or () if one.type == "diff"]
        if not paths or call.kind not in ("edit", None) or _command_of(call):
            return False
        paths += [one.path for one in call.locations or ()]
        return all(map(self._name_of, paths))

    def _described(self, call: ToolCallUpdate) -> str:
        """Return the text of a question: what the agent asks for, whole.

        A title that only mentions the command may say anything about it. The lines of the command
        are indented, so that none looks like a file that the agent names.
        """
        title = escape_line(call.title or call.kind or "a tool")
        lines = [f"{self.turn.agent} asks for permission: {title}"]
        command = _command_of(call)
        lines += [f"file: {escape_line(one.path)}" for one in call.locations or ()]
        if command and command != title:
            lines += [f"    {line}" for line in command.splitlines()]
        return "\n".join(lines)

    async def _ask(self, text: str, choices: tuple[str, ...]) -> int | None:
        """Return the number of the user's choice; None if the turn ends first."""
        async with self._asking:  # a turn has one question at a time
            if self.is_over:
                return None
            self._flush_thought()
            self._flush_message()
            self._n_questions += 1
            name = f"q-{self.turn.id}-{self._n_questions}"
            question = Question(name, "confirm", text, choices)
            self.turn = replace(self.turn, state=TurnState.WAITING, question=question)
            task = self._spawn(_answer(self._channel, question), f"question {name}")
            self._waiting.add(task)
            try:
                await asyncio.wait({task})
            finally:
                task.cancel()
                self._waiting.discard(task)
                self.turn = replace(self.turn, state=TurnState.RUNNING, question=None)
            return None if task.cancelled() else question.choices.index(task.result())


def _command_of(call: ToolCallUpdate) -> str:
    """Return the command that a call would run, or ""."""
    tool_input = call.raw_input
    command = tool_input.get("command") if isinstance(tool_input, dict) else None
    if isinstance(command, list):
        return json.dumps(command, ensure_ascii=False)
    return command if isinstance(command, str) else ""


def _kind_of(params: Any) -> object:
    """Return the kind of an update, before it is checked as a whole."""
    update = params.get("update") if isinstance(params, dict) else None
    kind = update.get("sessionUpdate") if isinstance(update, dict) else None
    return kind if isinstance(kind, str) else None


async def _answer(channel: TurnChannel, question: Question) -> str:
    return await channel.ask_question(question)


def _selected(option: PermissionOption) -> dict[str, Any]:
    return {"outcome": {"outcome": "selected", "optionId": option.option_id}}


def _labels(options: list[PermissionOption]) -> tuple[str, ...]:
    """Return a label for each option; no two are the same."""
    labels: list[str] = []
    for one in options:
        label = _cut(escape_line(one.name).strip() or one.kind)
        labels.append(f"{label} ({one.kind})" if label in labels else label)
    if len(set(labels)) < len(labels):
        return tuple(f"{number}. {label}" for number, label in enumerate(labels, 1))
    return tuple(labels)


def _plan_line(content: str, status: str) -> str:
    return f"- [{_BOXES.get(status, ' ')}] {_cut(' '.join(content.split()))}"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TITLE else f"{text[: MAX_TITLE - 1]}…"
