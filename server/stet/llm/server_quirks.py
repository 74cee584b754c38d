"""What a server turns out not to understand, learnt from its refusal and remembered.

Providers name the parameter they refuse in the text of a 400; the optional ones can be left out or
renamed, and the round goes on without a word to the user.
"""

import re
from collections.abc import Mapping
from typing import Any

from stet.llm.retry import AttemptFailure

_CAPS = ("max_tokens", "max_completion_tokens")
_DROPPABLE = {
    "stream_options": re.compile(r"stream_options|include_usage|stream options"),
    "temperature": re.compile(r"temperature"),
    "stop": re.compile(r"""['"`]stop['"`]"""),
    "cache_prompt": re.compile(r"cache_prompt"),
}
_BAD_REQUEST = {400, 422}
_USER_AFTER_RESULT = re.compile(r"role '?user'? after role '?tool", re.IGNORECASE)
_BETWEEN = {"role": "assistant", "content": "Understood."}
"""Said between a result and the user's next words, where a server refuses these side by side."""


class ServerQuirks:
    """One server's.

    Args:
        max_tokens_field: What its preset calls the cap on an answer.
    """

    def __init__(self, max_tokens_field: str) -> None:
        self._max_tokens_field = max_tokens_field
        self._cap_renamed = False
        self._dropped: set[str] = set()
        self._answers_between = False

    def adapt(self, body: dict[str, Any]) -> dict[str, Any]:
        """`body` as this server takes it."""
        mended = {key: value for key, value in body.items() if key not in self._dropped}
        if "max_tokens" in mended and self._max_tokens_field != "max_tokens":
            mended[self._max_tokens_field] = mended.pop("max_tokens")
        if self._answers_between:
            mended["messages"] = _with_answers_between(mended["messages"])
        return mended

    def learn(self, failure: AttemptFailure, sent: Mapping[str, Any]) -> bool:
        """Whether the failure of `sent` taught something, so that the round can go on at once."""
        if failure.status not in _BAD_REQUEST:
            return False
        if "tool_choice" in sent:  # older models and other servers behind the name don't know it
            self._dropped.add("tool_choice")
            return True
        if self._learn_cap(failure.detail, sent):
            return True
        if _USER_AFTER_RESULT.search(failure.detail) and not self._answers_between:
            self._answers_between = True
            return True
        for name, pattern in _DROPPABLE.items():
            if name in sent and pattern.search(failure.detail.lower()):
                self._dropped.add(name)
                return True
        return False

    def _learn_cap(self, detail: str, sent: Mapping[str, Any]) -> bool:
        """The cap has two names in the world; a server that refuses one is given the other, once."""
        refused = self._max_tokens_field
        if self._cap_renamed or refused not in sent or refused not in detail:
            return False
        self._cap_renamed = True
        self._max_tokens_field = next(cap for cap in _CAPS if cap != refused)
        return True


def _with_answers_between(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for message in messages:
        if found and found[-1]["role"] == "tool" and message["role"] == "user":
            found.append(_BETWEEN)
        found.append(message)
    return found
