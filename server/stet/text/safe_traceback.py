"""Tracebacks without private data: an error's kind and its place, without its message.

An error's message may quote a line of a document, a question, a path. So the message is left out,
and numbers that the error carries (an error number of the system, of SQLite) replace it. Paths
begin at the package: the home folder of the user is private.
"""

import errno
import traceback
from collections.abc import Iterator

_MAX_ERRORS = 8
"""The maximum number of errors of one chain or group that are shown."""
_FIRST, _LAST = 10, 30
"""The numbers of calls of each error that are shown, from its beginning and its end."""
_ROOTS = (("/site-packages/", ""), ("/server/stet/", "stet/"))


def format_safe_traceback(error: BaseException, *, with_messages: bool = False) -> str:
    """Format an error, its causes and the calls that led there.

    The result has several lines and no final line end.

    Args:
        error: The error as caught.
        with_messages: Whether to include the errors' messages, whatever they quote.
    """
    return "\n".join(_chain(error, with_messages=with_messages))


def error_kind(error: BaseException) -> str:
    """Return the kind of an error, with the error's number if there is a number."""
    name = type(error).__qualname__
    if isinstance(error, OSError) and error.errno is not None:
        return f"{name} ({errno.errorcode.get(error.errno, error.errno)})"
    code = getattr(error, "sqlite_errorname", None) or getattr(error, "code", None)
    return f"{name} ({code})" if isinstance(code, int) or _is_word(code) else name


def package_path(path: str) -> str:
    """Return a source file's path from its package on, or the file's name if there is no
    package.
    """
    path = path.replace("\\", "/")
    for root, instead in _ROOTS:
        if root in path:
            return instead + path.rpartition(root)[2]
    before, found, cause = path.rpartition("/lib/python3.")
    if found:
        return f"python/{cause.partition('/')[2]}"
    return (before or path).rpartition("/")[2]


def _is_word(code: object) -> bool:
    return isinstance(code, str) and code.isidentifier() and len(code) < 60


def _chain(error: BaseException, *, with_messages: bool) -> Iterator[str]:
    waiting: list[tuple[str, BaseException]] = [("", error)]
    seen: set[int] = set()
    while waiting and len(seen) < _MAX_ERRORS:
        how, each = waiting.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        if how:
            yield how
        yield from _calls(each)
        yield f"{error_kind(each)}: {each}" if with_messages else error_kind(each)
        if each.__cause__ is not None:
            waiting.append(("caused by", each.__cause__))
        elif each.__context__ is not None and not each.__suppress_context__:
            waiting.append(("while handling", each.__context__))
        if isinstance(each, BaseExceptionGroup):
            waiting += (("of the group", exception) for exception in each.exceptions)


def _calls(error: BaseException) -> Iterator[str]:
    calls = traceback.extract_tb(error.__traceback__)
    n_more = len(calls) - _FIRST - _LAST
    if n_more <= 0:
        yield from map(_call, calls)
        return
    yield from map(_call, calls[:_FIRST])
    yield f"  ... {n_more} calls more"
    yield from map(_call, calls[-_LAST:])


def _call(call: traceback.FrameSummary) -> str:
    """Return the place of a call, with its source line only if it is code of a known package."""
    where = package_path(call.filename)
    line = f"\n    {call.line}" if call.line and "/" in where else ""
    return f"  {where}:{call.lineno} in {call.name}{line}"
