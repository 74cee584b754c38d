"""All texts of a request, also those inside JSON: everything that a server may read."""

import json
from collections.abc import Iterator
from typing import Any


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, and in texts that are JSON themselves."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from texts_in(key)
            yield from texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)
    elif isinstance(value, str):
        yield value
        try:
            inside = json.loads(value)
        except ValueError:
            return
        if isinstance(inside, dict | list):
            yield from texts_in(inside)
