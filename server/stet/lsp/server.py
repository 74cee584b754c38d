"""The routing table: every method and command that Stet answers. Start reading here.

Five verbs say what a handler may do; see `stet.lsp.routing`.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from stet import __version__
from stet.lsp.connection import serving
from stet.lsp.connection.wire import StetLanguageServer
from stet.lsp.crashes.handler import CrashReports
from stet.lsp.handlers.deciding import telling_what_is_kept
from stet.lsp.handlers.named_notes import importing_named
from stet.lsp.late import late_modules
from stet.lsp.operations import Operations
from stet.lsp.routing import Router

if TYPE_CHECKING:
    from stet.lsp.handlers import (
        activity,
        chat,
        code_actions,
        dead_links,
        instructions,
        ledger,
        lenses,
        lifecycle,
        navigate,
        presets,
        review,
        review_document,
        searching,
        turns,
        undo,
    )
    from stet.lsp.state import ServerState
else:
    # None of them is needed before `initialize` is answered; see `stet.lsp.late`.
    activity, chat, code_actions, lenses, lifecycle, turns = late_modules(
        "stet.lsp.handlers", "activity", "chat", "code_actions", "lenses", "lifecycle", "turns"
    )
    instructions, navigate, review, review_document, undo = late_modules(
        "stet.lsp.handlers", "instructions", "navigate", "review", "review_document", "undo"
    )
    dead_links, ledger, presets, searching = late_modules(
        "stet.lsp.handlers", "dead_links", "ledger", "presets", "searching"
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
    *, log_level_given: bool = False, operations: Operations | None = None
) -> StetLanguageServer:
    """A server with everything bound, ready to serve."""
    server = StetLanguageServer("stet", __version__)
    server.experimental = EXPERIMENTAL
    state = _state_of(server, operations or Operations(), log_level_given=log_level_given)
    server.documents = _FirstDocuments(state)
    route = Router(server, state, lambda made: made.startup.readiness.line_up())

    # `initialize` itself is the framework's. Text synchronisation proper (open, change, close)
    # and what editors tell of the disk go past this table, for speed.
    route.mutates(lsp.INITIALIZED, lifecycle.initialized)
    route.mutates(lsp.SHUTDOWN, lifecycle.shutdown)
    route.mutates(lsp.TEXT_DOCUMENT_DID_SAVE, lifecycle.did_save, lsp.SaveOptions())
    route.mutates(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, lifecycle.did_change_configuration)
    route.mutates(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, lifecycle.did_change_folders)
    route.mutates(lsp.WORKSPACE_DID_RENAME_FILES, lifecycle.did_rename_files, ALL_FILES)
    route.mutates(lsp.WORKSPACE_DID_DELETE_FILES, lifecycle.did_delete_files, ALL_FILES)
    route.mutates("$/stet/didFocus", activity.did_focus)
    route.mutates("textDocument/didFocus", activity.did_focus)
    route.mutates("$/stet/didChangeSelection", activity.did_change_selection)

    # Answered from state, within milliseconds.
    route.reads(lsp.TEXT_DOCUMENT_CODE_LENS, lenses.code_lenses, LENSES)
    route.reads(lsp.TEXT_DOCUMENT_HOVER, activity.hover)
    route.reads(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, activity.document_highlight)

    # From state too, but where a line may hold an instruction, whose comment has to be found.
    route.reads_or_waits(lsp.TEXT_DOCUMENT_CODE_ACTION, code_actions.code_actions, CODE_ACTIONS)

    # Searched for in a worker; only questions, as names are the language's own server's matter.
    route.reads_later(lsp.WORKSPACE_SYMBOL, searching.workspace_symbols)

    _commands(route)
    return server


def _commands(route: "Router[ServerState]") -> None:
    """Commands answer at once, but for those that need the disk for it; work goes on in tasks.

    Until the server is ready they wait, but for those that need nothing of what earlier runs kept.
    """
    route.answers_later("stet.ask", turns.ask, at_once=True)
    route.command("stet.turn", turns.turn)
    route.command("stet.cancel", turns.cancel)
    route.command("stet.steer", turns.steer)
    route.command("stet.answer", turns.answer)
    route.answers_later("stet.openChat", chat.open_chat)
    route.answers_later("stet.newChat", chat.new_chat)
    route.answers_later("stet.send", chat.send)
    run_comment = partial(instructions.carry_out, name="stet.runComment")
    route.answers_later("stet.runComment", run_comment)
    route.answers_later("stet.carryOut", instructions.carry_out)
    route.answers_later("stet.showContext", turns.show_context, at_once=True)
    route.answers_later("stet.requestLog", partial(ledger.ledger, name="stet.requestLog"))
    route.answers_later("stet.ledger", ledger.ledger)
    route.answers_later("stet.search", searching.search, stops=True)
    route.command("stet.reindex", searching.reindex)
    route.command("stet.context", telling_what_is_kept(presets.context))
    route.command("stet.status", turns.status, at_once=True)
    route.answers_later("stet.proposals", importing_named(review.proposals))
    accept = telling_what_is_kept(review.accept, writes_later=True)
    route.answers_later("stet.accept", importing_named(accept))
    route.answers_later("stet.reject", importing_named(telling_what_is_kept(review.reject)))
    route.answers_later("stet.preview", importing_named(review.preview))
    route.command("stet.undo", telling_what_is_kept(undo.undo, writes_later=True))
    route.command("stet.restore", telling_what_is_kept(undo.restore))
    route.command("stet.resolve", telling_what_is_kept(undo.resolve, writes_later=True))
    route.command("stet.next", navigate.next_hunk)
    route.command("stet.previous", navigate.previous_hunk)
    route.answers_later("stet.review", importing_named(review_document.review))
    route.command("stet.focus", activity.focus, at_once=True)
    route.command("stet.deadLinks", dead_links.dead_links)


def _state_of(
    server: StetLanguageServer, operations: Operations, *, log_level_given: bool
) -> "Callable[[], ServerState]":
    """What gives the server's state, made when the first message needs it."""

    @cache
    def state() -> "ServerState":
        from stet.lsp.state import ServerState
        from stet.system.os_system import OsSystem

        made = ServerState(server, OsSystem(), log_level_given, operations)
        lifecycle.begin(made, server.initialize_params)
        server.documents = made.documents
        server.closing = made.close
        return made

    return state


class _FirstDocuments:
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


def serve(reports: CrashReports, *, log_level_given: bool = False) -> int:
    """Serve one editor on the standard streams until it leaves; gives the exit code.

    Args:
        reports: Of what fails, already listening to the log.
        log_level_given: Whether the command line set the log's level, which then stays.
    """
    server = build_server(log_level_given=log_level_given, operations=Operations(reports))
    return serving.serve(server)
