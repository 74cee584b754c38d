"""Each search API is asked, and understood, as its documentation has it."""

from typing import Any, Literal

import pytest

from stet.web.search_client import search_web
from stet.web.search_formats import SearchEndpoint, WebHit, WebSearchAnswer, build_request
from stet.web.web_address import WebError
from tests.support.search_apis import BRAVE, OPENAI, SERPER, TAVILY
from tests.support.web_server import WebReply, WebServer, found, moved

KEY = "key-secret-0123456789"
Provider = Literal["openai", "serper", "brave", "tavily"]
PATHS: dict[Provider, str] = {
    "openai": "/responses",
    "serper": "/search",
    "brave": "/web/search",
    "tavily": "/search",
}


async def ask(provider: Provider, reply: WebReply, server: WebServer) -> WebSearchAnswer:
    server.pages[f"/base{PATHS[provider]}"] = reply
    endpoint = SearchEndpoint(provider, server.url("/base"), KEY, "THE_KEY")
    return await search_web(endpoint, "fried fish & chips", 3)


async def test_openai_search() -> None:
    async with WebServer() as server:
        answer = await ask("openai", found(OPENAI), server)
    assert answer == WebSearchAnswer(
        (
            WebHit("https://fish.example/fry?utm_source=openai", "Frying fish"),
            WebHit("https://chips.example/"),
            WebHit("https://fish.example/fry"),
        ),
        "Fry it hot ([fish.example](https://fish.example/fry?utm_source=openai)).",
    )
    [got] = server.asked
    assert (got.method, got.path) == ("POST", "/base/responses")
    assert got.headers["authorization"] == f"Bearer {KEY}"
    instructions = got.body.pop("instructions")
    assert instructions.startswith("Search the web")
    assert got.body == {
        "model": "gpt-6-astra",
        "input": "fried fish & chips",
        "tools": [{"type": "web_search"}],
        "tool_choice": "required",
        "include": ["web_search_call.action.sources"],
        "store": False,
    }


async def test_serper_search() -> None:
    async with WebServer() as server:
        answer = await ask("serper", found(SERPER), server)
    assert answer == WebSearchAnswer(
        (
            WebHit("https://fish.example/fry", "Frying fish", "At 180 degrees."),
            WebHit("https://chips.example/", "Chips", "Cut them thick."),
        ),
        "180 °C",
    )
    [got] = server.asked
    assert (got.method, got.path) == ("POST", "/base/search")
    assert got.headers["x-api-key"] == KEY
    assert got.body == {"q": "fried fish & chips", "num": 3}


async def test_brave_search() -> None:
    async with WebServer() as server:
        answer = await ask("brave", found(BRAVE), server)
    assert answer == WebSearchAnswer(
        (
            WebHit("https://fish.example/fry", "Frying fish & more", "It's at 180 degrees."),
            WebHit("https://chips.example/", "Chips"),
        )
    )
    [got] = server.asked
    assert (got.method, got.body) == ("GET", None)
    assert got.path == "/base/web/search?q=fried+fish+%26+chips&count=3&text_decorations=false"
    assert got.headers["x-subscription-token"] == KEY
    assert got.headers["accept"] == "application/json"


async def test_brave_gets_at_most_the_words_it_accepts() -> None:
    words = [f"w{n}" for n in range(60)]
    request = build_request(
        SearchEndpoint("brave", "https://x", KEY, "THE_KEY"), " ".join(words), 3
    )
    assert request.params["q"] == " ".join(words[:50])


async def test_answer_of_serper_may_have_no_page() -> None:
    found_box = {"answerBox": {"title": "Now", "snippet": "It is noon."}, "organic": []}
    async with WebServer() as server:
        assert await ask("serper", found(found_box), server) == WebSearchAnswer((), "It is noon.")


async def test_tavily_search() -> None:
    async with WebServer() as server:
        answer = await ask("tavily", found(TAVILY), server)
    assert answer == WebSearchAnswer(
        (WebHit("https://fish.example/fry", "Frying fish", "At 180 degrees."),)
    )
    [got] = server.asked
    assert (got.method, got.path) == ("POST", "/base/search")
    assert got.headers["authorization"] == f"Bearer {KEY}"
    assert got.body == {"query": "fried fish & chips", "max_results": 3, "search_depth": "basic"}


