"""A page is read by a process of its own, which a hostile one can neither hang nor fill."""

import gzip
import sys
from pathlib import Path

import pytest

from stet.system.system import System
from stet.web import fetch as page_module
from stet.web.address_policy import Fetched
from stet.web.fetch import WebPage, read_page
from stet.web.page_helper import MAX_TEXT, read_task
from stet.web.web_address import WebError, parse_url

pytestmark = pytest.mark.slow


URL = "https://site.example/docs/page"
ARTICLE = """<!doctype html><html><head><title>Fish &amp; chips</title>
<script>alert("no")</script><style>p {}</style></head><body>
<nav><a href="/">Home</a><a href="/all">All recipes</a></nav><article><h1>Fish</h1>
<p>Take a fish that is fresh, and <a href="oil">good oil</a>, and salt it well before frying.</p>
<p>The batter must rest for an hour, or it will not hold to the fish while it is in the oil.</p>
<pre><code>fry(fish)
serve(fish)</code></pre>
<img src="https://evil.example/?q=1" alt="a picture"></article>
<footer>All rights reserved.</footer></body></html>"""


async def read(body: str | bytes, kind: str = "html", charset: str = "", **packed: bool) -> WebPage:
    raw = body.encode() if isinstance(body, str) else body
    fetched = Fetched(parse_url(URL), kind, charset, packed.get("packed", False), raw)
    return await read_page(fetched, System())


async def test_article_is_converted_to_markdown_without_its_surroundings() -> None:
    assert await read(ARTICLE) == WebPage(
        URL,
        "Fish & chips",
        "# Fish\n\nTake a fish that is fresh, and [good oil](https://site.example/docs/oil), and "
        "salt it well before frying.\n\nThe batter must rest for an hour, or it will not hold to "
        "the fish while it is in the oil.\n\n```\nfry(fish)\nserve(fish)\n```",
    )


async def test_page_without_a_main_part_gives_all_its_text() -> None:
    html = "<title>T</title><script>no()</script><p>Hello <b>you</b></p><p>there</p>"
    assert await read(html) == WebPage(URL, "T", "Hello **you**\n\nthere")
    links = "<title>T</title><ul><li><a href=x>One</a><li><a href=y>Two</a></ul><svg>no</svg>"
    assert await read(links) == WebPage(URL, "T", "One\nTwo")


async def test_text_and_json_stay_as_they_are() -> None:
    assert await read("a <b>\r\nc", "text") == WebPage(URL, "", "a <b>\nc")
    assert await read('{"a": [1]}', "json") == WebPage(URL, "", '{"a": [1]}')


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("grün".encode("latin-1"), "iso-8859-1"),
        ("grün".encode("utf-16"), ""),
        ("grün".encode("utf-8-sig"), "latin-1"),
        ("grün".encode(), "no-such-charset"),
        ("grün".encode(), "zlib"),
        ("grün".encode(), "a\0b"),
    ],
)
async def test_the_charset_is_found(body: bytes, charset: str) -> None:
    assert (await read(body, "text", charset)).text == "grün"


async def test_charset_is_read_from_the_page() -> None:
    html = '<meta charset="windows-1252"><title>x</title><p>grün \u2013 und blau</p>'
    assert (await read(html.encode("cp1252"))).text == "grün \u2013 und blau"


async def test_hidden_characters_are_taken_out_and_counted() -> None:
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    text = f"a{tags}b\u202ec\u200bd\ufe0fe\u2066f"
    assert await read(f"{text}\x1b[8mg\u2028h", "text") == WebPage(URL, "", "abcdef[8mg\nh", 9)
    html = f"<title>a\u202eb&#x202e;</title><p>{text}</p>"
    assert await read(html) == WebPage(URL, "ab", "abcdef", 9)


async def test_long_page_is_cut_with_a_notice() -> None:
    found = await read("x" * (MAX_TEXT + 7), "text")
    assert (len(found.text), found.n_left_out) == (MAX_TEXT, 7)


async def test_very_large_page_gives_all_its_text() -> None:
    part = "<h2>Part</h2><p>Some words with <a href=x>a link</a>.</p>"
    found = await read(f"<title>T</title>{part * 30_000}")
    assert found.text[:32] == "Part\nSome words with\na link\n.\nPa"
    assert len(found.text) == MAX_TEXT


async def test_a_packed_page_is_unpacked() -> None:
    assert (await read(gzip.compress(b"hello"), "text", packed=True)).text == "hello"
    with pytest.raises(WebError, match="is not gzip, as declared"):
        await read(b"hello", "text", packed=True)


async def test_a_bomb_is_refused() -> None:
    with pytest.raises(WebError, match="grows to more than 10000000 bytes"):
        await read(gzip.compress(b"0" * 100_000_000), "text", packed=True)


@pytest.mark.parametrize("html", ["", "<html></html>", "<script>x()</script>", "\0", "<!--"])
async def test_page_without_text_is_reported(html: str) -> None:
    with pytest.raises(WebError, match="holds no readable text"):
        await read(html)


@pytest.mark.parametrize(
    "html",
    ["<div>" * 300_000, "<table>" * 100_000 + "x", "<a href='" * 50_000, "&" * 500_000],
)
async def test_hostile_markup_ends_in_an_answer_or_a_sentence(html: str) -> None:
    try:
        ended = (await read(html)).url
    except WebError as error:
        ended = str(error)
    assert URL in ended


def test_missing_extra_is_reported_with_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    asked = {"kind": "html", "charset": "", "packed": False, "url": "https://a.example", "size": 99}
    answer = read_task(asked, b"<p>x")
    assert answer == {
        "error": "trafilatura is not installed; the user must install Stet with its extra `web`. "
        "Plain text, Markdown and JSON can be read without"
    }


async def test_a_page_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "READING_SECONDS", 0.2)
    with pytest.raises(WebError, match=r"takes more than 0\.2 s"):
        await read("<p>hello world, this is text</p>" * 30_000)


async def test_a_page_that_takes_too_much_memory_is_given_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What a process does that is out of memory, or killed: it answers nothing."""
    dead = tmp_path / "python"
    dead.write_text("#!/bin/sh\ncat > /dev/null\nkill -9 $$\n")
    dead.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(dead))
    with pytest.raises(WebError, match="too much memory or time"):
        await read("x", "text")


async def test_page_process_gets_no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    spy = tmp_path / "python"
    spy.write_text('#!/bin/sh\ncat > /dev/null\nprintf \'{"error": "%s"}\' "[$OPENAI_API_KEY]"\n')
    spy.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(spy))
    with pytest.raises(WebError, match=r"can't be read: \[\]"):
        await read("x", "text")
