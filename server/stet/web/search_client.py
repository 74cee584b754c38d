"""Send queries to a search API, and explain its refusals.

The HTTP client is that of the `openai` package, with the proxies of the environment as for the
model, since the user has chosen the address. Each search has a new client and keeps no state.

Sources for refusals, as published in 2025 and 2026: OpenAI, Error codes
(developers.openai.com/docs/guides/error-codes) and the types of the `openai` package; Brave, API
reference, responses 400 to 429 (api-dashboard.search.brave.com), with bodies quoted in public bug
reports of its users; Tavily, Errors Code (help.tavily.com); Serper documents no errors: its users
report the bodies 403 `{"message": "Unauthorized.", "statusCode": 403}` and 400
`{"message": "Not enough credits", …}`.
"""

import asyncio
import logging
import re
from collections.abc import Mapping
from typing import Any

import httpx2

from stet.text.bounded_input import ACCEPTED, ContentDecoder, InvalidContentCoding, parse_bounded
from stet.web.search_formats import (
    SearchEndpoint,
    SearchRequest,
    WebSearchAnswer,
    build_request,
    parse_answer,
)
from stet.web.untrusted_text import strip_to_line
from stet.web.web_address import WebError

_SPENT_STATUSES = frozenset({402, 432, 433})
"""Payment required; Tavily's limits of the plan and of pay-as-you-go."""
_SPENT = re.compile(r"(?i)\b(?:quota|credits?|credit_balance_exhausted)\b|insufficient_quota")
_KEY = re.compile(r"invalid_api_key|subscription_token", re.IGNORECASE)


def _advice(key_env: str, status: int, code: str, message: str) -> str:
    """Return advice about a refusal.

    Args:
        key_env: The variable that holds the key.
        status: The HTTP status.
        code: The code of the error; "" if there is none.
        message: The message of the error; "" if there is none.
    """
    if status in {401, 403} or _KEY.search(code):
        return f"The user must check the key in {key_env}. Go on without it."
    # OpenAI answers 429 both for a spent account and for its rate limit; Brave's code names its
    # rate limit. If the paid quota is used up, waiting does not help.
    if status in _SPENT_STATUSES or (status < 500 and _SPENT.search(f"{code} {message}")):
        account = f"the account that the key in {key_env} belongs to"
        return (
            f"The user must look at {account}: what it may be asked is used up. Go on without it."
        )
    if status == 429:
        return "It has been asked too often; wait before the next search, or go on without it."
    return "Go on without it."


def _parse_error(response: object) -> tuple[str, str]:
    """Return the code (of OpenAI and Brave) and the message of an API's error, or ""."""
    if not isinstance(response, Mapping):
        return "", ""
    # The message itself, an object around the message, or the whole answer.
    detail = next((response[key] for key in ("error", "detail") if response.get(key)), response)
    code: object = ""
    if isinstance(detail, Mapping):
        code = detail.get("code")
        keys = ("message", "detail", "error", "reason")
        detail = next((detail[key] for key in keys if detail.get(key)), "")
    return code if isinstance(code, str) else "", detail if isinstance(detail, str) else ""


SECONDS = 30.0
OPENAI_SECONDS = 120.0
"""The limit for OpenAI, whose model reads the pages before it answers."""

MAX_BYTES = 4_000_000
_MAX_MESSAGE = 300

# These libraries log whole addresses, with queries that must not be in the log.
for _name in ("httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


async def search_web(endpoint: SearchEndpoint, query: str, limit: int) -> WebSearchAnswer:
    """Return the answer of a search API to a query.

    Raises:
        WebError: If the API can't be reached, refuses, or sends another kind of answer.
    """
    seconds = OPENAI_SECONDS if endpoint.provider == "openai" else SECONDS
    try:
        async with asyncio.timeout(seconds):
            status, raw = await _send(endpoint, build_request(endpoint, query, limit))
    except TimeoutError as error:
        raise _failure_error(endpoint, f"did not answer within {seconds:g} s") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        reason = str(error) or type(error).__name__
        raise _failure_error(endpoint, f"can't be reached ({reason})") from error
    response = _parsed(raw)
    if status != 200:
        raise _refusal_error(endpoint, status, response)
    if response is None:
        raise _failure_error(endpoint, "answered with something that is not a JSON object")
    if response.get("status") in {"failed", "incomplete"}:
        reasons = (_parse_error(part)[1] for part in (response, response.get("incomplete_details")))
        reason = _short(endpoint, next(filter(None, reasons), "it says no reason"))
        raise _failure_error(endpoint, f"did not finish the search ({reason})")
    return parse_answer(endpoint.provider, response)


async def _send(endpoint: SearchEndpoint, request: SearchRequest) -> tuple[int, bytes]:
    """Send the request and return the status and the body of the answer."""
    # The client reads certificates when it is created.
    trust_env = not endpoint.is_loopback
    client = await asyncio.to_thread(httpx2.AsyncClient, trust_env=trust_env, timeout=None)
    headers, params = {**request.headers, "accept-encoding": ACCEPTED}, request.params or None
    answer = client.stream(
        request.method, request.url, headers=headers, params=params, json=request.body
    )
    async with client, answer as response:
        body = bytearray()
        try:
            decoder = ContentDecoder(response.headers.get("content-encoding", ""))
            async for raw in response.aiter_raw():
                for piece in decoder.feed(raw):
                    body += piece
                    if len(body) > MAX_BYTES:
                        raise _failure_error(endpoint, f"answered with more than {MAX_BYTES} bytes")
                    await asyncio.sleep(0)  # decompressed pieces arrive without a wait
            decoder.finish()
        except InvalidContentCoding as error:
            raise _failure_error(endpoint, f"answered with a body that {error}") from error
        return response.status_code, bytes(body)


def _parsed(raw: bytes) -> Mapping[str, Any] | None:
    try:
        response = parse_bounded(raw)
    except ValueError:
        return None
    return response if isinstance(response, Mapping) else None


def _refusal_error(endpoint: SearchEndpoint, status: int, response: object) -> WebError:
    code, message = _parse_error(response)
    detail = f": {_short(endpoint, message).rstrip('.')}" if message else ""
    advice = _advice(endpoint.key_env, status, code, message)
    return WebError(
        f"The search API {endpoint.provider} refuses (status {status}){detail}. {advice}"
    )


def _failure_error(endpoint: SearchEndpoint, what: str) -> WebError:
    problem = f"The search API {endpoint.provider} {_short(endpoint, what)}."
    return WebError(f"{problem} Try once more, or go on without.")


def _short(endpoint: SearchEndpoint, message: str) -> str:
    return strip_to_line(endpoint.redact_key(message), _MAX_MESSAGE)
