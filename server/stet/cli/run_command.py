"""`stet run PROGRAM`: run a program in an overlay of the workspace; its changes become hunks.

The program has the terminal, the environment and the working folder of this command. The server of
the editor that has the folder open makes the layers and proposes what is written into them.
"""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from stet.cli.files import current_folder
from stet.cli.serve_command import write_line
from stet.cli.terminal import CliError
from stet.control.control_client import (
    ControlClient,
    RequestRefused,
    ServerLost,
    choose_server,
    find_servers,
)
from stet.system.overlay import IsolationUnavailable, Overlay, start_isolated
from stet.system.runtime_folder import runtime_path

REFUSED = 125
"""The exit code if the program was not started by Stet's fault, as that of `env` and `timeout`."""
_SIGNALLED = 128
_FORWARDED = (signal.SIGTERM, signal.SIGHUP)
_OF_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
"""Signals that the terminal sends to the program too."""


def run(folder: Path, command: Sequence[str]) -> int:
    """Run a program; return its exit code, or 128 and the number of the signal that ended it.

    Raises:
        CliError: If the program can't be isolated.
    """
    if sys.platform != "linux":
        raise CliError("`stet run` needs overlay mounts, which only Linux has", code=REFUSED)
    servers = find_servers(runtime_path(os.environ), str(folder))
    if not servers:
        raise CliError(
            f"no editor with Stet has {folder} open: open it, or start the program without "
            "`stet run`",
            code=REFUSED,
        )
    try:
        with ControlClient(choose_server(servers, "")) as client:
            return _run(client, command)
    except (ServerLost, RequestRefused) as error:
        raise CliError(str(error), code=REFUSED) from error


def _run(client: ControlClient, command: Sequence[str]) -> int:
    """Run a program in the layers that a server has made; return its exit code.

    Raises:
        CliError: If the program can't be isolated.
        ServerLost: If the server ends before the program has begun.
        RequestRefused: If the server makes no layers.
    """
    name = Path(command[0]).name
    made = client.request("control.isolate", {"program": name, "process": os.getpid()})
    overlays = [Overlay(*map(Path, layers)) for layers in made["overlays"]]
    unavailable = ""
    code = REFUSED
    early: list[int] = []
    for number in _FORWARDED:  # before the program runs: such a signal must reach it
        signal.signal(number, lambda received, _frame: early.append(received))
    try:
        process = start_isolated(
            command, current_folder(), overlays, Path(made["hidden"]), made["session"]
        )
        code = _wait(process, early)
    except IsolationUnavailable as error:
        unavailable = str(error)
    try:
        ended = client.request("control.isolateEnd", {"session": made["session"]})
    except (ServerLost, RequestRefused) as error:
        layers = ", ".join(str(overlay.upper) for overlay in overlays)
        write_line(
            sys.stderr, f"stet: {error}. What {name} has changed since then stays in {layers}"
        )
    else:
        _report(ended)
    if unavailable:
        raise CliError(
            f"this system isolates no programs: {unavailable}. `stet agents` lists what is "
            "reviewed without isolation",
            code=REFUSED,
        )
    return code


def _wait(process: int, early: Sequence[int]) -> int:
    """Return the exit code of a process; it gets the signals that this process gets.

    Args:
        process: The process.
        early: The signals that this process has received since the start; more may come.
    """

    def forward(number: int, _frame: FrameType | None) -> None:
        os.kill(process, number)

    for number in _FORWARDED:
        signal.signal(number, forward)
    for number in _OF_TERMINAL:
        signal.signal(number, signal.SIG_IGN)
    for received in early:
        os.kill(process, received)
    _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else _SIGNALLED - code


def _report(ended: dict[str, Any]) -> None:
    """Print what was proposed and what not."""
    for warning in ended["warnings"]:
        write_line(sys.stderr, f"stet: {warning}")
    if n_hunks := ended["hunks"]:
        hunks = "hunk waits" if n_hunks == 1 else "hunks wait"
        write_line(
            sys.stderr, f"stet: {n_hunks} {hunks} for review: see the editor, or `stet review`"
        )
