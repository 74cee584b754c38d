"""The routing table: every method and command that Stet answers, and the run of a server. Start
here.

Each verb of the router defines what a handler may do; see `stet.lsp.routing`.
"""

import asyncio
import gc
import logging
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stet import __version__
from stet.lsp.connection import stdio
from stet.lsp.connection.protocol import SessionPhase, StetLanguageServer
from stet.lsp.connection.stdio import CLOSING_SECONDS, HARD_EXIT_SECONDS, FrameReader, exit_within
from stet.lsp.lsp_errors import InvalidParams
from stet.lsp.observability import Observability
from stet.lsp.routing import Router, call_in_turn, lazy_modules
from stet.observability.crash_reports import CrashReporter

if TYPE_CHECKING:
    from stet.lsp.commands import (
        agent_commands,
        chat_commands,
        context_commands,
        review_commands,
        search_commands,
        turn_commands,
    )
    from stet.lsp.requests import (
        code_action,
        code_lens,
        focus,
        hover,
        inline_completion,
        server_lifecycle,
    )
    from stet.lsp.state import ServerState
else:
    # No handler is needed before `initialize` is answered; see `stet.lsp.routing`.
    code_action, code_lens, focus, hover, inline_completion, server_lifecycle = lazy_modules(
        "stet.lsp.requests",
        "code_action",
        "code_lens",
        "focus",
        "hover",
        "inline_completion",
        "server_lifecycle",
    )
    (
        agent_commands,
        chat_commands,
        context_commands,
        review_commands,
        search_commands,
        turn_commands,
    ) = lazy_modules(
        "stet.lsp.commands",
        "agent_commands",
        "chat_commands",
        "context_commands",
        "review_commands",
        "search_commands",
        "turn_commands",
    )

log = logging.getLogger(__name__)

LAST_WORDS_SECONDS = 1.0
"""The time limit for the editor to read the last messages after the end of the session."""
CODE_ACTIONS = lsp.CodeActionOptions(
    code_action_kinds=[lsp.CodeActionKind.QuickFix, "refactor.rewrite.stet", "source.stet"],
    resolve_provider=False,
)
LENSES = lsp.CodeLensOptions(resolve_provider=False)
ALL_FILES = lsp.FileOperationRegistrationOptions(
    [lsp.FileOperationFilter(lsp.FileOperationPattern("**/*"))]
)
Handler = Callable[["ServerState", tuple[object, ...]], object]

EXPERIMENTAL = {"stet": {"didFocus": True, "didChangeSelection": True}}


def build_server(
    *, log_level_given: bool = False, operations: Observability | None = None
) -> StetLanguageServer:
    """Return a server with all handlers, ready to serve."""
    server = StetLanguageServer("stet", __version__)
    server.experimental = EXPERIMENTAL
    operations = operations or Observability()

    @cache
    def state() -> "ServerState":
        from stet.lsp.state import ServerState
        from stet.system.system import System

        made = ServerState(
            server, System(), operations, route.run_command, log_level_given=log_level_given
        )
        server.closing = made.close
        return made

    server.state = state
    route = Router(server, state, lambda made: made.startup.readiness.enqueue())

    # `initialize` itself is handled by the framework. Text synchronization (open, change, close)
    # and the editor's disk events bypass this table, for speed.
    route.mutates(lsp.INITIALIZED, server_lifecycle.initialized)
    route.mutates(lsp.SHUTDOWN, server_lifecycle.shutdown)
    route.mutates(lsp.TEXT_DOCUMENT_DID_SAVE, server_lifecycle.did_save, lsp.SaveOptions())
    route.mutates(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, server_lifecycle.did_change_configuration)
    route.mutates(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, server_lifecycle.did_change_folders)
    route.mutates(lsp.WORKSPACE_DID_RENAME_FILES, server_lifecycle.did_rename_files, ALL_FILES)
    route.mutates(lsp.WORKSPACE_DID_DELETE_FILES, server_lifecycle.did_delete_files, ALL_FILES)
    route.mutates("$/stet/didFocus", focus.did_focus)
    route.mutates("textDocument/didFocus", focus.did_focus)
    route.mutates("$/stet/didChangeSelection", focus.did_change_selection)

    # Answered from state, within milliseconds.
    route.reads(lsp.TEXT_DOCUMENT_CODE_LENS, code_lens.code_lenses, LENSES)
    route.reads(lsp.TEXT_DOCUMENT_HOVER, hover.hover)
    route.reads(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, hover.document_highlight)

    # Answered from state too, unless a line may hold an instruction: its comment must be found first.
    route.reads_or_waits(lsp.TEXT_DOCUMENT_CODE_ACTION, code_action.code_actions, CODE_ACTIONS)

    # Searched in a worker thread; only queries to Stet: the language's own server searches for names.
    route.reads_async(lsp.WORKSPACE_SYMBOL, search_commands.workspace_symbols)

    # Answered by the completion model; the next change of the text ends it.
    route.reads_async(lsp.TEXT_DOCUMENT_INLINE_COMPLETION, inline_completion.inline_completion)

    _commands(route)
    return server


