"""The routing table: every method and command that Stet answers. Start reading here.

Three verbs say what a handler may do; see `stet.lsp.routing`.
"""

from lsprotocol import types as lsp

from stet import __version__
from stet.lsp.handlers import activity, code_actions, lifecycle, review, turns
from stet.lsp.routing import Router
from stet.lsp.state import ServerState
from stet.lsp.wire import StetLanguageServer
from stet.system.os_system import OsSystem

EXPERIMENTAL = {"stet": {"didFocus": True, "didChangeSelection": True}}


def build_server(*, log_level_given: bool = False) -> StetLanguageServer:
    """A server with everything bound, ready to serve."""
    server = StetLanguageServer("stet", __version__)
    server.experimental = EXPERIMENTAL
    state = ServerState(server, OsSystem(), log_level_given)
    server.documents = state.documents
    server.closing = state.startup.close
    route = Router(server, state)

    # Text synchronisation proper (open, change, close) goes past this table, for speed.
    route.mutates(lsp.INITIALIZE, lifecycle.initialize)
    route.mutates(lsp.INITIALIZED, lifecycle.initialized)
    route.mutates(lsp.SHUTDOWN, lifecycle.shutdown)
    route.mutates(lsp.TEXT_DOCUMENT_DID_SAVE, lifecycle.did_save, lsp.SaveOptions())
    route.mutates(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, lifecycle.did_change_configuration)
    route.mutates(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, lifecycle.did_change_folders)
    route.mutates("$/stet/didFocus", activity.did_focus)
    route.mutates("textDocument/didFocus", activity.did_focus)
    route.mutates("$/stet/didChangeSelection", activity.did_change_selection)

    # Answered from state, within milliseconds.
    route.reads(lsp.TEXT_DOCUMENT_CODE_ACTION, code_actions.code_actions, code_actions.OPTIONS)
    route.reads(lsp.TEXT_DOCUMENT_HOVER, activity.hover)
    route.reads(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, activity.document_highlight)

    # Commands answer at once; work goes on in tasks.
    route.command("stet.ask", turns.ask)
    route.command("stet.turn", turns.turn)
    route.command("stet.cancel", turns.cancel)
    route.command("stet.answer", turns.answer)
    route.command("stet.showContext", turns.show_context)
    route.command("stet.status", turns.status)
    route.command("stet.proposals", review.proposals)
    route.command("stet.accept", review.accept)
    route.command("stet.reject", review.reject)
    route.command("stet.next", review.next_hunk)
    route.command("stet.previous", review.previous_hunk)
    route.command("stet.review", review.review)
    route.command("stet.focus", activity.focus)
    return server


def serve(*, log_level_given: bool = False) -> int:
    """Serve one editor on the standard streams until it leaves; gives the exit code.

    Args:
        log_level_given: Whether the command line set the log's level, which then stays.
    """
    return build_server(log_level_given=log_level_given).serve()
