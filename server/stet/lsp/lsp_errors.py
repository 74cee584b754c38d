"""Errors that a handler may raise; they reach the editor as JSON-RPC errors with their message.

LspError
├── InvalidParams     -32602  an argument is wrong, an id is unknown
├── RequestFailed     -32803  understood and refused, with the reason
├── ContentModified   -32801  the named hunk has changed
└── InternalError     -32603  a bug, already logged; raised at the boundary only
"""

from collections.abc import Iterator
from contextlib import contextmanager

from pygls.exceptions import JsonRpcException


class LspError(JsonRpcException):
    """The base class; `message` is a sentence that tells the user what to do."""


class InvalidParams(LspError):
    """An argument is missing, has the wrong type, or is an unknown id."""

    CODE = -32602
    MESSAGE = "Invalid arguments."


class RequestFailed(LspError):
    """The request was understood and can't be carried out; the message says why."""

    CODE = -32803
    MESSAGE = "The request failed."


class ContentModified(LspError):
    """The named hunk has changed; the client has to read it again."""

    CODE = -32801
    MESSAGE = "The text has changed."


class InternalError(LspError):
    """Another error left a handler: a bug. Raised by `stet.lsp.routing`, which has logged it."""

    CODE = -32603
    MESSAGE = "Internal error in Stet; see its log."


@contextmanager
def report_as(
    kind: type[LspError], *errors: type[Exception], message: str = "{}"
) -> Iterator[None]:
    """Report `errors` that leave the `with` block to the editor.

    Args:
        kind: The class of the error that is raised instead.
        errors: The classes of the errors that are caught.
        message: The sentence for the user; `{}` stands for the message of the error.

    Raises:
        LspError: An instance of `kind`.
    """
    try:
        yield
    except errors as error:
        raise kind(message.format(error)) from error
