"""Pages are fetched from the address that was checked, and cost no more than their limits."""

import asyncio
import gzip
import ssl
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from stet.web.address_policy import Fetched, FetchLimits
from stet.web.fetch import MAX_REDIRECTS, Fetcher
from stet.web.web_address import WebAddress, WebError, parse_url
from tests.support.certificates import server_side
from tests.support.http_server import HttpRequest
from tests.support.web_server import Answer, WebReply, WebServer, moved, page

HERE = "127.0.0.1"
TWO_CODINGS = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n"
    b"Content-Encoding: br\r\nContent-Length: 1\r\n\r\nx"
)


class Names:
    """A resolver that answers what a test says, one answer a question; the last for ever."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


async def anything(address: WebAddress, came_from: WebAddress | None) -> None:
    """Whatever it is, it may be read."""


async def fetch(url: str, fetcher: Fetcher | None = None) -> Fetched:
    return await (fetcher or Fetcher((HERE,))).fetch(parse_url(url), anything)


async def test_a_page_comes_with_its_kind_and_charset() -> None:
    pages: dict[str, Answer] = {
        "/a": page("<p>Hi</p>", kind='text/html; charset="Latin1"'),
        "/b": page("hi", kind="TEXT/PLAIN"),
        "/c": page("{}", kind="application/json"),
        "/d": page("# Hi", kind="text/markdown", content_encoding="gzip"),
    }
    async with WebServer(pages) as server:
        got = [await fetch(server.url(path)) for path in pages]
        at = [parse_url(server.url(path)) for path in pages]
    assert got == [
        Fetched(at[0], "html", "latin1", False, b"<p>Hi</p>"),
        Fetched(at[1], "text", "", False, b"hi"),
        Fetched(at[2], "json", "", False, b"{}"),
        Fetched(at[3], "text", "", True, b"# Hi"),
    ]


async def test_endless_content_type_is_read_up_to_a_limit() -> None:
    kinds = [
        "text/html;" + 'a=";' * 15_000,
        "text/html; charset*" + "9" * 5_000 + "=x",
        "text/html" + " " * 50_000 + "; charset=latin1",
    ]
    pages: dict[str, Answer] = {f"/{n}": page("hi", kind=kind) for n, kind in enumerate(kinds)}
    async with WebServer(pages) as server:
        got = [await fetch(server.url(path)) for path in pages]
    assert [(one.kind, one.charset) for one in got] == [("html", "")] * 3


async def test_nothing_of_the_user_is_sent_with_a_request() -> None:
    async with WebServer({"/a": moved("/b"), "/b": page("x", set_cookie="id=1")}) as server:
        await fetch(server.url("/a?q=1#secret"))
        host = f"{HERE}:{server.port}"
    assert [got.path for got in server.asked] == ["/a?q=1", "/b"]
    for got in server.asked:
        assert set(got.headers) == {
            *("host", "user-agent", "accept", "accept-encoding", "accept-language", "connection")
        }
        assert got.headers["host"] == host


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with WebServer({"/a": page("x")}) as server:
        assert (await fetch(server.url("/a"))).body == b"x"


async def test_the_connection_is_made_to_the_checked_address_with_the_name_kept() -> None:
    names = Names([HERE], ["169.254.169.254"])
    async with WebServer({"/a": page("x")}) as server:
        fetcher = Fetcher(("site.example",), resolver=names)
        await fetch(server.url("/a", "site.example"), fetcher)
        assert names.asked == ["site.example"]
        assert server.asked[0].headers["host"] == f"site.example:{server.port}"


async def test_redirect_to_a_host_with_a_private_address_is_refused() -> None:
    names = Names([HERE], ["169.254.169.254"])
    async with WebServer({"/a": moved("/b"), "/b": page("x")}) as server:
        fetcher = Fetcher(("site.example",), resolver=names)
        with pytest.raises(WebError, match=r"169\.254\.169\.254 belongs to a private network"):
            await fetch(server.url("/a", "site.example"), fetcher)
        assert [got.path for got in server.asked] == ["/a"]


async def test_the_second_address_is_tried_where_the_first_does_not_answer() -> None:
    async with WebServer({"/a": page("x")}) as server:
        fetcher = Fetcher(("site.example",), resolver=Names(["127.0.0.9", HERE]))
        assert (await fetch(server.url("/a", "site.example"), fetcher)).body == b"x"


@pytest.fixture
def believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ssl.SSLContext]:
    """The machine believes the test's certificate; gives the server's side."""
    from stet.web.http_connection import tls_context

    authority = tmp_path / "authority.pem"
    context = server_side("site.example", authority)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    tls_context.cache_clear()
    yield context
    tls_context.cache_clear()


async def test_the_certificate_is_checked_for_the_name_not_the_address(
    believed: ssl.SSLContext,
) -> None:
    names: list[str | None] = []

    def record_name(_socket: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> None:
        names.append(name)

    believed.sni_callback = record_name
    allowed = ("site.example", "other.example")
    async with WebServer({"/a": page("x")}, tls=believed) as server:
        fetcher = Fetcher(allowed, resolver=Names([HERE]))
        assert (await fetch(server.url("/a", "site.example"), fetcher)).body == b"x"
        with pytest.raises(WebError, match="can't be reached"):
            await fetch(server.url("/a", "other.example"), fetcher)
    assert names == ["site.example", "other.example"]
    assert [got.path for got in server.asked] == ["/a"]


@pytest.mark.parametrize(
    "to",
    [
        *("http://localhost/", "http://127.0.0.2/", "http://2130706433/", "http://[::1]/"),
        *("http://[::ffff:127.0.0.1]/", "http://169.254.169.254/latest/", "http://10.0.0.1/"),
        *("http://metadata.google.internal/", "file:///etc/passwd", "gopher://127.0.0.1/"),
        *("http://user@127.0.0.1/", "//0x7f.1/", ""),
    ],
)
async def test_a_redirect_to_where_nothing_may_be_read_is_refused(to: str) -> None:
    async with WebServer({"/a": moved(to)}) as server, WebServer() as canary:
        where = to.replace("/latest/", f":{canary.port}/") if to else to
        server.pages["/a"] = moved(where)
        with pytest.raises(WebError):
            await fetch(server.url("/a"))
        assert canary.asked == []
        assert len(server.asked) == 1


async def test_every_stop_of_a_redirect_is_asked_for_before_anything_is_sent_there() -> None:
    asked: list[tuple[str, str | None]] = []

    async def permit(address: WebAddress, came_from: WebAddress | None) -> None:
        asked.append((address.target, came_from.target if came_from else None))
        if address.target == "/c":
            raise WebError("no")

    pages: dict[str, Answer] = {"/a": moved("/b", 301), "/b": moved("/c", 308), "/c": page("x")}
    async with WebServer(pages) as server:
        with pytest.raises(WebError, match="no"):
            await Fetcher((HERE,)).fetch(parse_url(server.url("/a")), permit)
    assert asked == [("/a", None), ("/b", "/a"), ("/c", "/b")]
    assert [got.path for got in server.asked] == ["/a", "/b"]


async def test_a_circle_of_redirects_ends() -> None:
    def next_one(got: HttpRequest) -> WebReply:
        return moved(f"/a?{len(got.path)}")

    async with WebServer({"/a": next_one}) as server:
        with pytest.raises(WebError, match="more than 5 redirects"):
            await fetch(server.url("/a"))
    assert len(server.asked) == MAX_REDIRECTS + 1


async def test_a_protected_page_never_leads_to_an_unprotected_one(
    believed: ssl.SSLContext,
) -> None:
    async with WebServer({"/a": page("x")}) as plain, WebServer(tls=believed) as server:
        server.pages["/a"] = moved(plain.url("/a"))
        fetcher = Fetcher(("site.example", HERE), resolver=Names([HERE]))
        with pytest.raises(WebError, match="not encrypted"):
            await fetch(server.url("/a", "site.example"), fetcher)
    assert plain.asked == []


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (page("%PDF", kind="application/pdf"), "is a PDF"),
        (page("x", kind="image/png"), "of the kind 'image/png'"),
        (page("x", kind="application/octet-stream"), "only pages of text"),
        (page("x", kind=""), "of the kind ''"),
        (page("x", content_encoding="br"), "compressed as 'br', which was not asked for"),
        (page("x", content_encoding="zstd"), "compressed as 'zstd'"),
        (page("x", content_encoding="deflate"), "compressed as 'deflate'"),
        (page("x", content_encoding="gzip, gzip"), "compressed as 'gzip, gzip'"),
        (page("x", content_encoding="gzip," * 9000), "compressed as 'gzip,gzip"),
        (WebReply(raw=TWO_CODINGS), "compressed as 'gzip, br'"),
        (WebReply(404), "the status 404"),
        (WebReply(204), "the status 204"),
        (WebReply(302), "does not say where"),
        (WebReply(200, {"content-type": "text/plain"}, [b"x" * 2001]), "larger than 2000 bytes"),
        (
            WebReply(200, {"content-type": "text/plain"}, [], length=10**15),
            "larger than 2000 bytes",
        ),
        (WebReply(200, {"content-type": "text/plain"}, [b"x"], length=2), "speak HTTP properly"),
        (WebReply(raw=b"hello\r\n\r\n"), "speak HTTP properly"),
        (WebReply(raw=b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 50_000), "speak HTTP properly"),
    ],
)
async def test_unreadable_page_is_reported_with_a_reason(reply: WebReply, message: str) -> None:
    async with WebServer({"/a": reply}) as server:
        with pytest.raises(WebError, match=message):
            await fetch(server.url("/a"), Fetcher((HERE,), FetchLimits(size=2000)))


async def test_a_body_without_an_end_is_cut_off() -> None:
    endless = WebReply(200, {"content-type": "text/plain"}, [b"x" * 65536], length=-1, endless=True)
    async with WebServer({"/a": endless}) as server:
        with pytest.raises(WebError, match="larger than 1000000 bytes"):
            await fetch(server.url("/a"), Fetcher((HERE,), FetchLimits(size=1_000_000)))


async def test_a_slow_drip_ends_with_the_time_for_the_whole() -> None:
    drip = WebReply(
        200, {"content-type": "text/plain"}, [b"x"], length=-1, pause=0.01, endless=True
    )
    async with WebServer({"/a": drip}) as server:
        with pytest.raises(WebError, match=r"did not come within 0\.3 s"):
            await fetch(server.url("/a"), Fetcher((HERE,), FetchLimits(seconds=0.3)))


async def test_silence_ends_with_the_time_between_two_pieces() -> None:
    silent = WebReply(200, {"content-type": "text/plain"}, [b"x"], pause=60)
    async with WebServer({"/a": silent}) as server:
        with pytest.raises(WebError, match="can't be reached"):
            await fetch(server.url("/a"), Fetcher((HERE,), FetchLimits(idle=0.1)))


async def test_a_resolver_that_hangs_ends_with_the_time_for_the_whole() -> None:
    async def resolver(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return ()

    fetcher = Fetcher((), FetchLimits(seconds=0.1), resolver)
    with pytest.raises(WebError, match="did not come within"):
        await fetch("http://site.example/", fetcher)


@pytest.mark.slow
async def test_timeout_of_a_page_pauses_while_the_user_is_asked() -> None:
    async def permit(address: WebAddress, came_from: WebAddress | None) -> None:
        await asyncio.sleep(0.3)

    async with WebServer({"/a": page("x")}) as server:
        fetcher = Fetcher((HERE,), FetchLimits(seconds=0.25))
        assert (await fetcher.fetch(parse_url(server.url("/a")), permit)).body == b"x"


async def test_compressed_bomb_is_not_decompressed() -> None:
    bomb = gzip.compress(b"0" * 20_000_000)
    reply = WebReply(200, {"content-type": "text/html", "content-encoding": "gzip"}, [bomb])
    async with WebServer({"/a": reply}) as server:
        assert (await fetch(server.url("/a"))).body == bomb
