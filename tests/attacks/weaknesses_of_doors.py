"""Rules of the doors for other agents that can be removed."""

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
