"""`stet`: the console script.

An editor starts `stet serve` and waits for it, and an agent runs `stet hook` for each of its tools,
so these commands are recognized before anything else is imported; all other commands are handled by `stet.cli.app`. This module and the two packages
above it must stay valid for older versions of Python, so that these get a sentence and no
traceback.
"""

import sys

OLDEST = (3, 11)
"""The oldest supported version of Python."""


def unsupported_python(version: "tuple[int, ...]") -> str:
    """Return a message if Stet can't run on this version of Python, else ""."""
    if version >= OLDEST:
        return ""
    return f"stet: Stet needs Python 3.11 or newer; this is Python {version[0]}.{version[1]}"


def main() -> None:
    """Run the command named on the command line and exit with its code."""
    message = unsupported_python(tuple(sys.version_info[:2]))
    if message:
        sys.exit(message)
    arguments = sys.argv[1:]
    if arguments[:1] == ["serve"] and not {"-h", "--help"} & set(arguments):
        from stet.cli.serve_command import run  # late: the shell's commands do not need the server

        sys.exit(run(arguments[1:]))
    if arguments[:1] == ["hook"]:
        from stet.cli.hook_command import run as run_hook  # late: an agent runs it for each tool

        sys.exit(run_hook(arguments[1:]))
    try:
        from stet.cli.app import app  # late: typer and rich cost a third of the server's start

        app(prog_name="stet")
    except KeyboardInterrupt:  # no command has begun: there is nothing to report
        sys.exit(130)


if __name__ == "__main__":
    main()
