"""Who has named a host: the user, or a search; a file's name is none, nor is a part of another."""

import pytest

from stet.web.web_address import (
    MAX_NEW_CHARACTERS,
    MAX_NEW_CHARACTERS_OF_CHAT,
    KnownAddresses,
    find_addresses,
    parse_url,
)


@pytest.mark.parametrize(
    ("words", "urls"),
    [
        ("Read https://a.org/x?y=1, please.", ["https://a.org/x?y=1"]),
        ("(see <http://A.org:81/>)", ["http://a.org:81/"]),
        ("What does docs.python.org say?", ["https://docs.python.org/"]),
        ("look at github.com/python/cpython!", ["https://github.com/python/cpython"]),
        ("at www.a.example and b.org:8080", ["https://www.a.example/", "https://b.org:8080/"]),
        ("http://[2606:4700::1111]/x", ["http://[2606:4700::1111]/x"]),
        ("bücher.org", ["https://xn--bcher-kva.org/"]),
        ("Fix README.md, main.py, x.rs/y and run.sh, self.name and df.at[0]", []),
        ("version 1.2.3 of x, e.g. this... or that", []),
        ("ftp://a.org file:///a.org user@a.org", []),
        ("", []),
    ],
)
def test_addresses_in_the_text_of_the_user_are_found(words: str, urls: list[str]) -> None:
    assert [address.url for address in find_addresses(words)] == urls


@pytest.mark.parametrize(
    ("words", "url"),
    [
        ("see https://a.org/x", "https://a.org/y"),
        ("see a.org", "http://a.org/"),
        ("see a.org", "https://www.a.org/"),
        ("see www.a.org", "https://a.org/"),
        (f"see https://a.org/{'x' * 200}", f"https://a.org/{'x' * 200}"),
        ("see a.org:8080", "https://a.org:8080/x"),
    ],
)
def test_a_host_that_the_user_named_needs_no_question(words: str, url: str) -> None:
    assert KnownAddresses().why_ask(parse_url(url), words) == ""


@pytest.mark.parametrize(
    ("words", "url"),
    [
        ("", "https://a.org/"),
        ("see a.org", "https://b.org/"),
        ("see a.org", "https://x.a.org/"),
        ("see x.a.org", "https://a.org/"),
        ("see a.org", "https://a.org.evil.example/"),
        ("see a.org", "https://evil-a.org/"),
        ("see a.org", "https://a.org:8080/"),
        ("see a.org:8080", "https://a.org/"),
        ("fix readme.md", "https://readme.md/"),
        ("see \u0430.org", "https://a.org/"),
    ],
)
def test_any_other_host_is_asked_for(words: str, url: str) -> None:
    assert "This host was not mentioned by you" in KnownAddresses().why_ask(parse_url(url), words)


def test_what_a_search_found_needs_no_question_but_a_long_address_made_up_does() -> None:
    named = KnownAddresses()
    found = parse_url(f"https://a.org/{'x' * 200}?id=1")
    named.add(found)
    assert named.why_ask(found, "") == ""
    assert named.why_ask(parse_url("https://a.org/other"), "") == ""
    carrying = parse_url(f"https://a.org/?q={'s' * MAX_NEW_CHARACTERS}")
    assert named.why_ask(carrying, "") == (
        "The host is known here, but the address is new and sends 103 characters to it."
    )


def test_many_short_addresses_made_up_count_together() -> None:
    named = KnownAddresses()
    named.add(parse_url("https://a.org/"))
    short = parse_url(f"https://a.org/{'s' * 60}")
    for _ in range(MAX_NEW_CHARACTERS_OF_CHAT // 60):
        assert named.why_ask(short, "") == ""
        named.count_unapproved(short, "")
    assert named.why_ask(short, "") == (
        "The host is known here, but the address is new; new addresses in this chat have sent "
        "360 characters since you were last asked."
    )
    named.approve(short)
    assert named.why_ask(short, "") == ""
    other = parse_url(f"https://a.org/{'t' * 60}")
    assert named.why_ask(other, "") == ""


def test_addresses_without_a_path_are_counted() -> None:
    named = KnownAddresses()
    named.add(parse_url("https://a.org/"))
    for _ in range(MAX_NEW_CHARACTERS_OF_CHAT + 1):
        named.count_unapproved(parse_url("http://a.org/"), "")
    assert "since you were last asked" in named.why_ask(parse_url("http://a.org/"), "")
