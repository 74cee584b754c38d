"""Rules of the doors for other agents that can be removed."""

import importlib

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
