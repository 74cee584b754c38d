"""One sentence to stdout or stderr, before and without rich."""

from typing import TextIO

from stet.text.escape import escape_line


def write_line(stream: TextIO, text: str) -> None:
    """Write text of any origin on one line, whatever characters the stream can show."""
    encoding = stream.encoding or "ascii"
    line = escape_line(text).encode(encoding, "backslashreplace").decode(encoding)
    stream.write(f"{line}\n")
    stream.flush()
