"""`stet serve`, watched: a log gets every program, connection, host look-up and written file.

Run as a script with the server's own arguments. The environment has the path of the log
(`STET_WATCHED`), the addresses of hosts (`STET_NAMES`, JSON: for each host the successive answers),
and the rule to weaken (`STET_WEAKENED`), so that a suite can show that it notices. No packet leaves
the machine: connections beyond loopback are refused here.
"""

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.attacks.weaknesses import weaken

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {
    "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.mkdir", "os.chmod",
    "os.chown", "os.truncate",
}  # fmt: skip
_STARTS = {"os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.startfile", "pty.spawn"}
_resolve = socket.getaddrinfo


class Watch:
    """A writer of the log."""

    def __init__(self, log: str, names: dict[str, list[list[str]]]) -> None:
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._names = names

    def note(self, kind: str, *reported: object) -> None:
        """Write one line to the log."""
        line = json.dumps([kind, *(str(each) for each in reported)])
        os.write(self._log, line.encode("utf-8", "surrogatepass") + b"\n")

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        """Log an event of the interpreter's audit hook."""
        if event == "subprocess.Popen":
            self.note("process", *args[1])
        elif event in _STARTS:
            self.note("process", event, *args)
        elif event in _CHANGES:
            self.note("write", *args[:2])
        elif event == "open" and isinstance(args[2], int) and args[2] & _WRITES:
            self.note("write", args[0])
        elif event in ("socket.connect", "socket.sendto") and args[0].family != socket.AF_UNIX:
            self._connects(args[1])
        elif event == "socket.bind" and args[0].family != socket.AF_UNIX:
            self.note("listens", args[1])
        elif event == "pickle.find_class":
            self.note("unpickles", *args)

    def _connects(self, address: Any) -> None:
        host, port = str(address[0]), address[1]
        self.note("connects", host, port)
        if host not in ("127.0.0.1", "::1"):
            raise OSError(101, "Network is unreachable")

    def resolve(self, host: Any, *args: Any, **more: Any) -> Any:
        """Resolve a host in place of `socket.getaddrinfo`, without any name server."""
        name = host.decode() if isinstance(host, bytes) else str(host)
        answers = self._names.get(name)
        if (
            answers is None
            and name.replace(".", "").replace(":", "").isalnum()
            and (name.replace(".", "").isdecimal() or ":" in name)
        ):
            return _resolve(host, *args, **more)
        self.note("looks up", name)
        if not answers:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        now = answers.pop(0) if len(answers) > 1 else answers[0]
        return [each for ip in now for each in _resolve(ip, *args, **more)]


def main() -> None:
    """Watch, weaken a rule if one is given, and serve."""
    watch = Watch(os.environ["STET_WATCHED"], json.loads(os.environ.get("STET_NAMES", "{}")))
    socket.getaddrinfo = watch.resolve
    if name := os.environ.get("STET_WEAKENED"):
        weaken(name)
    os.umask(int(os.environ.get("STET_UMASK", "022"), 8))
    sys.addaudithook(watch.audit)
    from stet.cli.main import main as serve

    serve()


if __name__ == "__main__":
    main()
