"""One sentence to a stream."""

import io

from stet.cli.serve_command import write_line


def test_a_stream_that_cannot_show_a_letter_spells_it_out() -> None:
    stream = io.TextIOWrapper(raw := io.BytesIO(), encoding="ascii")
    write_line(stream, "grün\x1b[1m\n")
    assert raw.getvalue() == b"gr\\xfcn\\x1b[1m \n"
