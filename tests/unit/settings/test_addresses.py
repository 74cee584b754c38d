"""A base URL that can't be followed is reported when it is read, with what to write."""

import pytest

from stet.settings.parse import parse

GOOD = (
    "",
    "http://127.0.0.1:11434/v1",
    "https://api.example/v1/",
    "http://[::1]:8080/v1",
    "https://r.openai.azure.com",
)
BAD = {
    "localhost:11434/v1": "no http address",
    "127.0.0.1": "no http address",
    "ftp://x/v1": "no http address",
    "http://": "no http address",
    "http://x:port/v1": "no address",
    "http://[::1/v1": "no address",
    "http://x y/v1": "a blank",
    "https://x/v1?key=1": "leave that out",
    "https://x/v1/chat/completions": "'/chat/completions', which is added",
    "https://x/v1/embeddings/": "'/embeddings', which is added",
}


@pytest.mark.parametrize("section", ["model", "web", "search"])
@pytest.mark.parametrize("url", GOOD)
def test_an_address_is_taken_as_it_is(section: str, url: str) -> None:
    assert parse({section: {"baseUrl": url}}).problems == ()


@pytest.mark.parametrize("section", ["model", "web", "search"])
@pytest.mark.parametrize("url", BAD)
def test_a_slip_is_reported_once_and_the_address_is_kept(section: str, url: str) -> None:
    parsed = parse({section: {"baseUrl": url}})
    [problem] = parsed.problems
    assert problem.key == f"{section}.baseUrl"
    assert problem.message.startswith(f"setting '{section}.baseUrl' can't be followed: it ")
    assert BAD[url] in problem.message
    # Without it, another server would be sent what was meant for this one.
    assert getattr(parsed.settings, section).base_url == url
