"""Reads JSON that strangers wrote, without the memory that a few bytes of it can ask for."""

import json
from typing import Any

MAX_PARTS = 300_000
"""Objects and lists in one text: each takes up to 90 bytes, though it may be written with three."""


class JsonTooLarge(ValueError):
    """A JSON text has more parts than any answer has."""


def parse_bounded(text: str | bytes, max_parts: int = MAX_PARTS) -> Any:
    """Return the value of a JSON text; its length is the caller's to bound.

    Args:
        text: As it came; bytes are taken for UTF-8.
        max_parts: How many objects and lists it may have, at most (braces in its strings count too).

    Raises:
        ValueError: If it is no JSON, nested too deeply, or `JsonTooLarge`.
    """
    n_parts = (
        text.count(b"{") + text.count(b"[")
        if isinstance(text, bytes)
        else text.count("{") + text.count("[")
    )
    if n_parts > max_parts:
        raise JsonTooLarge(f"{n_parts} objects and lists are more than {max_parts}")
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
