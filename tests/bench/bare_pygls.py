"""The peer: pygls as it comes, with one request that gives the checksum of a document."""

import zlib

from pygls.lsp.server import LanguageServer

server = LanguageServer("bare", "1")


@server.feature("test/crc")
def crc(ls: LanguageServer, params: object) -> int:
    """The checksum of the document's text."""
    document = ls.workspace.get_text_document(params.uri)  # type: ignore[attr-defined]
    return zlib.crc32(document.source.encode())


if __name__ == "__main__":
    server.start_io()
