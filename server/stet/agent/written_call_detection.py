"""Detection of tool calls that a model wrote as text instead of making them.

A model that was trained on another form of calls writes that form into its answer if the provider
does not translate it: tags, fenced or bare JSON, Python calls, ReAct. Such a text is no answer. The
recognised forms are those of the chat templates of open models (Hermes and Qwen, Llama, Mistral,
DeepSeek, Kimi, gpt-oss, Gemma) and of frameworks (ReAct, XML tags named like the tool).
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from stet.agent.turn import THOUGHTS
from stet.llm.api_format import parse_object

Tools = Mapping[str, frozenset[str]]
"""The names of tools, each with the names of its arguments."""

MAX_LOOKED_AT = 60_000
"""The most characters of an answer that are examined."""
_DECODER = json.JSONDecoder()
_MAX_OBJECTS = 20
"""The most places in one part of an answer that are examined as the start of an object."""
_NEAR = 600
"""The most characters between a tag and the name of the tool."""

_FENCE = re.compile(r"^ {0,3}(```+|~~~+)[ \t]*([\w+-]*)[ \t]*$")
_OBJECT = re.compile(r"^[ \t]{0,8}[\[{]", re.MULTILINE)
_TAG = re.compile(
    r"^[ \t]{0,8}(?:"
    r"<\|?/?(?:tool_?calls?|tools|tool|function_?calls?|function|tool_use|tool_code|tool_request|"
    r"invoke|python_tag|channel)(?:[_|= ][^>\n]{0,80})?>"
    r"|<[|\uff5c]tool[^>\n]{0,60}[|\uff5c]>"
    r"|\[(?:TOOL_CALLS?|TOOL_REQUEST|tool_calls?)\]"
    r")",
    re.MULTILINE,
)
_NAMED = re.compile(r'"name"\s{0,20}:\s{0,20}"')
_ARGUMENTS = re.compile(
    r'"(?:arguments|parameters|args|params|kwargs|input|tool_input|action_input)"\s{0,20}:'
)
_NAME_KEYS = "name|tool|tool_name|function|function_name|action|recipient_name"
_FLAT_KEYS = frozenset(_NAME_KEYS.split("|"))
_TOOL_KEYS = frozenset({"tool", "tool_name"})
"""Keys that name a tool and nothing else."""
_ASIDE_KEYS = frozenset({"thought", "thoughts", "reason", "reasoning", "explanation"})
_KIND = re.compile(r"^(?:functions?[.:/]|default_api\.|tools?[.:/])")
_ARGUMENT_KEYS = frozenset({"arguments", "parameters"})
_OTHER_KEYS = frozenset({"id", "type"})
_MIN_KEYS = 3
"""The fewest arguments that identify a tool without its name: fewer may be ordinary data."""


@dataclass(frozen=True, slots=True)
class _AnswerPart:
    """A fenced block of an answer, or the text between two blocks.

    Attributes:
        text: The text of the part, without the fences.
        is_fenced: Whether the part is a fenced block.
        start: The offset of the part in the answer, the fence included; in code points.
        end: The offset of the end of the part.
    """

    text: str
    is_fenced: bool
    start: int
    end: int


def find_written_call(text: str, tools: Tools) -> str | None:
    """Return the tool that an answer calls as text.

    A call in a fenced block counts if the answer begins or ends with the block, or if the call
    would be valid: an answer may also show an example of a call.

    Args:
        text: The answer.
        tools: The available tools, each with the names of its arguments.

    Returns:
        The name of the tool, or "" for an unknown tool; None if the text is not a call.
    """
    answer = THOUGHTS.sub("", text[:MAX_LOOKED_AT]).strip()
    if not answer:
        return None
    forms = _call_patterns(tuple(sorted(tools)))
    for part in _parts(answer):
        name = _call_in(part.text, tools, forms)
        if name is None:
            continue
        is_at_an_end = not answer[: part.start].strip() or not answer[part.end :].strip()
        if not part.is_fenced or is_at_an_end or _is_valid(part.text, tools):
            return name
    return _whole_call(answer)


@dataclass(frozen=True, slots=True)
class _CallPatterns:
    """Patterns that know the tools' names; each captures a name.

    Attributes:
        name: A name inside a tag.
        key: A key of an object that names a tool.
        lines: Forms that are whole lines.
    """

    name: re.Pattern[str]
    key: re.Pattern[str]
    lines: tuple[re.Pattern[str], ...]


@cache
def _call_patterns(names: tuple[str, ...]) -> _CallPatterns:
    name = rf"(?:functions?[.:/]|default_api\.|tools?[.:/])?\b({'|'.join(map(re.escape, names))})\b"
    line = r"^[ \t]{0,8}"
    return _CallPatterns(
        re.compile(name),
        re.compile(rf'"(?:{_NAME_KEYS})"\s{{0,20}}:\s{{0,20}}"{name}"'),
        tuple(
            re.compile(form, re.MULTILINE)
            for form in (
                # <read_file>, followed by its arguments as tags, or with them as attributes.
                rf"{line}<{name}(?:>\s{{0,20}}<\w|\s[^>\n]{{1,2000}}/?>)",
                # {"read_file": {
                rf'{line}[\[{{][\s\[{{]{{0,20}}"{name}"\s{{0,20}}:\s{{0,20}}\{{',
                # Action: read_file, and its arguments on the next line.
                rf"{line}\W{{0,4}}(?i:Action|Tool|Tool call|Tool_name|Function|Function call)\W{{1,6}}{name}"
                r"\W{0,6}\n\W{0,4}(?i:Action.Input|Tool.Input|Arguments|Args|Input|Parameters|"
                r"file|path|query|url|folder|content|old_text)\W{0,4}:",
                # read_file {"file": or functions.read_file:0 {"file": or functions.read_file({"file":
                rf'{line}{name}(?::\d{{1,3}})?[ \t]{{0,4}}[:(]?\s{{0,4}}\{{\s{{0,20}}"\w{{1,40}}"\s{{0,4}}:',
                # read_file(file="a.py"), alone or in a list, or printed
                rf"{line}(?:print\()?[\[(]?{name}\((?:[a-z_]{{1,40}}[ ]?=|\{{)[^\n]{{0,4000}}\)[\])]?;?$",
                # edit_file a.py, with quoted lines below
                rf"{line}{name} \S[^\n]{{0,400}}\n- [^\n]{{0,4000}}\n(?:[-+] [^\n]{{0,4000}}\n?)",
            )
        ),
    )


def _parts(answer: str) -> Iterator[_AnswerPart]:
    """Yield the parts of an answer in order, cut at fences. An unclosed fence extends to the
    end.
    """
    lines: list[str] = []
    fence, start, at = "", 0, 0
    for line in answer.splitlines(keepends=True):
        found = _FENCE.match(line.rstrip("\r\n"))
        at += len(line)
        if found is None or (fence and not (found[1].startswith(fence) and not found[2])):
            lines.append(line)
            continue
        end = at if fence else at - len(line)
        yield _AnswerPart("".join(lines), bool(fence), start, end)
        fence, start, lines = ("" if fence else found[1]), end, []
    yield _AnswerPart("".join(lines), bool(fence), start, at)


def _call_in(text: str, tools: Tools, forms: _CallPatterns) -> str | None:
    """Return the tool that a part of an answer calls, or None if no tool of `tools` is called."""
    for form in forms.lines:
        if found := form.search(text):
            return found[1]
    for tag in _TAG.finditer(text):
        if named := forms.name.search(text, tag.start(), tag.end() + _NEAR):
            return named[1]
    for _, found in zip(range(_MAX_OBJECTS), _OBJECT.finditer(text), strict=False):
        if (named := forms.key.search(text, found.start())) and _ARGUMENTS.search(
            text, found.start()
        ):
            return named[1]
        if name := _flat_call(_first_object(text, found.start()), tools):
            return name
    return _by_arguments(parse_object(text), tools)


def _whole_call(answer: str) -> str | None:
    """Return "" if the whole answer is a call of an unknown tool; None if it is no call."""
    tag = _TAG.match(answer)
    if tag is not None and _NAMED.search(answer, tag.end(), tag.end() + _NEAR):
        return ""
    found = parse_object(answer)
    if found is None or not isinstance(found.get("name"), str):
        return None
    keys = found.keys() - _OTHER_KEYS - {"name"}
    is_call = len(keys) == 1 and keys <= _ARGUMENT_KEYS
    return "" if is_call and isinstance(found[next(iter(keys))], dict) else None


def _is_valid(text: str, tools: Tools) -> bool:
    """Return whether a text is an object that calls a tool with arguments of this tool."""
    found = parse_object(text)
    if found is None:
        return False
    arguments = next((found[key] for key in _ARGUMENT_KEYS if key in found), None)
    name = found.get("name")
    if not isinstance(arguments, dict) or not isinstance(name, str):
        return (_flat_call(found, tools) or _by_arguments(found, tools)) is not None
    return bool(arguments) and arguments.keys() <= tools.get(name, frozenset())


def _flat_call(found: object, tools: Tools) -> str | None:
    """Return the tool that an object names beside the tool's arguments; None if there is none."""
    if isinstance(found, list) and found:
        found = found[0]
    if not isinstance(found, dict):
        return None
    for key in found.keys() & _FLAT_KEYS:
        name = _KIND.sub("", found[key]) if isinstance(found[key], str) else ""
        others = found.keys() - _OTHER_KEYS - _ASIDE_KEYS - {key}
        is_named = key in _TOOL_KEYS and "_" in name
        if others and name in tools and (is_named or others <= tools[name]):
            return name
    return None


def _by_arguments(found: object, tools: Tools) -> str | None:
    """Return the only tool that has all keys of an object as arguments; None if there is none."""
    if not isinstance(found, dict) or len(found) < _MIN_KEYS:
        return None
    fitting = [name for name, arguments in tools.items() if found.keys() <= arguments]
    return fitting[0] if len(fitting) == 1 else None


def _first_object(text: str, start: int) -> object:
    """Return the JSON value that follows the blanks at `start`, or None if there is no value."""
    try:
        return _DECODER.raw_decode(text, start + len(text[start:]) - len(text[start:].lstrip()))[0]
    except (ValueError, RecursionError):
        return None
