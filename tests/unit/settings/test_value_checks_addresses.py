"""A base URL that can't be followed is reported when it is read, with what to write."""

import pytest

from tests.support.settings_parsing import parse_settings

GOOD = (
    "",
    "http://127.0.0.1:11434/v1",
    "https://api.example/v1/",
    "http://[::1]:8080/v1",
    "https://r.openai.azure.com",
    "HTTPS://EXAMPLE.com:65535",
    "http://my_host.local.:8080/a/b/",
    "http://b\u00fccher.example/v1",
    "http://xn--bcher-kva.example/v1",
    "http://[fe80::1%25eth0]:1/v1",
)
BAD = {
    "localhost:11434/v1": "not an http URL",
    "127.0.0.1": "not an http URL",
    "ftp://x/v1": "not an http URL",
    "http://": "not an http URL",
    "http://x:port/v1": "a number from 1 to 65535",
    "http://x:0/v1": "a number from 1 to 65535",
    "http://x:65536/v1": "a number from 1 to 65535",
    "http://x:-1/v1": "a number from 1 to 65535",
    "//x/v1": "not an http URL",
    "http:/x/v1": "not an http URL",
    "http:x": "not an http URL",
    "https://:8080/v1": "not an http URL",
    "ws://x/v1": "not an http URL",
    "file:///v1": "not an http URL",
    "javascript:alert(1)": "not an http URL",
    "http://user:word@x/v1": "remove the part before '@'",
    "https://user@x/v1": "remove the part before '@'",
    "https://@x/v1": "remove the part before '@'",
    "http://a..b/v1": "no valid host",
    "http://.x/v1": "no valid host",
    "http://-x/v1": "no valid host",
    "http://*/v1": "no valid host",
    "http://${HOST}/v1": "no valid host",
    "http://x\\y/v1": "no valid host",
    "http://300.1.1.1/v1": "no valid host",
    "http://1.2.3/v1": "no valid host",
    f"http://{'x' * 64}/v1": "no valid host",
    f"http://{'x.' * 5000}x/v1": "no valid host",
    "http://x/v1\\chat": "a backslash",
    " http://x/v1": "a space or an invisible character",
    "http://x/v1 ": "a space or an invisible character",
    "http://x/\u200b": "a space or an invisible character",
    "http://x\n/v1": "a space or an invisible character",
    "  ": "a space or an invisible character",
    "http://[::1/v1": "is not a URL",
    "http://x y/v1": "a space or an invisible character",
    "https://x/v1?key=1": "a query or fragment",
    "https://x/v1/chat/completions": "'/chat/completions', which is added",
    "https://x/v1/embeddings/": "'/embeddings', which is added",
}


@pytest.mark.parametrize("section", ["model", "web", "search"])
@pytest.mark.parametrize("url", GOOD)
def test_an_address_is_taken_as_it_is(section: str, url: str) -> None:
    assert parse_settings({section: {"baseUrl": url}}).problems == ()


@pytest.mark.parametrize("section", ["model", "web", "search"])
@pytest.mark.parametrize("url", BAD)
def test_a_slip_is_reported_once_and_the_address_is_kept(section: str, url: str) -> None:
    parsed = parse_settings({section: {"baseUrl": url}})
    [problem] = parsed.problems
    assert problem.key == f"{section}.baseUrl"
    assert problem.message.startswith(f"setting '{section}.baseUrl' is invalid: it ")
    assert BAD[url] in problem.message
    # Without it, another server would be sent what was meant for this one.
    assert getattr(parsed.settings, section).base_url == url
