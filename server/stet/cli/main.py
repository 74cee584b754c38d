"""`stet`: the console script.

An editor starts `stet serve` and waits for it, so this command is recognized before anything else
is imported; all other commands are handled by `stet.cli.app`.
"""

import sys


def main() -> None:
    """Run the command named on the command line and exit with its code."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["serve"] and "--help" not in arguments:
        from stet.cli.serve_command import run  # late: the shell's commands do not need the server

        sys.exit(run(arguments[1:]))
    try:
        from stet.cli.app import app  # late: typer and rich cost a third of the server's start

        app(prog_name="stet")
    except KeyboardInterrupt:  # no command has begun: there is nothing to report
        sys.exit(130)


if __name__ == "__main__":
    main()
