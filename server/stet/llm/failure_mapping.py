"""Map a provider's failure to one sentence for the user and a decision about another attempt.

The functions are pure: no SDK, no network. The provider's message is quoted, shortened, with
control characters and the key removed.

A server whose model has no tool calls is recognised by the words of its refusal. Some servers
report this directly. Others report a consequence: an unknown parameter, a chat template that can't
be rendered. Such a report may have another cause, so it counts only while no call has worked.
"""

import json
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import product
from typing import Any

from stet.llm.model import (
    AnswerTooLong,
    ContextOverflow,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    StreamInterrupted,
    ToolsUnsupported,
)
from stet.llm.model_endpoint import ModelEndpoint
from stet.llm.retry import AttemptFailure, RetryMode


class ToolRefusal(Enum):
    """What a refusal implies about tool calls."""

    NONE = "none"
    """Nothing."""
    POSSIBLE = "possible"
    """The request may be accepted without tools."""
    CERTAIN = "certain"
    """The model, or its server, has no tool calls."""


_TOOLS = re.compile(
    # A path to the field may precede its name: `body.tools`, `$.tools`.
    r"(?i)(?<![\w.])(?:(?:body|request|\$)\.)?"
    r"(?:tools?|tool[ _-](?:use|choice|calls?|calling|parameters?)"
    r"|functions|function[ _-]call(?:s|ing)?)(?!\w|[\[.]\w)"
)
_REFUSED = re.compile(
    r"(?i)not (?:(?:yet|currently|fully|been) )*"
    r"(?:supported|enabled|permitted|allowed|implemented|available|recogni[sz]ed)"
    r"|(?:do|does|did|has|have)(?: not|n[o']t) (?:(?:yet|currently|fully) )*(?:support|have|allow)"
    r"|can(?: ?not|'t) (?:use|call|handle)|unsupported|no support|unrecogni[sz]ed"
    r"|un(?:known|expected) (?:keyword|argument|param|field|key|name|property)|extra[ _](?:fields|inputs|forbidden)|no endpoints|disabled"
    r"|--(?:jinja|enable-auto-tool-choice|tool-call)|only .{1,200} support"
)
_TEMPLATE = re.compile(r"at <\.tools>", re.IGNORECASE)
_NEAR = 60
"""The most characters between a refused parameter and the words of the refusal."""
_GENERATION = re.compile(
    # The model wrote an invalid call, or a call of an unknown tool: the server supports tools.
    r"(?i)tool_use_failed|failed_generation|tool call validation|failed to call a function"
    r"|pars(?:e|ing) tool[ _]call|not in request\.tools"
)
_HISTORY = re.compile(
    # About a message of the conversation, or one tool of several.
    r"(?i)messages?[\[.]\d|tools?[\[.]\d|tool_call_id|tool_use_id|tool_calls? must be|'tool_calls'"
    r"|tool call id|tool_use` ids|function\.(?:name|arguments)"
)
_POSSIBLE = re.compile(
    r"(?i)jinja|chat[ _]template|roles? must alternate|role.{0,40}supported|functions?\b"
)
_REFUSING = {400, 404, 405, 415, 422, 501}
_MAX_LOOKED_AT = 4_000
"""Characters of a message that are read: a traceback's important part is at its start or end."""


def tool_refusal(detail: str, status: int) -> ToolRefusal:
    """Return what a provider's message implies about tool calls.

    Args:
        detail: The message, with code, type and parameter.
        status: The HTTP status, or 0 if there was none.
    """
    if len(detail) > 2 * _MAX_LOOKED_AT:
        detail = f"{detail[:_MAX_LOOKED_AT]} {detail[-_MAX_LOOKED_AT:]}"
    if _GENERATION.search(detail):
        return ToolRefusal.NONE
    if not _HISTORY.search(detail) and (_TEMPLATE.search(detail) or _is_refused(detail)):
        return ToolRefusal.CERTAIN
    is_possible = status in _REFUSING or (status >= 500 and "jinja" in detail.lower())
    if is_possible and (_TOOLS.search(detail) or _POSSIBLE.search(detail)):
        return ToolRefusal.POSSIBLE
    return ToolRefusal.NONE


def _is_refused(detail: str) -> bool:
    """Return whether tools and a refusal occur near each other, in one sentence."""
    for tools, refused in product(_TOOLS.finditer(detail), _REFUSED.finditer(detail)):
        start, end = min(tools.end(), refused.end()), max(tools.start(), refused.start())
        if end - start <= _NEAR and not re.search(r"\. |\n", detail[start:end]):
            return True
    return False


MAX_QUOTE = 300
"""Characters of a provider's message that are shown."""

