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


class RefusalReason(Enum):
    """Why a search was refused."""

    KEY = "key"
    SPENT = "spent"
    """What was paid for is used up: waiting does not help."""
    HASTE = "haste"
    OTHER = "other"


def classify_refusal(status: int, response: object) -> RefusalReason:
    """What a refusal means.

    Args:
        status: The HTTP status.
        response: The body, if it was JSON.
    """
    code, message = _error_code(response), error_message(response)
    if status in {401, 403} or _KEY.search(code):
        return RefusalReason.KEY
    # OpenAI reports both a spent account and haste as 429, Brave names its rate limit by its code.
    if status in _SPENT_STATUSES or (status < 500 and _SPENT.search(f"{code} {message}")):
        return RefusalReason.SPENT
    return RefusalReason.HASTE if status == 429 else RefusalReason.OTHER


def error_message(response: object) -> str:
    """The sentence in an answer that reports an error, as each of the four words it; "" if none."""
    if not isinstance(response, Mapping):
        return ""
    detail = _error_detail(response)
    if isinstance(detail, Mapping):
        detail = next(
            (detail[key] for key in ("message", "detail", "error", "reason") if detail.get(key)), ""
        )
    return detail if isinstance(detail, str) else ""


def _error_detail(response: Mapping[str, object]) -> object:
    """What holds an error's sentence: it, an object around it, or the answer itself."""
    return next((response[key] for key in ("error", "detail") if response.get(key)), response)


def _error_code(response: object) -> str:
    """The error's code, by OpenAI and Brave; "" if there is none."""
    detail = _error_detail(response) if isinstance(response, Mapping) else None
    code = detail.get("code") if isinstance(detail, Mapping) else None
    return code if isinstance(code, str) else ""
