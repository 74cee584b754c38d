"""Downloads from a Hugging Face on loopback: redirects, ranges, cuts, refusals, a full disk."""

import resource
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from stet.llm.weights import partial_file
from stet.llm.weights.catalog import MEDIUM, HubFile, ModelWeights, hub_weights
from stet.llm.weights.hub_download import TRIES, download_from_hub, hub_url
from stet.llm.weights.install import install_weights
from stet.llm.weights.partial_file import InstallError, PartialFile
from stet.system.system import System
from tests.support.certificates import server_side
from tests.support.http_server import HttpRequest
from tests.support.tiny_weights import CONTENT, REVISION, ROUTE, TINY, visible
from tests.support.web_server import Answer, WebReply, WebServer, moved

HALF = len(CONTENT) // 2


class HubSystem(System):
    """A system with a hub at another address and no other downloads."""

    def __init__(self, server: WebServer | str, home: Path) -> None:
        super().__init__()
        address = server if isinstance(server, str) else server.url("")
        self._env = {"HF_ENDPOINT": address, "XDG_CACHE_HOME": str(home)}

    def environ(self) -> Mapping[str, str]:
        return self._env


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without downloads and an environment without proxies."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "models"
    path.mkdir()
    return path


def from_start(request: HttpRequest) -> int:
    """The first byte that a request asks for."""
    return int(request.headers.get("range", "bytes=0-").removeprefix("bytes=").rstrip("-"))


def serve_range(request: HttpRequest) -> WebReply:
    """Answer as the store of the hub does."""
    start = from_start(request)
    if start == 0:
        return WebReply(body=[CONTENT])
    last = len(CONTENT) - 1
    return WebReply(
        206, {"content-range": f"bytes {start}-{last}/{len(CONTENT)}"}, [CONTENT[start:]]
    )


def cut(n_bytes: int) -> Callable[[HttpRequest], WebReply]:
    """Answer with the right length and close the connection after some bytes."""

    def answer(request: HttpRequest) -> WebReply:
        whole = serve_range(request)
        return replace(whole, length=len(whole.body[0]), body=[whole.body[0][:n_bytes]])

    return answer


def in_turn(*answers: Answer) -> Callable[[HttpRequest], WebReply]:
    """Answer each request with the next answer; the last one is repeated."""
    waiting = list(answers)

    def answer(request: HttpRequest) -> WebReply:
        now = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return now if isinstance(now, WebReply) else now(request)

    return answer


async def download(
    server: WebServer | str, folder: Path, weights: ModelWeights = TINY
) -> tuple[ModelWeights, list[float]]:
    """Download into the unfinished file; return the weights and how long each wait would be."""
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    environ = HubSystem(server, folder).environ()
    partial = PartialFile(folder / weights.file)
    return await download_from_hub(weights, partial, environ, lambda *_: None, wait), waits


def unfinished(folder: Path) -> bytes:
    return (folder / ".tiny.gguf.part").read_bytes()


async def test_install_follows_the_redirect_and_puts_the_checked_file_in_place(
    folder: Path, home: Path
) -> None:
    progress: list[float] = []
    async with WebServer() as store, WebServer() as hub:
        hub.pages[ROUTE] = moved(store.url("/blob?signature=x"))
        store.pages["/blob"] = serve_range
        path = await install_weights(
            TINY, folder, HubSystem(hub, home), lambda _, share: progress.append(share)
        )
    assert path.read_bytes() == CONTENT
    assert visible(folder) == ["tiny.gguf", "tiny.gguf.NOTICE.txt"]
    assert (folder / "tiny.gguf.NOTICE.txt").read_text() == (
        f"Tiny, by a test. sha256: {TINY.sha256}\n"
    )
    assert store.asked[0].headers["accept-encoding"] == "identity"
    assert "authorization" not in hub.asked[0].headers
    assert progress == sorted(progress)
    assert len(progress) > 2


async def test_download_continues_after_cuts_where_it_was(folder: Path) -> None:
    async with WebServer({ROUTE: in_turn(cut(HALF), cut(10), cut(0), serve_range)}) as hub:
        _, waits = await download(hub, folder)
    assert unfinished(folder) == CONTENT
    assert [from_start(request) for request in hub.asked] == [0, HALF, HALF + 10, HALF + 10]
    assert waits == [2, 2, 4]


