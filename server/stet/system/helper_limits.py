"""What a process that reads strangers' texts does first: it limits itself, where the system can do that.

Apart from `stet.system.helper_process` because it is all that the process has to import.
"""

import contextlib


def limit_resources(*, memory: int, cpu_seconds: int) -> None:
    """From here on at most so much address space (bytes) and processor time; no file is written."""
    try:
        import resource  # there is none on Windows
    except ImportError:
        return
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # macOS does not limit address space
            resource.setrlimit(what, (most, most))
