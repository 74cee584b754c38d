"""A Python that has imported what Stet does and then only forks, so that a test's server is there at once.

Run as `python -I tests/support/fork_server.py N`, N the descriptor of a socket. An order is a line of
JSON, `{"argv": ["-m", "module", ...] or ["script", ...], "env": {...}}`, with four descriptors: standard
input, output and error of the process that is wanted, and a pipe on which its id is told, and then its
exit code as `subprocess` gives it. It is what `python -I` with these arguments would be; only the
modules of a server are there already. There is one for each process that runs tests.
"""

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
from struct import Struct
from types import FrameType
from typing import Any

NUMBER = Struct("!i")
"""How an id and an exit code are told."""
N_DESCRIPTORS = 4
HANDLERS = ("stet.lsp.requests", "stet.lsp.commands")
LATE = (
    "anyio._backends._asyncio",
    "httpcore2",
    "importlib.readers",
    "importlib.resources.readers",
    "openai",
    "openai.resources.chat.completions",
    "platformdirs.unix",
    "pygls.progress",
    "sqlite3",
    "stet.agent.turn_pipeline",
    "stet.agent.model_source",
    "stet.cli.serve_command",
    "stet.llm.transport",
    "stet.lsp.server",
    "stet.lsp.state",
    "stet.storage.tables",
    "stet.storage.database",
    "stet.storage.tables",
    "stet.storage.schema",
    "stet.storage.tables",
    "stet.settings.layers",
    "stet.system.system",
    "truststore",
)
"""What a server imports inside functions: with the first message, or with the first turn."""


def import_all() -> None:
    """Import what a server does until it has answered; nothing is begun by that."""
    for package in HANDLERS:
        for module in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
            import_module(module.name)
    for name in LATE:
        import_module(name)
    # The types of the protocol are put together when the first server is made.
    import_module("stet.lsp.connection.protocol").build_converter()


class ForkServer:
    """The parent: forks, buries, and tells how its children ended."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._reports: dict[int, int] = {}

    def serve(self) -> list[str]:
        """Carry out orders until there are no more; gives the arguments to run with, in a child."""
        signal.signal(signal.SIGCHLD, self._bury)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # who gives the orders decides when it is over
        while True:
            line, descriptors = self._order()
            if not line:
                return []
            order = json.loads(line)
            # A child that ends at once must be known by then.
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
        """See who has ended: several may have at one signal."""
        for child in tuple(self._reports):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                report = self._reports.pop(child)
                with suppress(BrokenPipeError):  # nobody wants to know
                    os.write(report, NUMBER.pack(os.waitstatus_to_exitcode(status)))
                os.close(report)

    def _become(self, order: dict[str, Any], descriptors: list[int]) -> None:
        """Have nothing left of the parent but what is imported."""
        self._orders.detach()
        for standard, descriptor in enumerate(descriptors[:3]):
            os.dup2(descriptor, standard)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        os.environ.clear()
        os.environ.update(order["env"])
        time.tzset()


def run(arguments: list[str]) -> None:
    """Be the module (`-m name`) or the script, as the interpreter would."""
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")


def main() -> None:
    """In the parent this serves until the end; in each child it goes on behind that."""
    import_all()
    gc.collect()
    gc.freeze()
    arguments = ForkServer(socket.socket(fileno=int(sys.argv[1]))).serve()
    if arguments:
        run(arguments)


if __name__ == "__main__":
    main()
