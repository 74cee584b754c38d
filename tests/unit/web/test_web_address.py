"""Addresses are taken apart strictly, so that what is checked is what is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.web.web_address import MAX_URL, WebAddress, WebError, parse_url, resolve_redirect

REFUSED = {
    "file:///etc/passwd": "only http and https",
    "gopher://a.org/": "only http and https",
    "data:text/html,hello": "only http and https",
    "javascript:alert(1)": "only http and https",
    "docs.python.org": "only http and https",
    "//a.org/": "only http and https",
    "http://user@a.org/": "user name",
    "http://user:password@a.org/": "user name",
    "http://a.org@127.0.0.1/": "user name",
    "http://a.org\\@b.org/": "backslash",
    "http://a.org/a b": "space",
    "http://a.org/\r\nHost: b.org": "control",
    "http://a.org/\u0085b": "control",
    "http://127.1/": "four decimal numbers",
    "http://0x7f000001/": "four decimal numbers",
    "http://2130706433/": "four decimal numbers",
    "http://0177.0.0.1/": "four decimal numbers",
    "http://127.0.0.0x1/": "four decimal numbers",
    "http://1.2.3.4.5/": "four decimal numbers",
    "http://127.0.0.256/": "four decimal numbers",
    "http://\uff12\uff11\uff13\uff10\uff17\uff10\uff16\uff14\uff13\uff13/": "four decimal",
    "http://[fe80::1%eth0]/": "one network interface",
    "http://[::1/": "not an address",
    "http://[xyz]/": "no",
    "http://a.org:0/": "port 0",
    "http://a.org:99999/": "not an address",
    "http://a.org:x/": "not an address",
    "http:///path": "names no host",
    "http://a..b/": "names no host",
    "http://a%2eb.org/": "names no host",
    "http://-a.org/": "names no host",
    f"http://{'a' * 64}.org/": "names no host",
    f"http://a.org/{'x' * MAX_URL}": "at most",
}


@pytest.mark.parametrize("url", REFUSED)
def test_what_can_be_read_in_two_ways_is_refused(url: str) -> None:
    with pytest.raises(WebError, match=REFUSED[url]):
        parse_url(url)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://A.org", WebAddress("https", "a.org", 443, "/")),
        ("  http://a.org./x?y=1#z  ", WebAddress("http", "a.org", 80, "/x?y=1", "z")),
        ("http://a.org:8080/%41/ü", WebAddress("http", "a.org", 8080, "/%41/%C3%BC")),
        ("https://a.org:443?q=a|b", WebAddress("https", "a.org", 443, "/?q=a%7Cb")),
        ("http://[2606:4700::0:1111]/", WebAddress("http", "2606:4700::1111", 80, "/")),
        ("http://[::FFFF:127.0.0.1]/", WebAddress("http", "::ffff:7f00:1", 80, "/")),
        ("http://\uff41.org/", WebAddress("http", "a.org", 80, "/")),
        ("http://\uff11\uff12\uff17.0.0.1/", WebAddress("http", "127.0.0.1", 80, "/")),
        ("http://a\u3002org/", WebAddress("http", "a.org", 80, "/")),
    ],
)
def test_every_spelling_of_an_address_becomes_one(url: str, address: WebAddress) -> None:
    assert parse_url(url) == address
    assert parse_url(address.url) == parse_url(url.partition("#")[0])


def test_an_international_name_is_shown_as_it_is_asked_and_in_letters() -> None:
    address = parse_url("https://bücher.example/")
    assert (address.url, address.unicode_host) == (
        "https://xn--bcher-kva.example/",
        "bücher.example",
    )
    assert parse_url("https://a.org/").unicode_host == ""


def test_a_place_names_the_port_where_it_is_not_the_usual_one() -> None:
    urls = ["http://a.org/", "https://a.org/", "https://a.org:80/", "http://[2606::1]:81/"]
    assert [parse_url(url).host_and_port for url in urls] == [
        "a.org",
        "a.org",
        "a.org:80",
        "[2606::1]:81",
    ]


@given(st.text(max_size=40))
def test_no_text_makes_more_of_an_address_than_ascii(text: str) -> None:
    for url in (text, f"http://{text}", f"https://a.org/{text}"):
        try:
            address = parse_url(url)
        except WebError:
            continue
        assert address.url.isascii()
        assert not set(address.url) & set(" \r\n\t\\@") - set("@" if "@" in address.target else "")
        assert parse_url(address.url) == parse_url(url.strip().partition("#")[0])


def test_a_redirect_may_be_relative_and_never_leaves_protection() -> None:
    page = parse_url("https://a.org/x/y")
    assert resolve_redirect(page, "../z?q").url == "https://a.org/z?q"
    assert resolve_redirect(page, "//b.org/").url == "https://b.org/"
    assert resolve_redirect(parse_url("http://a.org/"), "https://a.org/").url == "https://a.org/"
    for bad in ("http://a.org/", "file:///etc/passwd", "https://u@a.org/", "http://[::1/"):
        with pytest.raises(WebError):
            resolve_redirect(page, bad)