_OVERFLOW = re.compile(
    r"(?i)context_length_exceeded|maximum (?:context|prompt) length|available context size"
    r"|context window|(?:prompt|input) is too long|too many (?:input )?tokens"
    r"|input token count .*exceeds|exceeds? .{0,40}context (?:length|size)"
    r"|greater than the context length|input tokens exceed|max_new_tokens` must be"
    r"|reduce (?:the length of the (?:messages|prompt)|your prompt)"
    r"|model's context (?:length|limit)|prompt contains \d+ tokens|token limit exceeded"
)
_OUT_OF_CREDIT = re.compile(
    r"(?i)insufficient_quota|insufficient (?:balance|credit)|out of credit|billing_hard_limit"
    r"|credit balance is too low"
)
_OVERLOADED = re.compile(
    r"(?i)overload|server_error|internal_error|rate_limit|too_many_requests|unavailable|timeout"
    r"|temporar|try again"
)
_CERTIFICATE = re.compile(r"certificate[ _]verify[ _]failed", re.IGNORECASE)
_LATER = {408, 409, 425, 429}


def status_failure(
    endpoint: ModelEndpoint, status: int, body: object, retry_after: float | None = None
) -> AttemptFailure:
    """Return the failure for a response whose status is not a success.

    Args:
        endpoint: The endpoint that answered.
        status: The HTTP status.
        body: The decoded JSON, or the text, or None.
        retry_after: The wait that its headers ask for, in seconds.
    """
    words = _words(body)
    error = _status_error(endpoint, status, words)
    is_final = isinstance(error, (ModelRefused, ContextOverflow))
    again = RetryMode.NEVER if is_final else RetryMode.LATER
    return AttemptFailure(error, again, retry_after, status, " / ".join(words))


def stream_failure(endpoint: ModelEndpoint, body: object) -> AttemptFailure:
    """Return the failure for an error object in a stream whose status was a success."""
    words = _words(body)
    detail = " / ".join(words)
    status = _status_in(body)
    if status >= 400:
        failure = status_failure(endpoint, status, body)
    elif known := _known_refusal(endpoint, status, words):
        failure = AttemptFailure(known, detail=detail)
    else:
        message = f"{endpoint.label} returned an error: {_quote(endpoint, words[0])}."
        failure = AttemptFailure(ModelUnavailable(message), RetryMode.LATER, detail=detail)
    if failure.retry_mode is RetryMode.LATER and not _OVERLOADED.search(detail) and status < 500:
        failure.retry_mode = RetryMode.ONCE
    return failure


def interrupted_failure(endpoint: ModelEndpoint, how: str, text: str = "") -> AttemptFailure:
    """Return the failure for an answer that broke off. `how` completes "The answer of X ..."."""
    message = f"The answer of {endpoint.label} {how}; none of it was applied."
    return AttemptFailure(StreamInterrupted(message, text), RetryMode.ONCE)


def too_long_failure(endpoint: ModelEndpoint, text: str) -> AttemptFailure:
    """Return the failure for an answer that Stet broke off because it grew beyond its ceiling."""
    message = (
        f"The answer of {endpoint.label} was cut off: it exceeded the rest of agent.maxTokens; "
        "none of it was applied."
    )
    return AttemptFailure(AnswerTooLong(message, text))


def not_a_model_failure(endpoint: ModelEndpoint, content_type: str) -> AttemptFailure:
    """Return the failure for a success that no model answered."""
    kind = "a web page" if "html" in content_type else repr(content_type or "an unknown type")
    message = (
        f"{endpoint.label} answered with {kind} instead of a model's answer: check "
        f"{endpoint.section}.baseUrl ({_shown_url(endpoint)!r}); it usually ends in /v1."
    )
    return AttemptFailure(ModelRefused(message))


def bad_url_failure(endpoint: ModelEndpoint) -> AttemptFailure:
    """Return the failure for a base URL that is not an http address."""
    message = (
        f"{endpoint.section}.baseUrl {_shown_url(endpoint)!r} is not an http or https address."
    )
    return AttemptFailure(ModelRefused(message))


def unreachable_failure(endpoint: ModelEndpoint, reason: str) -> AttemptFailure:
    """Return the failure for a connection that was refused, or lost before any answer."""
    quote = _quote(endpoint, reason)
    if _CERTIFICATE.search(reason):
        message = (
            f"{endpoint.label} has an untrusted certificate ({quote}): check this machine's "
            f"clock, the proxy and {endpoint.section}.baseUrl. Nothing was sent."
        )
        return AttemptFailure(ModelRefused(message))
    if endpoint.is_loopback:
        what_to_do = f"is the server running? {endpoint.hint}".strip()
    else:
        what_to_do = f"check the network, the proxy and {endpoint.section}.baseUrl"
    message = f"{endpoint.label} could not be reached ({quote}): {what_to_do}"
    end = "" if message[-1] in ".?" else "."
    return AttemptFailure(ModelUnavailable(message + end), RetryMode.LATER)


def timeout_failure(
    endpoint: ModelEndpoint, what: str, seconds: float, again: RetryMode = RetryMode.NEVER
) -> AttemptFailure:
    """Return the failure for silence, or an endless answer. `what` goes between its name and "N
    s".
    """
    return AttemptFailure(ModelTimeout(f"{endpoint.label} {what} {seconds:g} s."), again)


