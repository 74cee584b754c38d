"""Recognises that a server has no tool calls for its model, in the words it refuses them with.

Some servers say so. Others complain about what the tools did to them: a parameter that is unknown, a
chat template that can't be rendered. The words of the latter may also have another cause, so that
they count only while no call has worked.
"""

import re
from enum import Enum


class ToolRefusal(Enum):
    """What a refusal says of tool calls."""

    NONE = "none"
    """Nothing."""
    POSSIBLE = "possible"
    """That the request may be taken without tools."""
    CERTAIN = "certain"
    """That the model, or its server, has no tool calls."""


_TOOLS = re.compile(
    r"(?<![\w.])(?:tools?|tool[ _-](?:use|choice|calls?|calling|parameters?)"
    r"|functions|function[ _-]call(?:s|ing)?)(?!\w|[\[.]\w)",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"not (?:(?:yet|currently|fully|been) )*"
    r"(?:supported|enabled|permitted|allowed|implemented|available|recogni[sz]ed)"
    r"|(?:do|does|did|has|have)(?: not|n[o']t) (?:(?:yet|currently|fully) )*(?:support|have|allow)"
    r"|can(?: ?not|'t) (?:use|call|handle)|unsupported|no support|unrecogni[sz]ed"
    r"|un(?:known|expected) (?:keyword|argument|param|field|key|name|property)|extra[ _](?:fields|inputs|forbidden)|no endpoints|disabled"
    r"|--(?:jinja|enable-auto-tool-choice|tool-call)|only .{1,200} support",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(r"at <\.tools>", re.IGNORECASE)
_NEAR = 60
"""Characters between what is refused and that it is."""
_GENERATION = re.compile(
    # What the model wrote was no call, or one of a tool that there is not: tools are understood.
    r"tool_use_failed|failed_generation|tool call validation|failed to call a function"
    r"|pars(?:e|ing) tool[ _]call|not in request\.tools",
    re.IGNORECASE,
)
_HISTORY = re.compile(
    # About a message of the conversation, or one tool of several.
    r"messages?[\[.]\d|tools?[\[.]\d|tool_call_id|tool_use_id|tool_calls? must be|'tool_calls'"
    r"|tool call id|tool_use` ids|function\.(?:name|arguments)",
    re.IGNORECASE,
)
_POSSIBLE = re.compile(
    r"jinja|chat[ _]template|roles? must alternate|role.{0,40}supported|functions?\b", re.IGNORECASE
)
_REFUSING = {400, 404, 405, 415, 422, 501}
_MAX_LOOKED_AT = 4_000
"""Characters: a traceback may be long, and what matters stands at its beginning or its end."""


def tool_refusal(detail: str, status: int) -> ToolRefusal:
    """Return what a provider's words say of tool calls.

    Args:
        detail: Its message, with code, type and parameter.
        status: The HTTP status, or 0 where there was none.
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
    """Whether tools and a refusal stand near each other, in one sentence."""
    tools = [found.span() for found in _TOOLS.finditer(detail)]
    refused = [found.span() for found in _REFUSED.finditer(detail)]
    return any(
        max(tool[0], other[0]) - min(tool[1], other[1]) <= _NEAR
        and not re.search(r"\. |\n", detail[min(tool[1], other[1]) : max(tool[0], other[0])])
        for tool in tools
        for other in refused
    )
