"""`stet review`, `stet accept` and `stet reject`: decide about pending hunks from the shell.

If an editor has the folder open, its server has the hunks, and an accepted hunk is applied in the
editor. Otherwise a server without an editor restores the hunks, and accepted text is saved.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stet.cli.editor_connection import EditorConnection, find_editor
from stet.cli.files import save_all
from stet.cli.hunk_reviewer import HunkReviewer, Item, ReviewClient
from stet.cli.terminal import CliError, LineReader, Terminal
from stet.lsp.headless.editor_documents import EditorDocuments
from stet.lsp.headless.headless_client import CommandFailed, HeadlessClient, ServerFailed
from stet.system.system import System
from stet.text.render import counted
from stet.workspace.uris import uri_of

NOT_DECIDED = 3
"""The exit code if a hunk could not be decided or saved."""
PROTECTED = "protected file"
"""A part of the refusal of a hunk that needs an approval by itself."""
OPEN = frozenset({"pending", "conflict"})


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """What to decide.

    Attributes:
        folder: The workspace folder.
        file: The only file whose hunks are meant; None for all files.
        hunks: The ids of hunks.
        all_hunks: Whether all pending hunks are meant.
        reason: The reason of a rejection, which the agent is sent with the next question.
        as_json: Whether to print the hunks as JSON, for scripts.
    """

    folder: Path
    file: Path | None = None
    hunks: tuple[str, ...] = ()
    all_hunks: bool = False
    reason: str = ""
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class _ReviewSession:
    """A server with hunks.

    Attributes:
        client: The server.
        save: Writes accepted text, as `save_all` does.
        in_editor: Whether the accepted text is in an editor, not on the disk.
    """

    client: ReviewClient
    save: Callable[[], tuple[list[Path], list[str]]]
    in_editor: bool


def review(request: ReviewRequest) -> int:
    """Show the pending hunks, and ask about each in a terminal; return the exit code.

    Raises:
        CliError: If the server does not answer.
    """
    terminal = Terminal()

    async def decide(items: list[Item], reviewer: HunkReviewer) -> None:
        if terminal.is_interactive:
            await reviewer.review([item["hunk"] for item in items if item["state"] == "pending"])
            if n := sum(item["state"] == "conflict" for item in items):
                terminal.say(f"{counted(n, 'hunk')} in conflict: resolve in an editor", "yellow")
            return
        for number, item in enumerate(items, start=1):
            terminal.show(f"\n{item['hunk']} ({item['state']})", "bold")
            await reviewer.show(item, number, len(items), with_name=True)

    return _run(request, terminal, decide)


def accept(request: ReviewRequest) -> int:
    """Accept the named hunks or all; return the exit code.

    Raises:
        CliError: If the server does not answer.
    """

    async def decide(items: list[Item], reviewer: HunkReviewer) -> None:
        for hunks, which in _selected(request, items):
            await reviewer.accept(hunks, which)

    return _run(request, Terminal(), decide)


def reject(request: ReviewRequest) -> int:
    """Reject the named hunks or all; return the exit code.

    Raises:
        CliError: If the server does not answer.
    """

    async def decide(items: list[Item], reviewer: HunkReviewer) -> None:
        for hunks, which in _selected(request, items):
            await reviewer.reject(hunks, {**which, "reason": request.reason})

    return _run(request, Terminal(), decide)


def _selected(
    request: ReviewRequest, items: Sequence[Item]
) -> list[tuple[list[str], dict[str, object]]]:
    """Return the ids of hunks and the arguments that select them, for each command to run."""
    if not request.all_hunks:
        return [([hunk], {"hunk": hunk}) for hunk in request.hunks]
    which: dict[str, object] = {"all": True}
    if request.file is not None:
        which = {"uri": uri_of(request.file)}
    return [([item["hunk"] for item in items], which)]


Decide = Callable[[list[Item], HunkReviewer], Awaitable[None]]


def _run(request: ReviewRequest, terminal: Terminal, decide: Decide) -> int:
    try:
        return asyncio.run(_decide(request, terminal, decide))
    except (ServerFailed, CommandFailed) as error:
        raise CliError(str(error)) from error


async def _decide(request: ReviewRequest, terminal: Terminal, decide: Decide) -> int:
    async with _open_session(request) as session:
        arguments = {} if request.file is None else {"uri": uri_of(request.file)}
        listed = await session.client.command("stet.proposals", arguments)
        items = [item for item in listed if item["state"] in OPEN]
        if unknown := set(request.hunks).difference(item["hunk"] for item in listed):
            missing = ", ".join(sorted(unknown))
            raise CliError(f"there is no hunk {missing} here; `stet review` shows the IDs", code=2)
        if request.as_json:
            terminal.out.file.write(f"{json.dumps(items)}\n")
            return 0
        if not items and not request.hunks:
            where = request.file or request.folder
            terminal.say(f"Nothing is pending in {where}.")
            return 0
        reviewer = HunkReviewer(
            session.client,
            terminal,
            LineReader(),
            lambda uri: EditorDocuments.name(uri, request.folder),
        )
        await decide(items, reviewer)
        for refusal in reviewer.refused:
            reason = refusal["reason"]
            if PROTECTED in reason:
                reason = f"{PROTECTED}; use `stet review`"
            terminal.say(f"{refusal['hunk']} was not decided: {reason}", "yellow")
        return _report(terminal, reviewer, session, request.folder)


def _report(
    terminal: Terminal, reviewer: HunkReviewer, session: _ReviewSession, folder: Path
) -> int:
    """Save what was accepted, show what was done, and return the exit code."""
    if reviewer.accepted:
        where = " in the editor, which has not saved the text yet" if session.in_editor else ""
        terminal.say(f"Accepted {counted(len(reviewer.accepted), 'hunk')}{where}", "bold")
    if reviewer.rejected:
        terminal.say(f"Rejected {counted(len(reviewer.rejected), 'hunk')}", "bold")
    saved, unsaved = session.save()
    for path in saved:
        terminal.say(f"Saved {EditorDocuments.name(uri_of(path), folder)}", "green")
    for problem in unsaved:
        terminal.say(problem, "red")
    return NOT_DECIDED if reviewer.refused or unsaved else 0


@asynccontextmanager
async def _open_session(request: ReviewRequest) -> AsyncIterator[_ReviewSession]:
    """Connect to the editor's server, or start one without an editor.

    Raises:
        CliError: If the editor's server does not answer.
        ServerFailed: If the server does not start.
    """
    descriptor = await asyncio.to_thread(find_editor, request.folder, request.file)
    if descriptor is not None:
        with closing(EditorConnection(descriptor)) as connection:
            yield _ReviewSession(connection, lambda: ([], []), in_editor=True)
        return
    client = HeadlessClient(System(), on_event=lambda _: None)
    async with client.session(request.folder):
        yield _ReviewSession(client, partial(save_all, client), in_editor=False)
