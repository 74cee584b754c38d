"""Where the wire delivers the text of open documents: a port."""

from typing import Any, Protocol

from lsprotocol import types as lsp


class TextSyncPort(Protocol):
    """Where the text of open documents goes. Errors other than `LspError` are taken for bugs."""

    def open(self, params: lsp.DidOpenTextDocumentParams, lines: list[str] | None = None) -> None:
        """A document was opened; `lines` are those of its text, where it has been split already."""
        ...

    def change(self, params: dict[str, Any]) -> None:
        """Text was typed; `params` as the editor sent them, unchecked: the user feels what it costs."""
        ...

    def changed_on_disk(self, params: object) -> None:
        """Files changed, tens of thousands maybe; `params` as the editor sent them, unchecked."""
        ...

    def close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        """A document was closed."""
        ...
