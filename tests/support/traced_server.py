"""Stet's whole server with an additional request, `test/trace`: the modules that were entered.

Run as a script: `python -I tests/support/traced_server.py`. `test/trace` with `{"on": true}` starts
recording; with `{"on": false}` it stops and returns the recorded modules. A module counts if one of
its functions is called on any thread; the body of a module or a class, which runs at import, does
not count.
"""

import inspect
import sys
import threading
from types import FrameType
from typing import Any

import stet
from stet.lsp.server import build_server, serve_session

PACKAGE = f"{stet.__path__[0]}/"


class ModuleTrace:
    """The modules of Stet whose functions were called while the trace was on."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self.is_on = False

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        """Record the file of a function that is called; for `sys.setprofile`."""
        code = frame.f_code
        if self.is_on and event == "call" and code.co_flags & inspect.CO_OPTIMIZED:
            self._files.add(code.co_filename)

    def switch(self, *, is_on: bool) -> list[str]:
        """Start or stop recording. Return the sorted names of the modules entered meanwhile."""
        self.is_on = is_on
        entered, self._files = self._files, set()
        # Copying a set is one step for the interpreter: another thread may be adding to it.
        files = sorted(name for name in entered.copy() if name.startswith(PACKAGE))
        return [name.removeprefix(PACKAGE).removesuffix(".py").replace("/", ".") for name in files]


def main() -> int:
    """Serve on the standard streams, under a profile function on every thread."""
    trace = ModuleTrace()
    server = build_server()

    def answer(params: Any) -> list[str]:
        return trace.switch(is_on=bool(params["on"]))

    server.feature("test/trace")(answer)
    threading.setprofile(trace.profile)
    sys.setprofile(trace.profile)
    return serve_session(server)


if __name__ == "__main__":
    sys.exit(main())
