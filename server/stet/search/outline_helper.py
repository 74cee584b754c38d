"""The process that runs grammars: it reads texts, and writes the definitions in each.

It reads lists of `(text, ending)`. It writes one value when it is ready, and then one for every
text: its definitions, or `NO_OUTLINE`. The parent ends the process if a text takes too long.
"""

import os
import signal
from contextlib import suppress

from stet.outline.definition import with_plain_ends
from stet.outline.grammar_definitions import definitions_by_grammar
from stet.search.piped_process import read_value, write_value
from stet.system.resource_limits import limit_resources

READY = "ready"
NO_OUTLINE = "none"
MEMORY = 1_000_000_000
"""Bytes of address space."""
CPU_SECONDS = 3_600
TEXT_SECONDS = 2.0
"""Limit of processor time for a text, in case the parent process is gone."""


def main() -> None:
    """Answer until nothing comes any more."""
    limit_resources(memory=MEMORY, cpu_seconds=CPU_SECONDS)
    stdin, stdout = os.fdopen(0, "rb"), os.fdopen(1, "wb")
    with suppress(EOFError, BrokenPipeError):
        write_value(stdout, READY)
        while True:
            for text, ending in read_value(stdin):
                with suppress(AttributeError):  # there is no such timer on Windows
                    signal.setitimer(signal.ITIMER_PROF, TEXT_SECONDS)
                found = definitions_by_grammar(with_plain_ends(text), ending)
                write_value(stdout, NO_OUTLINE if found is None else found)


if __name__ == "__main__":
    main()
