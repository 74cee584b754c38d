"""The peer: unmodified pygls, with one request that returns the checksum of a document."""

import zlib

from pygls.lsp.server import LanguageServer

server = LanguageServer("bare", "1")


@server.feature("test/crc")
def crc(ls: LanguageServer, params: object) -> int:
    """Return the checksum of the document's text."""
    document = ls.workspace.get_text_document(params.uri)  # type: ignore[attr-defined]
    return zlib.crc32(document.source.encode())


if __name__ == "__main__":
    server.start_io()
