"""Rules of the doors for other agents that can be removed."""

import importlib
import os
import stat

from tests.attacks.weakening import Put, weakness


@weakness
def anyone_answered(put: Put) -> None:
    """Answer every user of the system."""
    put("stet.control.control_server", "is_same_user", lambda connection: True)


@weakness
def mixed_patches(put: Put) -> None:
    """Allow the files of a patch that are outside of the workspace with those in it."""
    put("stet.bridges.hooks.patch_redirect", "_is_mixed", lambda passed: False)


@weakness
def titles_believed(put: Put) -> None:
    """Show the user what an agent calls its action, not the action."""
    turn = "stet.bridges.acp.external_turn"
    put(turn, "ExternalTurn._described", lambda self, call: f"It asks for permission: {call.title}")


@weakness
def token_unchecked(put: Put) -> None:
    """Let everybody into the websocket for Claude Code."""
    put("stet.bridges.claude_ide.ide_server", "IdeServer._check", lambda self, *_: None)


@weakness
def pages_let_in(put: Put) -> None:
    """Let web pages into the websocket for Claude Code, if they have the token."""
    ide_server = importlib.import_module("stet.bridges.claude_ide.ide_server")
    serve = ide_server.serve
    put(
        ide_server.__name__,
        "serve",
        lambda *args, **more: serve(*args, **{**more, "origins": None}),
    )


@weakness
def programs_decide(put: Put) -> None:
    """Let a program in an overlay decide about hunks."""
    put("stet.control.control_server", "is_in_other_namespace", lambda connection: False)


@weakness
def secrets_shown(put: Put) -> None:
    """Hide no secret file from a program in an overlay."""
    put("stet.bridges.isolation.isolated_session", "hidden_entries", lambda *_: iter(()))


@weakness
def layer_links_read(put: Put) -> None:
    """Follow the links that a program has left in its layer."""
    changes = importlib.import_module("stet.system.overlay_changes")
    system = importlib.import_module("stet.system.system").System
    before = changes._kind

    def kind(status: os.stat_result) -> object:
        return changes.EntryKind.FILE if stat.S_ISLNK(status.st_mode) else before(status)

    put(changes.__name__, "_kind", kind)
    put("stet.system.system", "System.read_real", system.read_bytes)


@weakness
def hunks_of_all(put: Put) -> None:
    """Show a client of `stet mcp` the hunks of all agents."""
    session = "stet.bridges.mcp.mcp_session"
    put(session, "McpSession._named", lambda self, ids: [self._ledger.hunk(one) for one in ids])
