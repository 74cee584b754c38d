"""What the process of the index lets go of once it has read many files."""

import ctypes
from contextlib import suppress

from stet.index.search.chunk_fields import forget_words


def trim_memory() -> None:
    """Forget what is known of words, and give memory that is free back to the system.

    The C library of most Linux systems keeps what was freed between other things until it is asked
    (`malloc_trim` of glibc): a tenth of the process. Elsewhere nothing is asked.
    """
    forget_words()
    with suppress(OSError, AttributeError, TypeError):  # another library, or none to be named so
        ctypes.CDLL(None).malloc_trim(0)
