"""`stet ask`: ask one question in a real session, show the proposals, save the accepted ones."""

import asyncio
import contextlib
import json
import secrets
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from stet.cli.answer_view import AnswerView, can_show
from stet.cli.files import FileArgument, save_all
from stet.cli.hunk_reviewer import HunkReviewer
from stet.cli.terminal import CliError, LineReader, Terminal
from stet.llm.model import display_name
from stet.lsp.headless.headless_client import (
    AnswerPiece,
    CommandFailed,
    Event,
    HeadlessClient,
    MessageShown,
    ServerFailed,
    ServerProgress,
)
from stet.system.system import System
from stet.text.escape import escape_line
from stet.text.lines import split_lines
from stet.text.render import counted
from stet.tools.editor_actions import SEND

Mode = Literal["agent", "ask", "rewrite"]
Accept = Literal["all", "none", "review"]
CANCEL_SECONDS = 2
_TITLE = 20
"""Characters of the question that are compared with the title of a progress."""
FAILED, NOT_ACCEPTED = 1, 3
_REPORTED_KEYS = (
    "turn", "chat", "state", "success", "answer", "summary", "error", "notes", "replaced",
    "rejectedEdits", "failedEdits", "usage", "cost", "priceSource",
)  # fmt: skip
"""The keys of `stet.turn` that `--json` prints."""
_ENDS = {"failed": "Failed", "cancelled": "Cancelled", "limited": "Stopped at a limit"}
"""By state of the turn, the report of its end."""


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question, its location, and the handling of the answer."""

    prompt: str
    root: Path
    location: FileArgument | None = None
    mode: Mode = "agent"
    accept: Accept = "none"
    as_json: bool = False
    may_send: bool = False
    """Whether a question above `context.warnTokens` is sent without confirmation."""
    chat: str = ""
    """The id of the conversation that the question continues; "" for a new conversation."""
    continues: bool = False
    """Whether the question continues the latest conversation of the folder."""
    agent: str = ""
    """The name of the agent that answers; "" for that of the settings."""


@dataclass(slots=True)
class AskOutcome:
    """The outcome of a question: the object that `--json` prints.

    Attributes:
        turn: The answer of `stet.turn` after the end of the turn.
        proposals: The answer of `stet.proposals` after the end of the turn.
        accepted: The ids of the accepted hunks.
        refused: `{hunk, reason}` of the hunks that could not be accepted.
        model: The model, its provider and the reason for the choice, from `stet.status`.
        pending: The number of pending hunks of all turns.
        files: The files that were written.
        unsaved: One sentence for each file that could not be written.
    """

    turn: dict[str, Any] = field(default_factory=dict)
    proposals: list[dict[str, Any]] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    model: dict[str, Any] = field(default_factory=dict)
    pending: int = 0
    files: list[Path] = field(default_factory=list)
    unsaved: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0, or 1 if the turn failed, or 3 if a hunk could not be accepted or saved."""
        if not self.turn["success"]:
            return FAILED
        return NOT_ACCEPTED if self.refused or self.unsaved else 0

    def as_json(self) -> str:
        """Return one object on one line, ASCII, so that no character controls a terminal."""
        outcome = asdict(self)
        turn = outcome.pop("turn")
        return json.dumps({key: turn.get(key) for key in _REPORTED_KEYS} | outcome, default=str)


def run(request: AskRequest) -> int:
    """Ask, show the answer and return the exit code.

    Raises:
        CliError: If the question fails; the message gives the reason.
    """
    terminal = Terminal()
    try:
        outcome = asyncio.run(_AskSession(request, terminal).run())
    except (ServerFailed, CommandFailed) as error:
        raise CliError(str(error)) from error
    if request.as_json:
        terminal.out.file.write(f"{outcome.as_json()}\n")
    return outcome.exit_code