async def test_download_starts_again_if_the_server_knows_no_ranges(folder: Path) -> None:
    async with WebServer({ROUTE: in_turn(cut(HALF), WebReply(body=[CONTENT]))}) as hub:
        await download(hub, folder)
    assert unfinished(folder) == CONTENT


async def test_download_that_stays_cut_is_resumed_by_the_next_run(
    folder: Path,
) -> None:
    async with WebServer({ROUTE: in_turn(cut(HALF), cut(0))}) as hub:
        with pytest.raises(InstallError) as raised:
            await download(hub, folder)
        assert str(raised.value) == (
            "The download from 127.0.0.1 was cut off after 1 MB (peer closed connection without "
            f"sending complete message body (received 0 bytes, expected {len(CONTENT) - HALF})): "
            "run the same command again, it continues there."
        )
        assert len(hub.asked) == TRIES
        hub.pages[ROUTE] = serve_range
        await download(hub, folder)
    assert unfinished(folder) == CONTENT


async def test_wrong_checksum_is_refused_and_leaves_nothing(folder: Path, home: Path) -> None:
    async with WebServer({ROUTE: WebReply(body=[CONTENT[:-1] + b"?"])}) as hub:
        with pytest.raises(InstallError, match=r"unexpected file .* it was not installed"):
            await install_weights(TINY, folder, HubSystem(hub, home), lambda *_: None)
    assert visible(folder) == []


