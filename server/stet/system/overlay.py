"""A program that sees its own version of folders: overlay mounts in a user namespace (Linux).

The program sees each folder at its path. What it writes there by any means goes into another
folder, the upper layer; the folder itself does not change. No root rights are needed: Linux 5.11
and newer mount an overlay for the owner of a user namespace, if the system permits that.

The program loses all capabilities when it starts, so it can't unmount the overlay. A namespace that
it makes itself gets the mounts as locked ones.

The system calls are made with ctypes: Python has no `mount`, and `unshare` since 3.12 only. The
programs of util-linux would do it too, but they take paths, which may be replaced, and `mount`
takes no path with a comma.
"""

import ctypes
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

from stet.system.isolation_mark import PREFIX
from stet.system.no_follow import open_folder

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP = 1, 24
_N_CAPABILITIES = 64
_APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""The exit codes of shells for a program that can't be started."""


class IsolationUnavailable(Exception):
    """This system does not let the user mount an overlay; the message says why."""


class Overlay(NamedTuple):
    """The layers of a folder that a program sees.

    Attributes:
        folder: The real path of the folder, at which the program sees the layers.
        seed: A folder whose files hide those of the folder.
        upper: The folder into which the program writes.
        work: An empty folder beside `upper`, for the kernel.
    """

    folder: Path
    seed: Path
    upper: Path
    work: Path


def start_isolated(
    argv: Sequence[str], cwd: Path, overlays: Sequence[Overlay], hidden: Path, session: str
) -> int:
    """Start a program that sees overlays; return its process id. The caller has one thread.

    The program has the environment and the streams of this process, and ends if this process is
    killed. If it can't be started, it ends with `NOT_FOUND` or `NOT_EXECUTABLE`.

    Args:
        argv: The program, found by the PATH, and its arguments.
        cwd: The working folder of the program.
        overlays: The folders; none is below another one.
        hidden: A folder that is empty for the program: it holds the layers.
        session: The name of the session, for `isolated_session`.

    Raises:
        IsolationUnavailable: If a namespace or an overlay can't be made.
    """
    reader, writer = os.pipe()  # closed when the program begins
    parent = os.getpid()
    process = os.fork()
    if process == 0:
        _become(argv, cwd, overlays, hidden, session, writer=writer, parent=parent)
    os.close(writer)
    with os.fdopen(reader, "rb") as failures:
        failure = failures.read().decode(errors="replace")
    if failure:
        os.waitpid(process, 0)
        raise IsolationUnavailable(failure)
    return process


def _become(  # noqa: PLR0913 - the arguments of a process
    argv: Sequence[str],
    cwd: Path,
    overlays: Sequence[Overlay],
    hidden: Path,
    session: str,
    *,
    writer: int,
    parent: int,
) -> NoReturn:
    """Become the program, or write why not to `writer` and end."""
    code = 1
    try:
        enter_overlays(overlays, hidden, session)
        code = become(argv, cwd, parent=parent)
    except OSError as error:
        os.write(writer, isolation_reason(error).encode(errors="replace"))
    finally:
        os._exit(code)


def become(argv: Sequence[str], cwd: Path, *, parent: int) -> int:
    """Become a program that ends if its parent is killed; return the exit code if that fails.

    Args:
        argv: The program, found by the PATH, and its arguments.
        cwd: The working folder; one of before is below the overlay.
        parent: The process id of the parent.

    Raises:
        OSError: If the process can't go to the folder.
    """
    os.chdir(cwd)  # noqa: TID251 (of the program)
    _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        return 1  # the signal would not come any more
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(argv[0], list(argv))  # noqa: S606 (the user has named it)
    except OSError as error:
        os.write(2, f"stet: {argv[0]}: {error.strerror}\n".encode(errors="replace"))
        is_missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        return NOT_FOUND if is_missing else NOT_EXECUTABLE


def join_namespaces(process: int) -> None:
    """Move this process, which has one thread, into the namespaces of an isolated process.

    Raises:
        OSError: If the process has ended, or the system does not permit it.
    """
    kinds = {"user": _CLONE_NEWUSER, "mnt": _CLONE_NEWNS}
    opened = [
        (os.open(f"/proc/{process}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC), kind)
        for name, kind in kinds.items()
    ]
    for descriptor, kind in opened:
        _call("setns", descriptor, kind)
        os.close(descriptor)


def enter_overlays(overlays: Sequence[Overlay], hidden: Path, session: str) -> None:
    """Move this process, which has one thread, into namespaces in which it sees overlays.

    Raises:
        OSError: If the system does not permit it.
    """
    user, group = os.geteuid(), os.getegid()
    _call("unshare", _CLONE_NEWUSER | _CLONE_NEWNS)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path("/proc/self", name).write_text(text, encoding="ascii")
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
    for overlay in overlays:
        _mount_overlay(overlay, f"{PREFIX}{session}")
    flags = _MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    _mount("none", str(hidden), "tmpfs", flags, "size=4k,mode=0700")
    # Root would have capabilities in the namespace after `exec`; others lose them there.
    for capability in range(_N_CAPABILITIES):
        with suppress(OSError):
            _call("prctl", _PR_CAPBSET_DROP, capability, 0, 0, 0)


def _mount_overlay(overlay: Overlay, source: str) -> None:
    """Mount an overlay on its folder; no link in a path of it is followed.

    Raises:
        OSError: If the system does not permit it.
    """
    opened = [open_folder(path) for path in overlay]
    try:
        folder, seed, upper, work = (f"/proc/self/fd/{descriptor}" for descriptor in opened)
        options = f"userxattr,lowerdir={seed}:{folder},upperdir={upper},workdir={work}"
        _mount(source, folder, "overlay", _MS_NOSUID | _MS_NODEV, options)
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    texts = (os.fsencode(text) for text in (source, target, kind))
    _call("mount", *texts, flags, options.encode())


def _call(name: str, *arguments: object) -> None:
    """Make a system call.

    Raises:
        OSError: If it fails; the file name of the error is the name of the call.
    """
    library = ctypes.CDLL(None, use_errno=True)
    if library[name](*(_argument(one) for one in arguments)) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)


def _argument(value: object) -> object:
    return ctypes.c_ulong(value) if isinstance(value, int) else value


def isolation_reason(error: OSError) -> str:
    """Return why an overlay can't be mounted, as a part of a sentence."""
    what = f"{error.filename}: {error.strerror}"
    try:
        is_restricted = _APPARMOR.read_text(encoding="ascii").strip() != "0"
    except OSError:
        is_restricted = False
    if is_restricted and os.geteuid() != 0:
        return f"AppArmor forbids user namespaces to programs of users ({_APPARMOR}; {what})"
    return what