def _commands(route: "Router[ServerState]") -> None:
    """Register the commands. They answer at once, unless they need the disk.

    Their work continues in tasks. Until the server is ready commands wait, except those that need
    no state of earlier runs.
    """
    route.command("stet.ask", turn_commands.ask, at_once=True)
    route.command("stet.turn", turn_commands.turn)
    route.command("stet.cancel", turn_commands.cancel)
    route.command("stet.steer", turn_commands.steer)
    route.command("stet.answer", turn_commands.answer)
    route.command("stet.agents", agent_commands.list_agents)
    route.command("stet.chooseAgent", agent_commands.choose_agent)
    route.command("stet.openChat", chat_commands.open_chat)
    route.command("stet.chats", chat_commands.list_chats)
    route.command("stet.newChat", chat_commands.new_chat)
    route.command("stet.send", chat_commands.send)
    run_comment = partial(turn_commands.run_comment, name="stet.runComment")
    route.command("stet.runComment", run_comment)
    route.command("stet.carryOut", turn_commands.run_comment)
    route.command("stet.showContext", turn_commands.show_context, at_once=True)
    route.command(
        "stet.requestLog", partial(context_commands.show_request_log, name="stet.requestLog")
    )
    route.command("stet.ledger", context_commands.show_request_log)
    route.command("stet.search", search_commands.search, stops=True)
    route.command("stet.reindex", search_commands.reindex)
    route.command("stet.context", with_persistence_note(context_commands.context))
    route.command("stet.status", turn_commands.status, at_once=True)
    route.command("stet.proposals", with_import(review_commands.proposals))
    accept = with_persistence_note(review_commands.accept, writes_later=True)
    route.command("stet.accept", with_import(accept))
    route.command("stet.reject", with_import(with_persistence_note(review_commands.reject)))
    route.command("stet.preview", with_import(review_commands.preview))
    undo = with_persistence_note(review_commands.undo, writes_later=True)
    route.command("stet.undo", undo)
    route.command("stet.restore", with_persistence_note(review_commands.restore))
    resolve = with_persistence_note(review_commands.resolve, writes_later=True)
    route.command("stet.resolve", resolve)
    route.command("stet.next", review_commands.next_hunk)
    route.command("stet.previous", review_commands.previous_hunk)
    route.command("stet.review", with_import(review_commands.open_diff_document))
    route.command("stet.focus", focus.focus, at_once=True)
    route.command("stet.sendSelection", context_commands.send_selection)
    route.command("stet.deadLinks", search_commands.dead_links)


