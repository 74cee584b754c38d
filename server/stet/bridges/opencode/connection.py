"""Requests to one OpenCode server. Imported late, in a worker: it brings the HTTP client and pydantic."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, TypeVar

import httpx2
from pydantic import TypeAdapter, ValidationError

from stet.bridges.opencode.address import Address
from stet.bridges.opencode.errors import NotOpenCode, Refused, Unreachable
from stet.text.capped import MAX_LINE, quoted_line
from stet.workspace.redaction import Redactor

SECONDS = 15.0
"""For one request; the first message of a session takes OpenCode several seconds."""
MAX_BYTES = 8_000_000
"""Of an answer."""

T = TypeVar("T")

# They log whole addresses, and headers at debug level.
for _name in ("httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class Connection:
    """Asks one server. Making one reads certificates: do it in a worker."""

    def __init__(self, address: Address) -> None:
        self.address = address
        login = httpx2.BasicAuth(address.username, address.password) if address.password else None
        self._client = httpx2.AsyncClient(
            auth=login,
            timeout=None,
            # A proxy of the environment does not reach this machine's own ports.
            trust_env=not address.is_loopback,
        )

    async def ask(
        self,
        method: str,
        path: str,
        form: TypeAdapter[T],
        *,
        query: Mapping[str, str] | None = None,
        body: object = None,
    ) -> T:
        """Send a request and read the answer as `form`.

        Raises:
            Unreachable: If nothing answers; `NotOpenCode` if something else does.
            Refused: If the server answers with an error.
        """
        try:
            async with asyncio.timeout(SECONDS):
                status, raw = await self._send(method, path, query or {}, body)
        except TimeoutError as error:
            raise Unreachable(f"it did not answer within {SECONDS:g} s") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            said = Redactor().beginning(str(error) or type(error).__name__, MAX_LINE)
            raise Unreachable(quoted_line(said)) from error
        if status in {401, 403}:
            raise Refused(status, f"it wants a password: set {self.address.password_env}")
        if status != 200:
            raise Refused(status, f"it refused {method} {path} with status {status}")
        try:
            return form.validate_json(raw)
        except ValidationError as error:
            raise NotOpenCode(f"its answer to {path} is none of OpenCode's") from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _send(
        self, method: str, path: str, query: Mapping[str, str], body: Any
    ) -> tuple[int, bytes]:
        url = f"{self.address.url}{path}"
        async with self._client.stream(method, url, params=query or None, json=body) as response:
            raw = bytearray()
            async for piece in response.aiter_bytes():
                raw += piece
                if len(raw) > MAX_BYTES:
                    raise NotOpenCode(f"its answer to {path} is longer than {MAX_BYTES} bytes")
            return response.status_code, bytes(raw)
