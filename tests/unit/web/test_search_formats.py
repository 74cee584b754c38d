"""Which search API is asked: only a configured one whose key is there."""

import pytest

from stet.settings.values import WebSettings
from stet.web.search_formats import SearchEndpoint, key_variables, search_endpoint

ALL = {
    "OPENAI_API_KEY": "o",
    "SERPER_API_KEY": "s",
    "BRAVE_SEARCH_API_KEY": "b",
    "TAVILY_API_KEY": "t",
}


@pytest.mark.parametrize(
    ("settings", "environ", "endpoint"),
    [
        (WebSettings(), ALL, None),
        (WebSettings("serper"), {}, None),
        (WebSettings("serper"), {"SERPER_API_KEY": "  "}, None),
        (WebSettings("serper", "MINE"), ALL, None),
        (
            WebSettings("openai"),
            ALL,
            SearchEndpoint("openai", "https://api.openai.com/v1", "o", "OPENAI_API_KEY"),
        ),
        (
            WebSettings("openai"),
            {**ALL, "OPENAI_BASE_URL": "http://127.0.0.1:1/v1/"},
            SearchEndpoint("openai", "http://127.0.0.1:1/v1", "o", "OPENAI_API_KEY"),
        ),
        (
            WebSettings("serper"),
            ALL,
            SearchEndpoint("serper", "https://google.serper.dev", "s", "SERPER_API_KEY"),
        ),
        (
            WebSettings("brave"),
            {"BRAVE_API_KEY": "b"},
            SearchEndpoint("brave", "https://api.search.brave.com/res/v1", "b", "BRAVE_API_KEY"),
        ),
        (
            WebSettings("tavily", "MINE", "http://127.0.0.1:1"),
            {**ALL, "MINE": "m"},
            SearchEndpoint("tavily", "http://127.0.0.1:1", "m", "MINE"),
        ),
    ],
)
def test_an_endpoint_is_chosen(
    settings: WebSettings, environ: dict[str, str], endpoint: SearchEndpoint | None
) -> None:
    assert search_endpoint(settings, environ) == endpoint


def test_the_key_is_in_no_representation() -> None:
    endpoint = search_endpoint(WebSettings("serper"), {"SERPER_API_KEY": "very-secret"})
    assert endpoint is not None
    assert "very-secret" not in repr(endpoint)
    assert key_variables(WebSettings()) == ()
