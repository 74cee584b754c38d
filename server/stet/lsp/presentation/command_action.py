"""A code action as Stet makes them all: a bare command under a title that nothing else has."""

from collections.abc import Mapping

from lsprotocol import types as lsp

from stet.text.escape import escape_line

QUICK_FIX = lsp.CodeActionKind.QuickFix.value
SOURCE = "source.stet"
REWRITE = "refactor.rewrite.stet"
MAX_TITLE = 80


def command_action(
    title: str, command: str, arguments: Mapping[str, object], kind: str
) -> lsp.CodeAction:
    """Return an action that runs a command; the title is shortened and safe to show."""
    text = escape_line(f"Stet: {title}")
    text = text if len(text) <= MAX_TITLE else text[: MAX_TITLE - 1] + "…"
    return lsp.CodeAction(
        title=text,
        kind=kind,
        command=lsp.Command(title=text, command=command, arguments=[arguments]),
    )