def with_import(handler: Handler) -> Handler:
    """Return a handler that imports the blocks of the note that a command names, then calls
    `handler`.

    A command without `uri` or `file`, or for a note that needs no import, is answered at once.
    """

    def handle(state: "ServerState", values: tuple[object, ...]) -> object:
        uri = _named_uri(state, values)
        if uri is None or not state.documents.block_import.needs_import(uri):
            return handler(state, values)
        wait_import = partial(state.documents.block_import.import_named, uri)
        return call_in_turn(wait_import, lambda: handler(state, values))

    return handle


def _named_uri(state: "ServerState", values: tuple[object, ...]) -> str | None:
    """Return the URI that a command names; None if there is none or the handler will refuse it."""
    # late: the routing table is needed before `initialize` is answered
    from stet.lsp.arguments import CommandArguments
    from stet.lsp.presentation.hunk_selection import resolve_uri

    try:
        return resolve_uri(CommandArguments("", values, main="hunk"), state.workspace)
    except InvalidParams:
        return None


def with_persistence_note(handler: Handler, *, writes_later: bool = False) -> Handler:
    """Return a handler that adds `notPersisted`, a reason, if a kill would lose the decision.

    Args:
        handler: The handler of the command.
        writes_later: Whether the decision is written after the answer. The command is then answered
            after a worker thread has tried a write to the disk.
    """

    def handle(state: "ServerState", values: tuple[object, ...]) -> object:
        answer = handler(state, values)
        if not writes_later:
            return _with_note(state, answer)
        # The command keeps its position among the messages; no edit is applied before the answer.
        return _probe_first(state, answer, state.review.edit_applier.pause())

    return handle


async def _probe_first(state: "ServerState", answer: object, resume: Callable[[], None]) -> object:
    """Return an answer after a worker thread has tried a write, which takes milliseconds."""
    try:
        await asyncio.to_thread(state.store.probe)
    finally:
        # The answer is sent one step of the loop after this coroutine ends, and edits one step later.
        asyncio.get_running_loop().call_soon(resume)
    return _with_note(state, answer)


def _with_note(state: "ServerState", answer: object) -> object:
    reason = state.store.not_persisted
    return {**answer, "notPersisted": reason} if reason and isinstance(answer, dict) else answer


def serve(reports: CrashReporter, *, log_level_given: bool = False) -> int:
    """Serve one editor on the standard streams until the session ends; return the exit code.

    Args:
        reports: The crash reporter, which already is a handler of the log.
        log_level_given: Whether the command line set the log level, which settings then don't
            change.
    """
    server = build_server(log_level_given=log_level_given, operations=Observability(reports))
    return serve_session(server)


def serve_session(server: StetLanguageServer) -> int:
    """Serve one editor on standard input and output until the session ends; return the exit code.

    The code is 0 after `shutdown`, 1 if the session ended without it, 128 + n after signal n.
    """
    if missing := stdio.missing_stream():
        log.error("Stet can't serve: its standard %s is closed", missing)
        return 1
    return asyncio.run(_run_session(server))


async def _run_session(server: StetLanguageServer) -> int:
    # Exclude imported objects from garbage collection, which would block the server for 35 ms.
    gc.freeze()
    reading, writing = stdio.take_streams()
    server.lifetime.listen_to_signals()
    frames = server.input = FrameReader(server.protocol.receive, server.lifetime.end)
    output = await stdio.connect(reading, writing, frames)
    server.protocol.set_writer(output)
    await server.lifetime.wait()
    code = 0 if server.protocol.phase is SessionPhase.SHUT_DOWN else 1
    if server.lifetime.signal is not None:
        code = 128 + server.lifetime.signal
    # Closing waits for threads, and a thread that reads from a hanging disk never ends.
    exit_within(CLOSING_SECONDS, code)
    await server.tasks.close()
    if server.closing is not None:
        await server.closing()
    await output.drain(LAST_WORDS_SECONDS)
    output.close()
    exit_within(HARD_EXIT_SECONDS, code)
    return code
