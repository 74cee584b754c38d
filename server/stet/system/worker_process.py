"""A separate process that answers requests in order, and can be killed during a request.

    worker = WorkerProcess("stet.outline.grammar_definitions:answer_outline")
    definitions = worker.submit((text, ".c")).result(timeout=1.0)

Requests and answers are pickled values on the standard streams of the process. The process has the
rights of its parent, so its answers are trusted. It is started without `asyncio`, `dataclasses` and
`logging`, which would double its start time.
"""

import importlib
import os
import pickle
import queue
import subprocess
import sys
import threading
from contextlib import nullcontext, suppress
from typing import IO, TYPE_CHECKING, Any

from stet.system.resource_limits import limit_resources

if TYPE_CHECKING:
    from concurrent.futures import Future

CPU_SECONDS = 3_600


class WorkerEnded(Exception):
    """The process has ended without an answer, or can't be started; the message says which."""


class WorkerProcess:
    """One run of the process, and the thread that exchanges messages with it."""

    def __init__(self, function: str, *, memory: int) -> None:
        """Start the process; if it can't be started, no request is answered.

        Args:
            function: The function, as `module:name`, that is called with each request.
            memory: The limit of the process's address space in bytes, if the system has such
                limits.
        """
        from stet.system.helper_process import module_command  # late: it imports asyncio

        self._process: subprocess.Popen[bytes] | None = None
        self._reason = "it exited on its own"
        self._requests: queue.SimpleQueue[tuple[object, Future[Any]] | None] = queue.SimpleQueue()
        command = [*module_command(__name__), function, str(memory)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except OSError as error:
            self._reason = str(error)
        threading.Thread(target=self._exchange_all, daemon=True).start()

    @property
    def has_ended(self) -> bool:
        """Whether the process is not running, for any reason."""
        return self._process is None or self._process.poll() is not None

    def submit(self, request: object) -> "Future[Any]":
        """Queue a request and return a future of its answer, or of the error `WorkerEnded`.

        The request None is answered with None when the process has started. After `kill` nothing is
        answered.
        """
        from concurrent.futures import Future  # late: the worker itself does not need it

        answer: Future[Any] = Future()
        self._requests.put((request, answer))
        return answer

    def kill(self) -> None:
        """Kill the process; waiting requests are not answered."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._requests.put(None)

    def _exchange_all(self) -> None:
        """Exchange requests for answers until the worker is killed."""
        with suppress(OSError), self._process or nullcontext():
            while (task := self._requests.get()) is not None:
                request, answer = task
                try:
                    answer.set_result(self._exchange(request))
                except (OSError, EOFError, pickle.UnpicklingError):
                    answer.set_exception(WorkerEnded(self._reason))

    def _exchange(self, request: object) -> object:
        if self._process is None:
            raise EOFError
        assert self._process.stdin is not None, "both streams are piped"
        assert self._process.stdout is not None, "both streams are piped"
        _write(self._process.stdin, request)
        return pickle.load(self._process.stdout)  # noqa: S301 (see the module)


def _write(stream: IO[bytes], value: object) -> None:
    pickle.dump(value, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


def main() -> None:
    """Answer requests until the end of input; the arguments are the function and memory limit."""
    target, memory = sys.argv[1:]
    module, _, function = target.partition(":")
    answer = getattr(importlib.import_module(module), function)
    limit_resources(memory=int(memory), cpu_seconds=CPU_SECONDS)
    requests, answers = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries must not mix with answers
    with suppress(EOFError, BrokenPipeError):
        while True:
            request = pickle.load(requests)  # noqa: S301 (see the module)
            _write(answers, None if request is None else answer(request))


if __name__ == "__main__":
    main()
