"""Download a file of weights from Hugging Face, or from the mirror in `HF_ENDPOINT`.

It is a plain GET at a fixed revision, resumed by a range request after a cut. Proxies and
certificates are those of the environment. No token is sent. What arrives is bounded by the known
or announced size, and whoever calls this checks the checksum.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

import httpx2

from stet.llm.weights.catalog import HubFile, ModelWeights
from stet.llm.weights.partial_file import BLOCK, InstallError, PartialFile, Progress

HUB = "https://huggingface.co"
MAX_REDIRECTS = 10
TRIES = 5
"""How often a download is continued without one more byte before it is given up."""
TRIES_TO_CONNECT = 2
"""The same, if nothing has arrived at all."""
MAX_SIZE = 100_000_000_000
"""The most bytes of a file of unknown size."""
TIMEOUT = httpx2.Timeout(60.0, connect=20.0)
"""The longest silence, in seconds."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_RANGE = re.compile(r"bytes (\d{1,15})-\d{1,15}/(\d{1,15})", re.ASCII)

Wait = Callable[[float], Awaitable[None]]
"""Waits for a number of seconds."""


class _CutOff(Exception):
    """A download broke off and may be continued; `str()` is the reason."""


@dataclass(frozen=True, slots=True)
class _Announced:
    """What an answer says of its body.

    Attributes:
        start: The place of its first byte in the file.
        size: The size of the whole file, in bytes.
        sha256: The checksum that the hub states; "" if it states none.
    """

    start: int
    size: int
    sha256: str


def hub_url(hub: HubFile, environ: Mapping[str, str]) -> httpx2.URL:
    """Return the address of a file.

    Raises:
        InstallError: If `HF_ENDPOINT` is not an address, or `HF_HUB_OFFLINE` is set.
    """
    if environ.get("HF_HUB_OFFLINE", "").strip().lower() in {"1", "true", "yes", "on"}:
        raise InstallError(
            "HF_HUB_OFFLINE is set, so nothing is downloaded: unset it, or use --file PATH."
        )
    endpoint = environ.get("HF_ENDPOINT", "").strip().rstrip("/") or HUB
    try:
        url = httpx2.URL(f"{endpoint}/{hub.repository}/resolve/{hub.revision}/{hub.file}")
    except httpx2.InvalidURL:
        url = httpx2.URL("")
    if url.scheme not in {"http", "https"} or not url.host:
        raise InstallError(f"HF_ENDPOINT is not an http or https address: {endpoint[:200]!r}.")
    return url


async def download_from_hub(
    weights: ModelWeights,
    partial: PartialFile,
    environ: Mapping[str, str],
    on_progress: Progress,
    wait: Wait = asyncio.sleep,
) -> ModelWeights:
    """Download a file, continue after cuts, and return the weights with their size and checksum.

    Raises:
        InstallError: If the file can't be had. What has arrived stays, and is continued.
        OSError: If the disk can't be written.
    """
    assert weights.hub is not None
    url = hub_url(weights.hub, environ)
    n_failed = 0
    async with _client() as client:
        download = _Download(client, url, partial, on_progress)
        while True:
            before = await asyncio.to_thread(lambda: partial.size)
            try:
                return await download.run(weights, before)
            except (_CutOff, httpx2.TransportError) as error:
                now = await asyncio.to_thread(lambda: partial.size)
                n_failed = 1 if now > before else n_failed + 1
                if n_failed >= (TRIES if now else TRIES_TO_CONNECT):
                    raise _cut_error(url, now, error) from error
            on_progress(f"{url.host} does not answer; trying again", 0.0)
            await wait(2.0**n_failed)


def _client() -> httpx2.AsyncClient:
    """Return a client with the proxies and certificates of the environment.

    Raises:
        InstallError: If the environment names a proxy or certificates that can't be used.
    """
    try:
        return httpx2.AsyncClient(timeout=TIMEOUT, headers={"Accept-Encoding": "identity"})
    except (OSError, ValueError) as error:
        raise InstallError(
            f"HTTPS_PROXY or SSL_CERT_FILE can't be used ({error}): correct or unset it."
        ) from error


