"""Whether a process exists."""

import os
import sys


def is_alive(process_id: int) -> bool:
    """Return whether a process with this id exists; True if this is unknown.

    On Windows signal 0 would end the process; the end of standard input has to suffice.
    """
    if sys.platform == "win32":
        return True
    try:
        os.kill(process_id, 0)
    except PermissionError:
        return True
    except (OverflowError, ProcessLookupError):
        return False
    return True