@contextmanager
def files_no_larger_than(n_bytes: int) -> Iterator[None]:
    """Refuse more bytes of any file, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_disk_that_fills_up_is_reported_and_is_free_again(folder: Path, home: Path) -> None:
    async with WebServer({ROUTE: serve_range}) as hub:
        with files_no_larger_than(HALF), pytest.raises(InstallError, match=r"^The disk is full at"):
            await install_weights(TINY, folder, HubSystem(hub, home), lambda *_: None)
    assert visible(folder) == []


async def test_full_disk_is_reported_before_the_download(folder: Path, home: Path) -> None:
    huge = replace(TINY, size=10**18)
    async with WebServer() as hub:
        with pytest.raises(InstallError, match=r"^The disk is full at .*MB are needed"):
            await install_weights(huge, folder, HubSystem(hub, home), lambda *_: None)
        assert hub.asked == []


async def test_announced_size_that_does_not_fit_the_disk_is_reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = replace(TINY, size=0, sha256="")
    monkeypatch.setattr(partial_file, "RESERVED_BYTES", 10**18)
    async with WebServer({ROUTE: serve_range}) as hub:
        with pytest.raises(OSError, match="MB are needed"):
            await download(hub, folder, unknown)
    assert visible(folder) == []


async def test_folder_that_cannot_be_created_is_reported(tmp_path: Path, home: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InstallError, match="can't be written"):
        await install_weights(
            TINY, tmp_path / "file" / "models", HubSystem("http://x", home), lambda *_: None
        )


REFUSALS: dict[str, tuple[Answer, str]] = {
    "missing": (WebReply(404), r"does not have /owner/tiny-GGUF/resolve/.*: check repository"),
    "login": (WebReply(401), r"requires a login .* set model\.name to its path"),
    "other": (WebReply(410), r"answered with the status 410"),
    "busy": (WebReply(503), r"can't be reached \(the server answered with the status 503\)"),
    "another file": (WebReply(body=[b"x"]), r"another file of this name \(1 bytes instead of"),
    "no length": (WebReply(body=[b"x"], length=-1), r"does not say how long the file is"),
    "nowhere": (WebReply(302), r"redirects without an address"),
    "file": (moved("file:///etc/passwd"), r"redirects without an address|can't be reached"),
    "round": (moved(ROUTE), r"redirects too often"),
    "other range": (
        WebReply(206, {"content-range": f"bytes 9-{len(CONTENT) - 1}/{len(CONTENT)}"}, [b"x"]),
        r"can't be reached \(the server left a part of the file out\)",
    ),
}


@pytest.mark.parametrize(("answer", "sentence"), REFUSALS.values(), ids=REFUSALS.keys())
async def test_refusal_is_a_sentence(folder: Path, answer: Answer, sentence: str) -> None:
    async with WebServer({ROUTE: answer}) as hub:
        with pytest.raises(InstallError, match=sentence):
            await download(hub, folder)


async def test_server_that_is_not_there_is_reported_with_the_ways_to_go_on(folder: Path) -> None:
    async with WebServer() as gone:
        address = gone.url("")
    with pytest.raises(InstallError, match=r"HTTPS_PROXY, set HF_ENDPOINT to a mirror, or use --f"):
        await download(address, folder)


async def test_longer_body_than_announced_is_not_taken(folder: Path) -> None:
    body = CONTENT + b"more" * 1000
    async with WebServer({ROUTE: WebReply(body=[body], length=len(CONTENT))}) as hub:
        await download(hub, folder)
    assert unfinished(folder) == CONTENT


async def test_longer_unfinished_file_is_dropped(folder: Path) -> None:
    (folder / ".tiny.gguf.part").write_bytes(CONTENT + b"x")
    unknown = replace(TINY, size=0)
    async with WebServer({ROUTE: in_turn(WebReply(416), serve_range)}) as hub:
        await download(hub, folder, unknown)
    assert unfinished(folder) == CONTENT


async def test_redirect_to_an_unencrypted_address_is_not_followed(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = tmp_path / "authority.pem"
    context: ssl.SSLContext = server_side("localhost", authority)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    async with WebServer({ROUTE: moved("http://127.0.0.1:9/")}, tls=context) as hub:
        with pytest.raises(InstallError, match="unencrypted"):
            await download(hub.url("", host="localhost"), folder)


async def test_proxy_of_the_environment_is_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with WebServer() as proxy:
        proxy.pages[f"http://hub.invalid{ROUTE}"] = serve_range
        monkeypatch.setenv("HTTP_PROXY", proxy.url(""))
        await download("http://hub.invalid", folder)
    assert unfinished(folder) == CONTENT


async def test_wrong_proxy_of_the_environment_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "nonsense://proxy")
    with pytest.raises(InstallError, match="HTTPS_PROXY or SSL_CERT_FILE can't be used"):
        await download("http://hub.invalid", folder)


async def test_size_and_checksum_of_other_files_are_those_that_the_hub_states(
    folder: Path,
) -> None:
    other = hub_weights(HubFile("owner/tiny-GGUF", "sub/any.gguf", REVISION))
    assert other.file == f"{REVISION[:12]}--owner--tiny-GGUF--sub--any.gguf"
    async with WebServer() as store, WebServer() as hub:
        reply = moved(store.url("/blob"))
        hub.pages[ROUTE.replace("tiny.gguf", "sub/any.gguf")] = replace(
            reply, headers={**reply.headers, "x-linked-etag": f'"{TINY.sha256}"'}
        )
        store.pages["/blob"] = serve_range
        weights, _ = await download(hub, folder, other)
    assert (weights.size, weights.sha256) == (len(CONTENT), TINY.sha256)


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({}, "https://huggingface.co"),
        ({"HF_ENDPOINT": "https://mirror.example/hf/"}, "https://mirror.example/hf"),
    ],
)
def test_address_is_the_pinned_one(environ: dict[str, str], found: str) -> None:
    assert MEDIUM.weights.hub is not None
    assert str(hub_url(MEDIUM.weights.hub, environ)) == (
        f"{found}/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/"
        "f86cb2c1fa58255f8052cc32aeede1b7482d4361/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    )


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"HF_ENDPOINT": "ftp://mirror"}, "HF_ENDPOINT is not an http or https address"),
        ({"HF_ENDPOINT": "http://x:y"}, "HF_ENDPOINT is not an http or https address"),
        ({"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE is set"),
    ],
)
def test_unusable_environment_is_a_sentence(environ: dict[str, str], sentence: str) -> None:
    assert MEDIUM.weights.hub is not None
    with pytest.raises(InstallError, match=sentence):
        hub_url(MEDIUM.weights.hub, environ)
