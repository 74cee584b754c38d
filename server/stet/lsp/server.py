"""The routing table: every method and command that Stet answers. Start reading here.

Five verbs say what a handler may do; see `stet.lsp.routing`.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from stet import __version__
from stet.lsp.commands.command_notes import with_import, with_persistence_note
from stet.lsp.connection import serving
from stet.lsp.connection.protocol import StetLanguageServer
from stet.lsp.observability import Observability
from stet.lsp.routing import Router, lazy_modules
from stet.observability.crash_reports import CrashReporter

if TYPE_CHECKING:
    from stet.lsp.commands import (
        chat_commands,
        comment_command,
        context_command,
        dead_link_command,
        diff_document_command,
        navigate,
        request_log_command,
        review_commands,
        search_commands,
        turn_commands,
        undo_commands,
    )
    from stet.lsp.requests import code_actions, code_lens, editor_activity, server_lifecycle
    from stet.lsp.state import ServerState
else:
    # None of them is needed before `initialize` is answered; see `stet.lsp.routing`.
    code_actions, code_lens, editor_activity, server_lifecycle = lazy_modules(
        "stet.lsp.requests", "code_actions", "code_lens", "editor_activity", "server_lifecycle"
    )
    chat_commands, navigate, turn_commands, undo_commands = lazy_modules(
        "stet.lsp.commands", "chat_commands", "navigate", "turn_commands", "undo_commands"
    )
    comment_command, diff_document_command, review_commands = lazy_modules(
        "stet.lsp.commands", "comment_command", "diff_document_command", "review_commands"
    )
    context_command, dead_link_command, request_log_command, search_commands = lazy_modules(
        "stet.lsp.commands",
        "context_command",
        "dead_link_command",
        "request_log_command",
        "search_commands",
    )

CODE_ACTIONS = lsp.CodeActionOptions(
    code_action_kinds=[lsp.CodeActionKind.QuickFix, "refactor.rewrite.stet", "source.stet"],
    resolve_provider=False,
)
LENSES = lsp.CodeLensOptions(resolve_provider=False)
ALL_FILES = lsp.FileOperationRegistrationOptions(
    [lsp.FileOperationFilter(lsp.FileOperationPattern("**/*"))]
)
EXPERIMENTAL = {"stet": {"didFocus": True, "didChangeSelection": True}}


def build_server(
    *, log_level_given: bool = False, operations: Observability | None = None
) -> StetLanguageServer:
    """Return a server with all handlers bound, ready to serve."""
    server = StetLanguageServer("stet", __version__)
    server.experimental = EXPERIMENTAL
    state = _create_state_getter(
        server, operations or Observability(), log_level_given=log_level_given
    )
    server.documents = _EarlyDocuments(state)
    route = Router(server, state, lambda made: made.startup.readiness.enqueue())

    # `initialize` itself is the framework's. Text synchronisation proper (open, change, close)
    # and what editors tell of the disk go past this table, for speed.
    route.mutates(lsp.INITIALIZED, server_lifecycle.initialized)
    route.mutates(lsp.SHUTDOWN, server_lifecycle.shutdown)
    route.mutates(lsp.TEXT_DOCUMENT_DID_SAVE, server_lifecycle.did_save, lsp.SaveOptions())
    route.mutates(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, server_lifecycle.did_change_configuration)
    route.mutates(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, server_lifecycle.did_change_folders)
    route.mutates(lsp.WORKSPACE_DID_RENAME_FILES, server_lifecycle.did_rename_files, ALL_FILES)
    route.mutates(lsp.WORKSPACE_DID_DELETE_FILES, server_lifecycle.did_delete_files, ALL_FILES)
    route.mutates("$/stet/didFocus", editor_activity.did_focus)
    route.mutates("textDocument/didFocus", editor_activity.did_focus)
    route.mutates("$/stet/didChangeSelection", editor_activity.did_change_selection)

    # Answered from state, within milliseconds.
    route.reads(lsp.TEXT_DOCUMENT_CODE_LENS, code_lens.code_lenses, LENSES)
    route.reads(lsp.TEXT_DOCUMENT_HOVER, editor_activity.hover)
    route.reads(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, editor_activity.document_highlight)

    # From state too, but where a line may hold an instruction, whose comment has to be found.
    route.reads_or_waits(lsp.TEXT_DOCUMENT_CODE_ACTION, code_actions.code_actions, CODE_ACTIONS)

    # Searched for in a worker; only questions, as names are the language's own server's matter.
    route.reads_async(lsp.WORKSPACE_SYMBOL, search_commands.workspace_symbols)

    _commands(route)
    return server


def _commands(route: "Router[ServerState]") -> None:
    """Commands answer at once, but for those that need the disk for it; work goes on in tasks.

    Until the server is ready they wait, but for those that need nothing of what earlier runs kept.
    """
    route.command_async("stet.ask", turn_commands.ask, at_once=True)
    route.command("stet.turn", turn_commands.turn)
    route.command("stet.cancel", turn_commands.cancel)
    route.command("stet.steer", turn_commands.steer)
    route.command("stet.answer", turn_commands.answer)
    route.command_async("stet.openChat", chat_commands.open_chat)
    route.command_async("stet.newChat", chat_commands.new_chat)
    route.command_async("stet.send", chat_commands.send)
    run_comment = partial(comment_command.run_comment, name="stet.runComment")
    route.command_async("stet.runComment", run_comment)
    route.command_async("stet.carryOut", comment_command.run_comment)
    route.command_async("stet.showContext", turn_commands.show_context, at_once=True)
    route.command_async(
        "stet.requestLog", partial(request_log_command.show_request_log, name="stet.requestLog")
    )
    route.command_async("stet.ledger", request_log_command.show_request_log)
    route.command_async("stet.search", search_commands.search, stops=True)
    route.command("stet.reindex", search_commands.reindex)
    route.command("stet.context", with_persistence_note(context_command.context))
    route.command("stet.status", turn_commands.status, at_once=True)
    route.command_async("stet.proposals", with_import(review_commands.proposals))
    accept = with_persistence_note(review_commands.accept, writes_later=True)
    route.command_async("stet.accept", with_import(accept))
    route.command_async("stet.reject", with_import(with_persistence_note(review_commands.reject)))
    route.command_async("stet.preview", with_import(review_commands.preview))
    route.command("stet.undo", with_persistence_note(undo_commands.undo, writes_later=True))
    route.command("stet.restore", with_persistence_note(undo_commands.restore))
    route.command("stet.resolve", with_persistence_note(undo_commands.resolve, writes_later=True))
    route.command("stet.next", navigate.next_hunk)
    route.command("stet.previous", navigate.previous_hunk)
    route.command_async("stet.review", with_import(diff_document_command.open_diff_document))
    route.command("stet.focus", editor_activity.focus, at_once=True)
    route.command("stet.deadLinks", dead_link_command.dead_links)


def _create_state_getter(
    server: StetLanguageServer, operations: Observability, *, log_level_given: bool
) -> "Callable[[], ServerState]":
    """Return a getter of the server's state, which is created when the first message needs it."""

    @cache
    def state() -> "ServerState":
        from stet.lsp.state import ServerState
        from stet.system.os_system import OsSystem

        made = ServerState(server, OsSystem(), log_level_given, operations)
        server_lifecycle.begin(made, server.initialize_params)
        server.documents = made.documents
        server.closing = made.close
        return made

    return state


class _EarlyDocuments:
    """Takes the first text that comes, if that is before anything else has made the state."""

    def __init__(self, state: "Callable[[], ServerState]") -> None:
        self._state = state

    def open(self, params: lsp.DidOpenTextDocumentParams, lines: list[str] | None = None) -> None:
        self._state().documents.open(params, lines)

    def change(self, params: dict[str, Any]) -> None:
        self._state().documents.change(params)

    def changed_on_disk(self, params: object) -> None:
        self._state().documents.changed_on_disk(params)

    def close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        self._state().documents.close(params)


def serve(reports: CrashReporter, *, log_level_given: bool = False) -> int:
    """Serve one editor on the standard streams until it leaves; gives the exit code.

    Args:
        reports: Of what fails, already listening to the log.
        log_level_given: Whether the command line set the log's level, which then stays.
    """
    server = build_server(log_level_given=log_level_given, operations=Observability(reports))
    return serving.serve(server)