def _status_error(endpoint: ModelEndpoint, status: int, words: Sequence[str]) -> ModelError:
    if known := _known_refusal(endpoint, status, words):
        return known
    quote = _quote(endpoint, words[0])
    if status == 413:
        return _overflow(endpoint)
    if status in _LATER or status >= 500:
        what = "rate limit exceeded" if status == 429 else "failed"
        return ModelUnavailable(f"{endpoint.label} {what} (HTTP {status}): {quote}.")
    if 300 <= status < 400:
        return ModelRefused(
            f"{endpoint.label} redirects (HTTP {status}), which is not followed: set "
            f"{endpoint.section}.baseUrl ({_shown_url(endpoint)!r}) to the final address."
        )
    return ModelRefused(f"{endpoint.label} {_what_to_do(endpoint, status, quote)}")


def _what_to_do(endpoint: ModelEndpoint, status: int, quote: str) -> str:
    """Return what the server did with a request that must not be repeated, and the remedy."""
    key, section = endpoint.key_env or "the environment", endpoint.section
    response = f"(HTTP {status}: {quote})"
    match status:
        case 401 if not endpoint.api_key:
            named = f"an environment variable, and {section}.apiKeyEnv to its name,"
            key = endpoint.key_env or named
            what = f"requires an API key (HTTP 401): set {key} in the editor's environment."
        case 401:
            remedy = f"correct it, or use another variable in {section}.apiKeyEnv."
            what = f"rejected the key in {key} {response}: {remedy}"
        case 403:
            remedy = f"has no access to {endpoint.model!r}; change {section}.name or the key."
            what = f"denied access {response}: the key in {key} {remedy}"
        case 404:
            remedy = f"check {section}.name, and {section}.baseUrl ({_shown_url(endpoint)!r})."
            what = f"has no model {endpoint.model!r} {response}: {remedy}"
        case 407:
            what = f"is behind a proxy that requires a login {response}: check HTTPS_PROXY."
        case _:
            what = f"rejected the request (HTTP {status}): {quote}."
    return what


def _known_refusal(endpoint: ModelEndpoint, status: int, words: Sequence[str]) -> ModelError | None:
    """Return the error for a refusal that is recognized by its words at any status, or None."""
    detail = " / ".join(words)
    if _OVERFLOW.search(detail):
        return _overflow(endpoint)
    if _OUT_OF_CREDIT.search(detail):
        return ModelRefused(
            f"{endpoint.label} reports no credit left on the account: {_quote(endpoint, words[0])}."
        )
    refusal = tool_refusal(detail, status)
    if refusal is ToolRefusal.NONE:
        return None
    return ToolsUnsupported(
        f"The model {endpoint.model!r} of {endpoint.label} does not support tool calls "
        f'({_quote(endpoint, words[0])}): set model.toolCalls to "text".',
        is_certain=refusal is ToolRefusal.CERTAIN,
    )


def _overflow(endpoint: ModelEndpoint) -> ContextOverflow:
    return ContextOverflow(
        f"The conversation exceeds the context window of {endpoint.model!r} ({endpoint.label}): "
        "start a new chat or reduce the context."
    )


def _words(body: object) -> tuple[str, ...]:
    """Return the provider's words in any form: the message, then code, type and parameter."""
    if isinstance(body, list) and body:  # Gemini wraps its error in a list
        return _words(body[0])
    if not isinstance(body, Mapping):
        return ("" if body is None else str(body),)
    inner = body.get("error", body)
    if not isinstance(inner, Mapping):
        return (str(inner),)
    keys = ("message", "detail", "msg", "code", "type", "param", "metadata")
    found = [inner[key] for key in keys if inner.get(key) not in (None, "")]
    words = dict.fromkeys(
        json.dumps(one, default=str) if isinstance(one, list | dict) else str(one) for one in found
    )
    return tuple(words) or (json.dumps(inner, default=str),)


def _status_in(body: object) -> int:
    """Return the HTTP-like status that an error object names, or 0."""
    inner: Any = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(inner, Mapping):
        return 0
    for key in ("code", "status", "status_code"):
        value = str(inner.get(key, ""))
        if re.fullmatch(r"[45]\d\d", value):
            return int(value)
    return 0


def _quote(endpoint: ModelEndpoint, detail: str) -> str:
    """Return a provider's words in a form that may be shown. It has one line, no markup and no
    control characters.
    """
    if re.match(r"\s*<(?:!doctype|html)", detail, re.IGNORECASE):
        return "a web page"
    words = "".join(c if c.isprintable() else " " for c in endpoint.redact_key(detail))
    words = " ".join(words.split()).rstrip(".")
    return (words[:MAX_QUOTE] + "…" if len(words) > MAX_QUOTE else words) or "no reason given"


def _shown_url(endpoint: ModelEndpoint) -> str:
    """Return the address without a user name or password."""
    scheme, _, rest = endpoint.base_url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path.split('?')[0]}"
