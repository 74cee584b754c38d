"""A Python that has imported Stet's modules and forks, so that a test's server starts at once.

Run as `python -I tests/support/fork_server.py N KIND`, N the descriptor of a socket, KIND `server`
or `shell`: the modules of which command are imported. An order is a line of JSON, `{"argv": ["-m",
"module", ...] or ["script", ...], "env": {...}, "cwd": null or "folder"}`, with four descriptors:
standard input, output and error of the new process, and a pipe that reports its id and then its
exit code as `subprocess` gives it. The process is like `python -I` with these arguments, except
that Stet's modules are already imported, and that it ends without freeing each object if its
exit code is a number. Each test process has one fork server of each kind.
"""

import atexit
import gc
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
import time
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from struct import Struct
from types import FrameType
from typing import Any, TextIO

import attrs
from cattrs.errors import StructureHandlerNotFoundError
from lsprotocol import types as lsp

NUMBER = Struct("!i")
"""The format of an id and of an exit code."""
N_DESCRIPTORS = 4
HANDLERS = ("stet.lsp.requests", "stet.lsp.commands")
LATE = (
    "anyio._backends._asyncio",
    "encodings.ascii",
    "encodings.idna",
    "encodings.utf_16_le",
    "encodings.utf_8_sig",
    "httpcore2",
    "importlib.readers",
    "importlib.resources.readers",
    "openai",
    "openai.resources.chat.completions",
    "platformdirs.unix",
    "pygls.progress",
    "sqlite3",
    "stet.agent.mcp_offer",
    "stet.agent.model_source",
    "stet.agent.turn_pipeline",
    "stet.bridges.acp.acp_sessions",
    "stet.bridges.acp.profiles",
    "stet.bridges.hooks.hook_sessions",
    "stet.bridges.hooks.shell_patch",
    "stet.cli.hook_command",
    "stet.cli.serve_command",
    "stet.control.control_server",
    "stet.llm.transport",
    "stet.lsp.control_methods",
    "stet.lsp.server",
    "stet.lsp.state",
    "stet.settings.layers",
    "stet.storage.database",
    "stet.storage.schema",
    "stet.storage.tables",
    "stet.system.system",
    "stet.web.http_connection",
    "stet.web.search_client",
    "truststore",
)
"""Modules that a server imports inside functions, with the first message or the first turn."""


SHELL = (
    "concurrent.futures.thread",
    "csv",
    "encodings.ascii",
    "encodings.idna",
    "httpx2",
    "importlib.readers",
    "importlib.resources.readers",
    "platformdirs.unix",
    "rich.live",
    "rich.markdown",
    "rich.table",
    "stet.cli.agents_command",
    "stet.cli.ask_command",
    "stet.cli.editor_check",
    "stet.cli.terminal",
    "stet.settings.layers",
    "stet.system.helper_process",
    "tomllib",
    "typer._adapters",
    "typer._click.decorators",
)
"""Modules that commands of the shell import inside functions."""


def import_shell() -> None:
    """Import the modules that most commands of the shell import; this starts nothing."""
    for name in ("stet.cli.app", *SHELL):
        import_module(name)


def import_server() -> None:
    """Import the modules that a server imports until it has answered; this starts nothing."""
    for package in HANDLERS:
        for module in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
            import_module(module.name)
    for name in LATE:
        import_module(name)
    generate_converters()


def generate_converters() -> None:
    """Generate the code that converts each type of the protocol; a server generates what it uses."""
    converter = import_module("stet.lsp.connection.protocol").build_converter()
    kinds = [kind for kind in vars(lsp).values() if isinstance(kind, type) and attrs.has(kind)]
    for kind in kinds:
        with suppress(StructureHandlerNotFoundError):  # two types that no message to Stet has
            converter.get_structure_hook(kind)
    for kind in kinds * 2:  # the first hook for a list empties the cache of all other hooks
        converter.get_unstructure_hook(kind)


class ForkServer:
    """The parent process: forks, reaps, and reports exit codes."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._reports: dict[int, int] = {}

    def serve(self) -> list[str]:
        """Carry out orders until the socket closes; in a child, return the arguments to run."""
        signal.signal(signal.SIGCHLD, self._bury)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the socket's other end decides when to exit
        while True:
            line, descriptors = self._order()
            if not line:
                return []
            order = json.loads(line)
            # The parent must know a child's report before the child's exit is signalled.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
            if child := os.fork():
                self._reports[child] = descriptors.pop()
                os.write(self._reports[child], NUMBER.pack(child))
            else:
                self._become(order, descriptors)
                return list(order["argv"])
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            for descriptor in descriptors:
                os.close(descriptor)

    def _order(self) -> tuple[bytes, list[int]]:
        line, descriptors, _, _ = socket.recv_fds(self._orders, 65536, N_DESCRIPTORS)
        while line and not line.endswith(b"\n"):
            line += self._orders.recv(65536)
        return line, descriptors

    def _bury(self, _: int, __: FrameType | None) -> None:
        """Reap the exited children: one signal may stand for several."""
        for child in tuple(self._reports):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                report = self._reports.pop(child)
                with suppress(BrokenPipeError):  # nobody waits for the report
                    os.write(report, NUMBER.pack(os.waitstatus_to_exitcode(status)))
                os.close(report)

    def _become(self, order: dict[str, Any], descriptors: list[int]) -> None:
        """Keep only the imported modules of the parent."""
        self._orders.detach()
        for standard, descriptor in enumerate(descriptors[:3]):
            os.dup2(descriptor, standard)
        for name in ("stdin", "stdout", "stderr"):
            setattr(sys, name, opened_again(getattr(sys, name)))
            setattr(sys, f"__{name}__", getattr(sys, name))
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        os.environ.clear()
        os.environ.update(order["env"])
        if order["cwd"] is not None:
            os.chdir(order["cwd"])  # noqa: TID251  a process of its own, before it has begun
        time.tzset()


def opened_again(stream: TextIO) -> TextIO:
    """Return a stream like `stream`, which recorded whether the file of the parent can be sought."""
    new = open(  # noqa: SIM115  it stays open
        stream.fileno(),
        stream.mode,
        encoding=stream.encoding,
        errors=stream.errors,
        newline="\n",
        closefd=False,
    )
    assert isinstance(new, TextIOWrapper)
    new.reconfigure(line_buffering=bool(stream.line_buffering))
    return new


def run(arguments: list[str]) -> int:
    """Run the module (`-m name`) or the script, like the interpreter; return its exit code.

    Raises:
        BaseException: Whatever the interpreter has to report before it exits.
    """
    try:
        if arguments[0] == "-m":
            sys.argv = arguments[1:]
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = arguments
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, int):
            return end.code
        raise
    return 0


class Exit:
    """The last step of the exit of a child.

    To free each object takes as long as the start: the child first copies all memory that it shares
    with its parent.

    Attributes:
        code: The exit code; None in the parent, and in a child that the interpreter ends.
    """

    def __init__(self) -> None:
        self.code: int | None = None
        # What is registered first runs last: threads have ended, and the handlers of others have run.
        atexit.register(self.leave)

    def leave(self) -> None:
        """End the process if its code is known."""
        if self.code is not None:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(self.code)


def main() -> None:
    """Serve in the parent until the end; in each child, run the order."""
    end = Exit()
    (import_server if sys.argv[2] == "server" else import_shell)()
    gc.collect()
    gc.freeze()
    arguments = ForkServer(socket.socket(fileno=int(sys.argv[1]))).serve()
    if arguments:
        end.code = run(arguments)


if __name__ == "__main__":
    main()