ERRORS: list[tuple[Provider, int, object, str]] = [
    (
        "openai",
        401,
        {"error": {"message": "Incorrect API key provided.", "type": "x", "code": "invalid"}},
        r"refuses \(status 401\): Incorrect API key provided\. The user must check .* THE_KEY",
    ),
    ("serper", 403, {"message": "Unauthorized.", "statusCode": 403}, "Unauthorized.*THE_KEY"),
    (
        "brave",
        422,
        {
            "type": "ErrorResponse",
            "error": {
                "id": "5d832250",
                "code": "SUBSCRIPTION_TOKEN_INVALID",
                "detail": "The provided subscription token is invalid.",
                "status": 422,
                "meta": {"component": "authentication"},
            },
            "time": 1663072993,
        },
        "The provided subscription token is invalid.*THE_KEY",
    ),
    (
        "tavily",
        401,
        {"detail": {"error": "Unauthorized: missing or invalid API key."}},
        "missing or invalid API key.*THE_KEY",
    ),
    ("tavily", 429, {"detail": {"error": "Too many requests"}}, "asked too often"),
    (
        "tavily",
        432,
        {"detail": {"error": "This request exceeds your plan's set usage limit."}},
        "set usage limit. The user must look at the account .* THE_KEY .* used up",
    ),
    ("tavily", 433, {"detail": {"error": "This exceeds the pay-as-you-go limit."}}, "used up"),
    ("serper", 400, {"message": "Not enough credits", "statusCode": 400}, "credits. .* used up"),
    (
        "openai",
        429,
        {
            "error": {
                "message": "You exceeded your current quota, please check your plan.",
                "type": "insufficient_quota",
                "param": None,
                "code": "insufficient_quota",
            }
        },
        "used up",
    ),
    (
        "openai",
        429,
        {
            "error": {
                "message": "Rate limit reached for requests",
                "type": "requests",
                "code": "rate_limit_exceeded",
            }
        },
        "asked too often",
    ),
    (
        "brave",
        429,
        {
            "type": "ErrorResponse",
            "error": {
                "id": "1",
                "status": 429,
                "detail": "Request rate limit exceeded for plan",
                "meta": {"plan": "Free", "rate_limit": 1, "quota_limit": 2000},
                "code": "RATE_LIMITED",
            },
            "time": 1773685964,
        },
        "rate limit exceeded for plan. It has been asked too often",
    ),
    (
        "brave",
        422,
        {
            "type": "ErrorResponse",
            "error": {
                "id": "1",
                "status": 422,
                "code": "VALIDATION",
                "detail": "Unable to validate request parameter(s)",
                "meta": {},
            },
        },
        r"parameter\(s\)\. Go on without it\.$",
    ),
    (
        "openai",
        200,
        {
            "status": "incomplete",
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"},
        },
        r"did not finish the search \(max_output_tokens\)",
    ),
    ("openai", 500, {"error": {"message": f"bad {KEY}"}}, r"bad \[key\]\. Go on without"),
    ("serper", 500, ["what"], r"refuses \(status 500\)\. Go on"),
    ("openai", 200, {"status": "failed", "error": {"message": "no"}}, r"did not finish .*\(no\)"),
    ("serper", 200, ["what"], "not a JSON object"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("provider", "status", "body", "message"), ERRORS)
async def test_error_is_reported_with_the_text_of_the_api(
    provider: Provider, status: int, body: object, message: str
) -> None:
    async with WebServer() as server:
        with pytest.raises(WebError, match=message) as raised:
            await ask(provider, found(body, status), server)
    assert KEY not in str(raised.value)


async def test_the_key_does_not_follow_a_redirect() -> None:
    async with WebServer() as server, WebServer() as canary:
        with pytest.raises(WebError, match="status 302"):
            await ask("serper", moved(canary.url("/")), server)
        assert canary.asked == []


async def test_an_answer_without_an_end_is_cut_off() -> None:
    async with WebServer() as server:
        endless = WebReply(200, {}, [b"x" * 65536], length=-1, endless=True)
        with pytest.raises(WebError, match="more than 4000000 bytes"):
            await ask("serper", endless, server)


async def test_closed_port_is_reported() -> None:
    endpoint = SearchEndpoint("brave", "http://127.0.0.1:9", KEY)
    with pytest.raises(WebError, match="brave can't be reached"):
        await search_web(endpoint, "x", 1)


@pytest.mark.slow
@pytest.mark.parametrize("provider", list(PATHS))
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"output": None, "organic": "x", "web": [], "results": {}},
        {"output": [{"content": 1, "action": "x"}, 2], "organic": [1, {"link": 2}], "web": 3},
        {"web": {"results": [None, {"url": ["x"]}]}, "results": [{"url": 1}], "answerBox": 4},
    ],
)
async def test_answer_of_another_form_is_empty(provider: Provider, body: Any) -> None:
    async with WebServer() as server:
        assert await ask(provider, found(body), server) == WebSearchAnswer(())