@dataclass(frozen=True, slots=True)
class _Download:
    """A download: where from, where to, and who is told."""

    client: httpx2.AsyncClient
    url: httpx2.URL
    partial: PartialFile
    on_progress: Progress

    async def run(self, weights: ModelWeights, done: int) -> ModelWeights:
        """Send a request for the rest after `done` bytes and append what arrives."""
        if weights.size and done >= weights.size:
            return weights
        headers = {"Range": f"bytes={done}-"} if done else {}
        request = self.client.build_request("GET", self.url, headers=headers)
        origin: Mapping[str, str] = {}
        for _ in range(MAX_REDIRECTS):
            response = await self.client.send(request, stream=True)
            try:
                # The hub states size and checksum; the store that it redirects to need not.
                origin = {**response.headers, **origin}
                if response.status_code not in _REDIRECTS:
                    return await self._take(response, weights, done, origin)
                request = self._next_request(response)
            finally:
                await response.aclose()
        raise InstallError(f"{self.url.host} redirects too often: try again later, or --from pypi.")

    def _next_request(self, response: httpx2.Response) -> httpx2.Request:
        request = response.next_request
        if request is None or request.url.scheme not in {"http", "https"}:
            raise InstallError(f"{response.url.host} redirects without an address.")
        if response.url.scheme == "https" and request.url.scheme != "https":
            raise InstallError(
                f"{response.url.host} redirects to an unencrypted address; this is not followed."
            )
        return request

    async def _take(
        self, response: httpx2.Response, weights: ModelWeights, done: int, origin: Mapping[str, str]
    ) -> ModelWeights:
        if response.status_code == 416:  # what is there is longer than the file: start again
            await asyncio.to_thread(self.partial.remove)
            raise _CutOff("the server refused to continue the download")
        if response.status_code not in {200, 206}:
            raise _status_error(self.url, response.status_code)
        found = _announced(response, origin)
        if weights.size and found.size != weights.size:
            raise InstallError(
                f"{self.url.host} has another file of this name ({found.size:,} bytes instead of "
                f"{weights.size:,}); it was not downloaded."
            )
        if found.start > done:
            raise _CutOff("the server left a part of the file out")
        await asyncio.to_thread(self.partial.check_disk_space, found.size - found.start)
        await asyncio.to_thread(self.partial.truncate, found.start)
        await self._append(response, found)
        return replace(weights, size=found.size, sha256=weights.sha256 or found.sha256)

    async def _append(self, response: httpx2.Response, found: _Announced) -> None:
        """Append a body to the file.

        Raises:
            _CutOff: If the body is shorter than announced.
        """
        done, buffer = found.start, bytearray()
        try:
            async for piece in response.aiter_raw():
                buffer += piece[: found.size - done - len(buffer)]
                if len(buffer) >= BLOCK:
                    done += await self._write(buffer)
                    self.on_progress(f"downloading from {self.url.host}", done / found.size)
        finally:
            done += await self._write(buffer)
        if done < found.size:
            raise _CutOff("the connection was closed early")

    async def _write(self, buffer: bytearray) -> int:
        data = bytes(buffer)
        buffer.clear()
        await asyncio.to_thread(self.partial.append, data)
        return len(data)


def _announced(response: httpx2.Response, origin: Mapping[str, str]) -> _Announced:
    """Return what an answer says of its body.

    Raises:
        InstallError: If it does not say how long the file is.
    """
    start, size = 0, response.headers.get("content-length", "")
    if response.status_code == 206:
        found = _RANGE.fullmatch(response.headers.get("content-range", ""))
        start, size = (int(found[1]), found[2]) if found else (0, "")
    if not (size.isascii() and size.isdigit() and len(size) < 16 and 0 < int(size) <= MAX_SIZE):
        raise InstallError(f"{response.url.host} does not say how long the file is.")
    tag = origin.get("x-linked-etag", "").strip('"').lower()
    return _Announced(start, int(size), tag if re.fullmatch("[0-9a-f]{64}", tag) else "")


def _status_error(url: httpx2.URL, status: int) -> Exception:
    """Return the error of an answer without a file: one that may pass is a cut."""
    if status in {401, 403}:
        return InstallError(
            f"{url.host} requires a login for this file: download it in a browser, then set "
            "model.name to its path."
        )
    if status == 404:
        return InstallError(
            f"{url.host} does not have {url.path}: check repository, file, revision."
        )
    if status in {408, 429} or status >= 500:
        return _CutOff(f"the server answered with the status {status}")
    return InstallError(f"{url.host} answered with the status {status}.")


def _cut_error(url: httpx2.URL, done: int, error: Exception) -> InstallError:
    reason = str(error) or type(error).__name__
    if not done:
        return InstallError(
            f"{url.host} can't be reached ({reason}): check the network and HTTPS_PROXY, set "
            "HF_ENDPOINT to a mirror, or use --from pypi or --file PATH."
        )
    return InstallError(
        f"The download from {url.host} was cut off after {done / 1e6:,.0f} MB ({reason}): run the "
        "same command again, it continues there."
    )
