"""Messages as the protocol's types: from JSON and back, and what can go wrong in between.

The converter does not record where in a message it is: its generated code is a third of the size, and
generating it is a tenth of the time to the answer of `initialize`. A message that it refuses is converted
once more by a detailed converter, for the sake of the error.
"""

from functools import cache
from typing import Any

from attrs import fields_dict
from cattrs import Converter, transform_error
from cattrs.errors import BaseValidationError
from lsprotocol import converters
from pygls.exceptions import JsonRpcException
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage

from stet.lsp.lsp_errors import InvalidParams

# What turning JSON into types, or back, can raise for odd input.
MALFORMED = (
    ArithmeticError,
    AttributeError,
    BaseValidationError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


def build_converter(*, detailed: bool = False) -> Converter:
    """Return a converter that leaves the parameters of methods outside the protocol as plain JSON.

    pygls makes named tuples of them, renames keys that are no identifiers, and drops `type_name`.

    Args:
        detailed: Whether its errors say where they are.
    """
    converter = converters.get_converter(Converter(detailed_validation=detailed))
    for plain in (JsonRPCRequestMessage, JsonRPCNotification, JsonRPCResponseMessage):
        converter.register_structure_hook(plain, _unchanged)
    return converter


def _unchanged(message: dict[str, Any], kind: type) -> Any:
    """Return a message whose parts are the JSON values; None for a part that is missing."""
    return kind(**{name: message.get(name) for name in fields_dict(kind)})


def structured(converter: Converter, what: str, message: dict[str, Any], kind: type) -> Any:
    """`message` as a `kind`; `what` is its name in an error.

    Raises:
        InvalidParams: With the paths of what is wrong.
    """
    try:
        return converter.structure(message, kind)
    except MALFORMED as error:
        raise InvalidParams(f"{what} is malformed: {_reasons(message, kind, error)}") from error


def _reasons(message: dict[str, Any], kind: type, error: Exception) -> str:
    """Return what is wrong with `message` and where; `error` is what is known so far."""
    try:
        _detailed().structure(message, kind)
    except BaseValidationError as found:
        return "; ".join(transform_error(found)[:3])
    except MALFORMED as found:
        return str(found)
    return str(error)


@cache
def _detailed() -> Converter:
    return build_converter(detailed=True)


def as_exception(error: object) -> JsonRpcException:
    """Return the exception for the error part of an answer of any shape."""
    if not isinstance(error, dict):
        return JsonRpcException(str(error))
    code, message = error.get("code"), error.get("message")
    return JsonRpcException(
        str(message or "no reason given"), code if isinstance(code, int) else None
    )


def is_id(value: object) -> bool:
    """Whether `value` may be the id of a request."""
    return isinstance(value, str | int) and not isinstance(value, bool)