class _AskSession:
    """One run of `stet ask`."""

    def __init__(self, request: AskRequest, terminal: Terminal) -> None:
        self._request = request
        self._terminal = terminal
        is_shown = request.mode != "rewrite" and not request.as_json and can_show(terminal.out)
        self._view = AnswerView(terminal.out) if is_shown else None
        self._client = HeadlessClient(
            System(),
            on_event=self._event,
            choose=self._choose,
            wants_answers=is_shown,
            uses_daemon=True,
        )
        self._answers = LineReader()
        documents, root = self._client.documents, request.root
        self._reviewer = HunkReviewer(
            self._client, terminal, self._answers, lambda uri: documents.name(uri, root)
        )
        self._progress: Callable[[str], None] = lambda _: None
        self._messages: list[str] = []
        self._outcome = AskOutcome(accepted=self._reviewer.accepted, refused=self._reviewer.refused)
        self._n_hunks = 0

    async def run(self) -> AskOutcome:
        """Ask, decide about the proposals and save the files.

        Raises:
            CliError: If the file can't be read.
            ServerFailed: If the server does not start or ends.
            CommandFailed: If the server refuses the question.
        """
        async with self._client.session(self._request.root):
            arguments = {**self._arguments(), "chat": await self._chat()}
            with self._working() as self._progress:
                self._outcome.turn = await self._run_turn(arguments)
            await self._read_results()
            self._show_messages()
            if not self._request.as_json:
                self._show_answer()
            await self._decide()
            self._save()
            if not self._request.as_json:
                self._show_end()
        return self._outcome

    def _working(self) -> AbstractContextManager[Callable[[str], None]]:
        """Show the progress during the block: below the answer, in a line, or as lines."""
        if self._view is not None:
            return self._view.shown()
        if self._request.as_json:
            return contextlib.nullcontext(lambda _: None)
        return self._terminal.reporting("starting")

    async def _chat(self) -> str:
        """Return the id of the conversation that the question belongs to."""
        if self._request.continues:
            latest: str = (await self._client.command("stet.openChat"))["chat"]
            return latest
        return self._request.chat or f"shell-{secrets.token_hex(4)}"

    def _save(self) -> None:
        """Write all changed files; report each file that can't be written."""
        self._outcome.files, self._outcome.unsaved = save_all(self._client)
        for problem in self._outcome.unsaved:
            self._terminal.say(problem, "red")

    def _arguments(self) -> dict[str, object]:
        """Open the file and return the arguments of `stet.ask`."""
        question, place = self._request, self._request.location
        arguments: dict[str, object] = {"prompt": question.prompt, "mode": question.mode}
        if question.agent:
            arguments["agent"] = question.agent
        if place is None:
            return arguments
        try:
            arguments["uri"] = uri = self._client.open(place.path)
        except UnicodeDecodeError as error:
            raise CliError(f"{place.path} is not UTF-8 text") from error
        except OSError as error:
            raise CliError(f"{place.path} can't be read: {error}") from error
        *ended, rest = split_lines(self._client.documents.text(uri) or "")
        n_lines = len(ended) + bool(rest)
        lines = place.lines
        if lines is None and question.mode == "rewrite" and n_lines:
            lines = 1, n_lines
        if lines and lines[0] > n_lines:
            raise CliError(f"{place.path} has only {n_lines} lines", code=2)
        if lines:
            arguments |= {"from": lines[0], "to": min(lines[1], n_lines)}
        return arguments

    async def _run_turn(self, arguments: dict[str, object]) -> dict[str, Any]:
        """Start a turn and wait for its end; on a cancel, cancel the turn."""
        task = await self._client.command("stet.ask", arguments)
        try:
            return await self._client.turn_ended(task["turn"])
        except asyncio.CancelledError:
            # If the server has ended or hangs, there is no turn to cancel.
            with contextlib.suppress(TimeoutError, ServerFailed, CommandFailed):
                async with asyncio.timeout(CANCEL_SECONDS):
                    await self._client.command("stet.cancel", {"turn": task["turn"]})
            raise

    async def _read_results(self) -> None:
        turn = self._outcome.turn["turn"]
        self._outcome.proposals = await self._client.command("stet.proposals", {"turn": turn})
        status = await self._client.command("stet.status")
        self._outcome.model = {key: status.get(key) for key in ("model", "provider", "why")}
        self._outcome.pending = int(status["pending"])

    async def _decide(self) -> None:
        """Accept or reject the pending hunks as the user has chosen."""
        pending = [item for item in self._outcome.proposals if item["state"] == "pending"]
        hunks = [item["hunk"] for item in pending]
        self._n_hunks = len(hunks)
        if not self._request.as_json and self._request.accept != "review":
            for number, item in enumerate(pending, start=1):
                await self._reviewer.show(item, number, self._n_hunks, with_name=True)
        if not hunks or self._request.accept == "none":
            return
        if self._request.accept == "all":
            await self._reviewer.accept(hunks, {"turn": self._outcome.turn["turn"]})
        else:
            await self._reviewer.review(hunks)
        await self._read_results()

    async def _choose(self, text: str, choices: Sequence[str]) -> str | None:
        """Return the user's answer to a question of the turn; None if no user is present.

        `--yes` confirms only the sending of a large request.
        """
        may_be_sent = SEND in choices
        if self._request.may_send and may_be_sent:
            return SEND
        if self._request.as_json or not self._terminal.is_interactive:
            self._messages.append(f"{text} (--yes sends it)" if may_be_sent else text)
            return None
        listed = [f"{n}. {choice}" for n, choice in enumerate(choices, 1)]
        with self._view.paused() if self._view else contextlib.nullcontext():
            for line in (text, *listed):
                self._terminal.say(line, "yellow")
            return (await self._answers.read_line("> ")) or None

    def _event(self, event: Event) -> None:
        """Show the server's progress; collect its errors and warnings."""
        match event:
            case ServerProgress(stage="begin" | "report") if self._is_of_turn(event):
                self._progress(event.message or event.title)
            case MessageShown(kind="error" | "warning"):
                self._messages.append(event.message)
            case AnswerPiece(start=start, text=text) if self._view is not None:
                self._view.append(start, text)

    def _is_of_turn(self, progress: ServerProgress) -> bool:
        """Return whether a progress is that of the turn, whose title has the question."""
        return progress.title.startswith(f"Stet: {escape_line(self._request.prompt)[:_TITLE]}")

    def _show_messages(self) -> None:
        """Show the server's messages, except the error or summary, which `_show_end` shows."""
        ends = [self._outcome.turn.get(key) for key in ("error", "summary")]
        for message in self._messages:
            if not any(end and end in message for end in ends):
                self._terminal.say(message, "yellow")

    def _new_notes(self) -> list[str]:
        """Return the notes of the turn that were not printed while the turn ran."""
        notes = self._outcome.turn.get("notes") or ()
        return [note for note in notes if note not in self._terminal.reported]

    def _show_answer(self) -> None:
        turn = self._outcome.turn
        words, summary = str(turn["answer"]), str(turn["summary"])
        if turn["state"] == "completed" and summary not in words:
            words = f"{words}\n\n{summary}"
        if self._view is not None:
            self._view.finish(words.strip())
        elif words.strip():
            self._terminal.show_markdown(words.strip())
        for note in self._new_notes():
            self._terminal.say(note, "yellow")
        for edit in turn.get("rejectedEdits") or ():
            self._terminal.say(f"Edit of {edit['file']} refused: {edit['message']}", "yellow")
        for edit in turn.get("failedEdits") or ():
            self._terminal.say(f"Edit of {edit['file']} failed: {edit['message']}", "yellow")
        if n := len(turn.get("replaced") or ()):
            self._terminal.say(f"Replaced {counted(n, 'pending hunk')}", "yellow")

    def _explained(self, refusal: dict[str, Any]) -> str:
        """Return the file of a hunk that was not accepted, and the reason."""
        hunks = {item["hunk"]: item for item in self._outcome.proposals}
        item = hunks.get(refusal["hunk"])
        if item is None:
            return str(refusal["reason"])
        name = self._client.documents.name(item["uri"], self._request.root)
        is_protected = item["protected"] and self._request.accept == "all"
        reason = "protected file; use --accept review" if is_protected else refusal["reason"]
        return f"{name}: {reason}"

    def _show_end(self) -> None:
        turn, outcome = self._outcome.turn, self._outcome
        for refusal in outcome.refused:
            self._terminal.say(f"Not accepted: {self._explained(refusal)}", "yellow")
        if self._n_hunks and self._request.accept != "none":
            n_accepted, total = len(outcome.accepted), counted(self._n_hunks, "hunk")
            self._terminal.say(f"Accepted {n_accepted} of {total}", "bold")
        if outcome.pending:
            left = f"{counted(outcome.pending, 'hunk')} left pending"
            self._terminal.say(f"{left}: review them with `stet review`, or in an editor", "yellow")
        for path in outcome.files:
            root = self._request.root
            name = path.relative_to(root) if path.is_relative_to(root) else path
            self._terminal.say(f"Saved {name}", "green")
        if turn["state"] in _ENDS:
            reason = turn.get("error") or turn.get("summary") or ""
            self._terminal.say(f"{_ENDS[turn['state']]}: {reason}", "red")
        self._terminal.say(turn_facts(turn, outcome.model), "dim")


def turn_facts(turn: dict[str, Any], model: dict[str, Any]) -> str:
    """Return one line with the model, the tokens and the cost."""
    usage = turn.get("usage") or {}
    # A reason that was already shown as the turn's error is left out.
    why = "" if model.get("why") == turn.get("error") else model.get("why")
    provider = ": ".join(filter(None, (model.get("provider"), why)))
    name = display_name(turn.get("model") or model.get("model") or "")
    used = f"{name} ({provider})" if name else provider
    if turn.get("agent", "stet") != "stet":
        used = f"{escape_line(turn['agent'])}, an agent of its own"
    elif not model.get("provider"):
        used = "no model"
    parts = [
        used,
        f"{usage.get('promptTokens', 0)} tokens in, {usage.get('completionTokens', 0)} out",
    ]
    if turn.get("cost") is not None:
        parts.append(f"cost {turn['cost']:.4f}")
    return " · ".join(parts)
