"""What a search API means by a refusal, and what is to be done about it: pure functions.

Sources, as published in 2025 and 2026: OpenAI, Error codes (developers.openai.com/docs/guides/
error-codes) and the types of the `openai` package; Brave, API reference, responses 400 to 429
(api-dashboard.search.brave.com), with bodies quoted in public bug reports of its users; Tavily, Errors
Code (help.tavily.com); Serper documents no errors: its bodies are those its users report, 403
`{"message": "Unauthorized.", "statusCode": 403}` and 400 `{"message": "Not enough credits", …}`.
"""

import re
from collections.abc import Mapping
from enum import Enum

_SPENT_STATUSES = frozenset({402, 432, 433})
"""Payment required; Tavily's limits of the plan and of what is paid as one goes."""
_SPENT = re.compile(
    r"\b(?:quota|credits?|credit_balance_exhausted)\b|insufficient_quota", re.IGNORECASE
)
_KEY = re.compile(r"invalid_api_key|subscription_token", re.IGNORECASE)


class Why(Enum):
    """Why a search was refused."""

    KEY = "key"
    SPENT = "spent"
    """What was paid for is used up: waiting does not help."""
    HASTE = "haste"
    OTHER = "other"


def why_refused(status: int, found: object) -> Why:
    """What a refusal means.

    Args:
        status: The HTTP status.
        found: The body, if it was JSON.
    """
    code, message = _code_of(found), message_of(found)
    if status in {401, 403} or _KEY.search(code):
        return Why.KEY
    # OpenAI reports both a spent account and haste as 429, Brave names its rate limit by its code.
    if status in _SPENT_STATUSES or (status < 500 and _SPENT.search(f"{code} {message}")):
        return Why.SPENT
    return Why.HASTE if status == 429 else Why.OTHER


def message_of(found: object) -> str:
    """The sentence in an answer that reports an error, as each of the four words it; "" if none."""
    if not isinstance(found, Mapping):
        return ""
    detail = _detail(found)
    if isinstance(detail, Mapping):
        detail = next(
            (detail[key] for key in ("message", "detail", "error", "reason") if detail.get(key)), ""
        )
    return detail if isinstance(detail, str) else ""


def _detail(found: Mapping[str, object]) -> object:
    """What holds an error's sentence: it, an object around it, or the answer itself."""
    return next((found[key] for key in ("error", "detail") if found.get(key)), found)


def _code_of(found: object) -> str:
    """The error's code, by OpenAI and Brave; "" if there is none."""
    detail = _detail(found) if isinstance(found, Mapping) else None
    code = detail.get("code") if isinstance(detail, Mapping) else None
    return code if isinstance(code, str) else ""
