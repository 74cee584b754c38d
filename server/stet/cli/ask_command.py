"""`stet ask`: ask one question in a real session, show the proposals, save the accepted ones."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from stet.cli.files import FileArgument, save
from stet.cli.terminal import CliError, LineReader, Terminal, coloured, hunk_diff
from stet.lsp.headless.headless_client import (
    CommandFailed,
    Event,
    HeadlessClient,
    MessageShown,
    ServerFailed,
    ServerProgress,
)
from stet.system.system import System
from stet.text.lines import split_lines
from stet.text.render import counted
from stet.tools.editor_actions import SEND

Mode = Literal["agent", "ask", "rewrite"]
Accept = Literal["all", "none", "review"]
CANCEL_SECONDS = 2
FAILED, NOT_ACCEPTED = 1, 3
_REPORTED_KEYS = (
    "turn", "state", "success", "answer", "summary", "error", "notes", "replaced",
    "rejectedEdits", "failedEdits", "usage", "cost", "priceSource",
)  # fmt: skip
"""The keys of `stet.turn` that `--json` prints."""
_ENDS = {"failed": "failed", "cancelled": "was cancelled", "limited": "stopped at a limit"}
"""By state of the turn, the words that report its end."""


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
        self._client = HeadlessClient(System(), on_event=self._event, choose=self._choose)
        self._answers = LineReader()
        self._progress: Callable[[str], None] = lambda _: None
        self._messages: list[str] = []
        self._outcome = AskOutcome()

    async def run(self) -> AskOutcome:
        """Ask, decide about the proposals and save the files.

        Raises:
            CliError: If the file can't be read.
            ServerFailed: If the server does not start or ends.
            CommandFailed: If the server refuses the question.
        """
        async with self._client.session(self._request.root):
            arguments = self._arguments()
            with self._terminal.working("starting") as self._progress:
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

    def _save(self) -> None:
        """Write all changed files; report each file that can't be written."""
        for change in self._client.documents.unsaved():
            try:
                save(change)
            except CliError as error:
                self._outcome.unsaved.append(str(error))
                self._terminal.say(str(error), "red")
                continue
            self._client.saved(change)
            self._outcome.files.append(change.path)

    def _arguments(self) -> dict[str, object]:
        """Open the file and return the arguments of `stet.ask`."""
        question, place = self._request, self._request.location
        arguments: dict[str, object] = {"prompt": question.prompt, "mode": question.mode}
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
        if not self._request.as_json and self._request.accept != "review":
            for item in pending:
                self._show_proposal(item)
        hunks = [item["hunk"] for item in pending]
        if not hunks or self._request.accept == "none":
            return
        if self._request.accept == "all":
            await self._accept(hunks, {"turn": self._outcome.turn["turn"]})
        else:
            await self._review(hunks)
        await self._read_results()

    async def _review(self, hunks: list[str]) -> None:
        """Show each hunk, ask for a decision and execute it."""
        for number, hunk in enumerate(hunks, start=1):
            # Read again: an earlier accepted hunk has moved the text.
            listed = await self._client.command("stet.proposals")
            item = next(item for item in listed if item["hunk"] == hunk)
            self._show_proposal(item)
            answer = await self._answers.read_line(f"accept? [y/n/q] ({number}/{len(hunks)}) ")
            match (answer or "q").strip().lower()[:1]:
                case "y":
                    which = {"hunk": hunk, "hash": item["hash"], "protected": True}
                    await self._accept([hunk], which)
                case "n":
                    reason = await self._answers.read_line("why? (may be empty) ")
                    hint = {"hunk": hunk, "reason": reason or ""}
                    await self._client.command("stet.reject", hint)
                case _:
                    self._terminal.say("The rest stays as it is, undecided.")
                    return

    async def _accept(self, hunks: list[str], which: dict[str, object]) -> None:
        """Accept `hunks`, which the arguments in `which` select; record the refusals."""
        try:
            done = await self._client.accept(**which)
        except CommandFailed as error:  # no hunk can be accepted
            refused = [{"hunk": hunk, "reason": str(error)} for hunk in hunks]
            done = {"accepted": [], "refused": refused}
        self._outcome.accepted += done["accepted"]
        self._outcome.refused += done["refused"]

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
        self._terminal.say("\n".join([text, *listed]), "yellow")
        return (await self._answers.read_line("")) or None

    def _event(self, event: Event) -> None:
        """Show the server's progress; collect its errors and warnings."""
        match event:
            case ServerProgress(stage="begin" | "report"):
                self._progress(event.message or event.title)
            case MessageShown(kind="error" | "warning"):
                self._messages.append(event.message)

    def _show_messages(self) -> None:
        """Show the server's messages, except the error or summary, which `_show_end` shows."""
        ends = [self._outcome.turn.get(key) for key in ("error", "summary")]
        for message in self._messages:
            if not any(end and end in message for end in ends):
                self._terminal.say(message, "yellow")

    def _show_answer(self) -> None:
        turn = self._outcome.turn
        words, summary = str(turn["answer"]), str(turn["summary"])
        if turn["state"] == "completed" and summary not in words:
            words = f"{words}\n\n{summary}"
        if words.strip():
            self._terminal.show(words.strip())
        for note in turn.get("notes") or ():
            self._terminal.say(note, "yellow")
        for edit in turn.get("rejectedEdits") or ():
            self._terminal.say(f"refused an edit of {edit['file']}: {edit['message']}", "yellow")
        for edit in turn.get("failedEdits") or ():
            text = f"an edit of {edit['file']} applied to no text: {edit['message']}"
            self._terminal.say(text, "yellow")
        if n := len(turn.get("replaced") or ()):
            self._terminal.say(f"replaces {counted(n, 'pending hunk')}", "yellow")

    def _show_proposal(self, item: dict[str, Any]) -> None:
        documents, uri = self._client.documents, item["uri"]
        name = documents.name(uri, self._request.root)
        note = " (protected)" if item.get("protected") else ""
        note += " (merged with your change)" if item.get("merged") else ""
        self._terminal.show(f"\n{item['summary']}{note}", "bold")
        diff = hunk_diff(item, documents.read(uri), name, documents.encoding)
        self._terminal.show(coloured(diff))

    def _show_end(self) -> None:
        turn, outcome = self._outcome.turn, self._outcome
        for refusal in outcome.refused:
            self._terminal.say(f"not accepted: {refusal['reason']}", "yellow")
        if self._request.accept == "all" and outcome.pending:
            what = "1 hunk waits" if outcome.pending == 1 else f"{outcome.pending} hunks wait"
            self._terminal.say(f"{what} for a decision: open the folder in an editor", "yellow")
        for path in outcome.files:
            self._terminal.say(f"wrote {path}", "green")
        if turn["state"] in _ENDS:
            reason = turn.get("error") or turn.get("summary") or ""
            self._terminal.say(f"the turn {_ENDS[turn['state']]}: {reason}", "red")
        self._terminal.say(turn_facts(turn, outcome.model), "dim")


def turn_facts(turn: dict[str, Any], model: dict[str, Any]) -> str:
    """Return one line with the model, the tokens and the cost."""
    usage = turn.get("usage") or {}
    # A reason that was already shown as the turn's error is left out.
    why = "" if model.get("why") == turn.get("error") else f": {model.get('why')}"
    name = turn.get("model") or model.get("model")
    parts = [
        f"{name} ({model.get('provider')}{why})" if model.get("provider") else "no model",
        f"{usage.get('promptTokens', 0)} tokens in, {usage.get('completionTokens', 0)} out",
    ]
    if turn.get("cost") is not None:
        parts.append(f"cost {turn['cost']:.4f}")
    return " · ".join(parts)
