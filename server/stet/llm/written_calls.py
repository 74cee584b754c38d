"""Tool calls that a model wrote as text, read as calls.

Open models are trained on many forms of calls, and a server that does not know a model's form hands
the call on as text. Read are:

- JSON objects in a tag (`<tools>`, `<tool_call>`, `<function_call>`), after a control token
  (`[TOOL_CALLS]`, `<|python_tag|>`), in a fenced block, or bare on lines of their own; several in a
  row or in a list. Doubled braces, raw line feeds and unescaped quotes in strings, a comma before a
  closing bracket and missing closing brackets are accepted, and so is an object without a name if its
  keys fit one tool;
- elements: `<function=NAME><parameter=KEY>`, `<invoke name="NAME">`, `<arg_key>` and `<arg_value>`;
- Python: `read_file(file="a.py")`, alone, in a list or in `print`.

Outside a tag only a valid call of an offered tool counts, because an answer may quote JSON.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from stet.llm.api_format import match_tool
from stet.llm.completion_stream import new_call_id
from stet.llm.model import ToolCall, ToolDefinition

MAX_READ = 120_000
"""The most characters of an answer that are searched for calls."""
_TAGS = "tools|tool_calls?|function_calls?|tool_use|tool_request"
_FENCE = re.compile(
    r"^[ ]{0,3}(?P<fence>```+|~~~+)[ \t]*(?P<language>[\w+-]*)[ \t]*\n(?P<body>.*?)"
    r"(?:^[ ]{0,3}(?P=fence)[ \t]*$\n?|\Z)",
    re.DOTALL | re.MULTILINE,
)
CODE_LANGUAGES = frozenset(
    (
        *("", "json", "json5", "jsonc", "xml", "python", "py", "text", "plaintext"),
        *("tool", "tools", "tool_call", "tool_calls", "tool_code", "function_call"),
    )
)
"""The languages of fenced blocks that are searched for calls."""
_OPENING = re.compile(rf"<(?P<tag>{_TAGS})>[ \t]*\n?")
_UNREAD = re.compile(rf"^[ \t]*<(?:{_TAGS})>", re.MULTILINE)
_MAY_CALL = re.compile(r"[{(\[]|<\w")
_CLOSING_TAG = re.compile(rf"\s*</(?P<tag>{_TAGS})>")
_TOKEN = (
    rf"</?(?:{_TAGS}|function|invoke)>|<\|[^|>\n]{{1,60}}\|>|<\uff5c[^\uff5c>\n]{{1,60}}\uff5c>"
    r"|\[/?(?:AVAILABLE_TOOLS|TOOL_CALLS?|TOOL_REQUEST|tool_calls?)\]"
)
_CONTROL = re.compile(_TOKEN)
"""A tag or control token around calls."""
_BETWEEN = re.compile(rf"(?:[\s,;]|{_TOKEN})+")
_NAME_BEFORE = re.compile(
    rf"(?:(?:function|commentary|analysis|assistant|to=|{_TOKEN})\s*)*"
    r"(?:functions?[.:])?(?P<name>[A-Za-z_][\w-]{0,60})(?::\d{1,3})?\s*"
    rf"(?:(?:json|{_TOKEN}|```(?:json)?)\s*)*(?=\{{)"
)
_CLOSING_FENCE = re.compile(r"\s*```")
_LINE_VALUE = re.compile(r"^[ \t]*(?=[\[{])", re.MULTILINE)
_ELEMENT = re.compile(
    rf"(?:<(?:{_TAGS})>\s*)?<(?:function=|invoke name=)[\"']?(?P<name>[\w.-]{{1,60}})[\"']?>"
    rf"(?P<body>.*?)(?:</(?:function|invoke)>(?:\s*</(?:{_TAGS})>)?|\Z)",
    re.DOTALL,
)
_PARAMETER = re.compile(
    r"<parameter(?:=| name=)[\"']?(?P<key>\w{1,60})[\"']?>(?P<value>.*?)</parameter>", re.DOTALL
)
_KEYED_ELEMENT = re.compile(
    r"<tool_call>\s*(?P<name>[\w.-]{1,60})\s*(?P<body><arg_key>.*?)(?:</tool_call>|\Z)", re.DOTALL
)
_KEYED = re.compile(
    r"<arg_key>\s*(?P<key>\w{1,60})\s*</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>", re.DOTALL
)
_NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name", "recipient_name", "action")
_ARGUMENT_KEYS = (
    *("arguments", "parameters", "args", "params", "kwargs", "input"),
    *("tool_input", "action_input"),
)
_WRAPPERS = ("function", "tool_call", "function_call")
_LISTS = ("tool_calls", "calls", "tools")
_OTHER_KEYS = frozenset({"id", "type", "index"})
_CLOSING = {"{": "}", "[": "]"}
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
MAX_VALUES = 40
"""The most places of an answer that are read as JSON: each may extend to the end of the answer."""
MAX_MISSING = 3
"""The most closing brackets that may be missing at the end of an answer."""


class WrittenCalls(NamedTuple):
    """What an answer says besides its calls, and the calls.

    Attributes:
        text: The answer without the calls; all of it if it has none.
        calls: The calls in order; their arguments are JSON objects.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class _Span:
    """A part of an answer that consists of calls; half-open, in code points."""

    start: int
    end: int
    calls: tuple[ToolCall, ...]


def read_written_calls(
    answer: str, tools: Sequence[ToolDefinition], *, is_cut: bool = False
) -> WrittenCalls:
    """Return the calls that an answer makes as text, and the text without them.

    Args:
        answer: The whole answer.
        tools: The offered tools; without tools nothing is a call.
        is_cut: Whether the answer ended for lack of tokens: an incomplete call is no call.

    Returns:
        All calls, or none if a tag contains anything else: half an answer may do harm.
    """
    if not tools or len(answer) > MAX_READ or not _MAY_CALL.search(answer):
        return WrittenCalls(answer)
    spans = list(_Reader(answer, tools, 0 if is_cut else MAX_MISSING).spans())
    calls = tuple(call for span in spans for call in span.calls)
    text, done = "", 0
    for span in spans:
        text += answer[done : span.start]
        done = span.end
    text += answer[done:]
    if _UNREAD.search(text) or (text.strip() and not calls):
        return WrittenCalls(answer)
    return WrittenCalls(_CONTROL.sub("", text).strip() if spans else answer, calls)


class _Reader:
    """A search of one answer for calls.

    Args:
        answer: The answer.
        tools: The offered tools.
        max_missing: The most closing brackets that may be missing.
    """

    def __init__(self, answer: str, tools: Sequence[ToolDefinition], max_missing: int) -> None:
        self._answer = answer
        self._schemas: dict[str, Mapping[str, Any]] = {tool.name: tool.parameters for tool in tools}
        self._max_missing = max_missing
        self._n_left = MAX_VALUES
        self._may_lack_name = False
        """Whether an object without a name may be a call where no tag marks the call."""

    def spans(self) -> Iterator[_Span]:
        """Yield the parts of the answer that are calls, in order and disjoint."""
        done = 0
        while done < len(self._answer):
            found = [one for one in (self._tagged(done), self._elements(done)) if one]
            found += [one for one in (self._fenced(done), self._bare(done)) if one]
            if not found:
                return
            # Of forms that begin at one place, the longer one contains the other.
            span = min(found, key=lambda one: (one.start, -one.end))
            yield span
            done = span.end

    def _tagged(self, done: int) -> _Span | None:
        """Return the next tag with JSON, which may be empty or contain several calls."""
        for opening in _OPENING.finditer(self._answer, done):
            calls, end = self._values(opening.end())
            closing = _CLOSING_TAG.match(self._answer, end)
            if closing and closing["tag"] == opening["tag"]:
                end = closing.end()
            elif not calls:
                continue
            return _Span(opening.start(), end, calls)
        return None

    def _elements(self, done: int) -> _Span | None:
        """Return the next call whose arguments are elements."""
        for pattern, arguments in ((_ELEMENT, _PARAMETER), (_KEYED_ELEMENT, _KEYED)):
            for found in pattern.finditer(self._answer, done):
                values = {one["key"]: one["value"] for one in arguments.finditer(found["body"])}
                call = self._from_texts(found["name"], values)
                if call is None and (read := _read_value(found["body"].strip())):
                    name = self._tool(found["name"])
                    call = self._checked(name, read[0], is_loose=False) if name else None
                if call:
                    return _Span(found.start(), found.end(), (call,))
        return None

    def _fenced(self, done: int) -> _Span | None:
        """Return the next fenced block that consists of valid calls."""
        for found in _FENCE.finditer(self._answer, done):
            if found["language"].lower() not in CODE_LANGUAGES:
                continue
            self._may_lack_name = not (
                self._answer[: found.start()].strip() and self._answer[found.end() :].strip()
            )
            calls, end = self._values(found.start("body"), is_loose=True)
            if calls and not _CONTROL.sub("", self._answer[end : found.end("body")]).strip():
                return _Span(found.start(), found.end(), calls)
            if calls := self._python(found["body"]):
                return _Span(found.start(), found.end(), calls)
        return None

    def _bare(self, done: int) -> _Span | None:
        """Return the next valid calls that begin on a line of their own or after a token."""
        for token in _CONTROL.finditer(self._answer, done):
            calls, end = self._values(token.end())
            if calls:
                return _Span(token.start(), end, calls)
        for found in _LINE_VALUE.finditer(self._answer, done):
            self._may_lack_name = not self._answer[: found.end()].strip() and _balanced_end(
                self._answer, found.end()
            )[0] >= len(self._answer.rstrip())
            calls, end = self._values(found.end(), is_loose=True)
            line_end = self._answer.find("\n", end)
            rest = self._answer[end : len(self._answer) if line_end < 0 else line_end]
            if calls and not rest.strip():
                return _Span(found.start(), end, calls)
        if not done and (calls := self._python(self._answer)):
            return _Span(0, len(self._answer), calls)
        return None

    def _values(self, start: int, *, is_loose: bool = False) -> tuple[tuple[ToolCall, ...], int]:
        """Return the calls in the JSON values from `start` on, and the end of the last value.

        Args:
            start: The offset in the answer.
            is_loose: Whether no tag or token marks a call here: the arguments must then be valid,
                and an object without a name must be the whole answer or end or begin it in a block.
        """
        calls: list[ToolCall] = []
        end = start
        while self._n_left > 0:
            self._n_left -= 1
            between = _BETWEEN.match(self._answer, end)
            at = between.end() if between else end
            named = _NAME_BEFORE.match(self._answer, at)
            name = self._tool(named["name"]) if named else None
            at = named.end() if named and name else at
            if (read := _read_value(self._answer, at, self._max_missing)) is None:
                break
            value, value_end = read
            if named and name and isinstance(value, dict):
                found = [_call(name, value)]
                if "```" in named[0] and (closing := _CLOSING_FENCE.match(self._answer, value_end)):
                    value_end = closing.end()
            else:
                found = self._from_value(value, is_loose=is_loose)
            if not found:
                break
            calls += found
            end = value_end
        return tuple(calls), end

    def _from_value(self, value: Any, *, is_loose: bool) -> list[ToolCall]:
        """Return the calls that a JSON value makes; none if any part of it is not a call."""
        if isinstance(value, dict):
            value = next(
                (value[key] for key in _LISTS if isinstance(value.get(key), list)), [value]
            )
        calls = [self._from_object(one, is_loose=is_loose) for one in value]
        return [call for call in calls if call] if all(calls) else []

    def _from_object(self, value: Any, *, is_loose: bool) -> ToolCall | None:
        """Return the call that an object makes, or None."""
        if not isinstance(value, dict):
            return None
        value = next((value[key] for key in _WRAPPERS if isinstance(value.get(key), dict)), value)
        for key in _NAME_KEYS:
            if name := self._tool(value.get(key)):
                return self._checked(name, _arguments(value, key), is_loose=is_loose)
        if len(value) == 1:
            [(key, arguments)] = value.items()
            if name := self._tool(key):
                return self._checked(name, arguments, is_loose=is_loose)
        if is_loose and not self._may_lack_name:
            return None
        fitting = [name for name in self._schemas if self._fits(name, value)]
        return _call(fitting[0], value) if len(fitting) == 1 else None

    def _checked(self, name: str, arguments: object, *, is_loose: bool) -> ToolCall | None:
        """Return a call of a known tool; None for the definition of the tool, or unfit arguments."""
        if not isinstance(arguments, dict) or {"type", "properties"} <= arguments.keys():
            return None
        if is_loose and not self._fits(name, arguments):
            return None
        return _call(name, arguments)

    def _fits(self, name: str, arguments: Mapping[str, object]) -> bool:
        """Return whether these are keys of the tool's arguments, with all that are required."""
        schema, given = self._schemas[name], set(arguments)
        return given.issuperset(schema.get("required", ())) and given.issubset(
            schema.get("properties", ())
        )

    def _tool(self, name: object) -> str | None:
        """Return the offered tool that a text names, or None."""
        return match_tool(name, self._schemas) if isinstance(name, str) and name else None

    def _from_texts(self, name: str, values: Mapping[str, str]) -> ToolCall | None:
        """Return a call whose arguments are texts, converted to the types of the tool's schema."""
        tool = self._tool(name)
        if tool is None or (not values and self._schemas[tool].get("required")):
            return None
        known = self._schemas[tool].get("properties", {})
        arguments: dict[str, object] = {}
        for key, text in values.items():
            plain = text.removeprefix("\n").removesuffix("\n")
            is_text = known.get(key, {}).get("type", "string") == "string"
            read = None if is_text else _read_value(f"[{plain}]")
            arguments[key] = read[0][0] if read and read[0] else plain
        return _call(tool, arguments)

    def _python(self, text: str) -> tuple[ToolCall, ...]:
        """Return the calls of a text that is nothing but Python calls of tools."""
        try:
            body = ast.parse(text.strip()).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ()
        calls: list[ToolCall] = []
        for statement in body:
            value = statement.value if isinstance(statement, ast.Expr) else None
            nodes = value.elts if isinstance(value, ast.List) else [value]
            found = [self._from_node(node) for node in nodes]
            if not found or not all(found):
                return ()
            calls += [call for call in found if call]
        return tuple(calls)

    def _from_node(self, node: ast.expr | None) -> ToolCall | None:
        """Return the call of a tool that a Python expression makes, or None."""
        if not isinstance(node, ast.Call):
            return None
        name = ast.unparse(node.func)
        if name == "print" and len(node.args) == 1:
            return self._from_node(node.args[0])
        tool = self._tool(name)
        if tool is None or node.args or any(one.arg is None for one in node.keywords):
            return None
        try:
            arguments = {str(one.arg): ast.literal_eval(one.value) for one in node.keywords}
            return _call(tool, arguments) if self._fits(tool, arguments) else None
        except (ValueError, TypeError, RecursionError):
            return None


def _call(name: str, arguments: Mapping[str, object]) -> ToolCall:
    return ToolCall(new_call_id(), name, json.dumps(arguments, ensure_ascii=False))


def _arguments(value: Mapping[str, Any], name_key: str) -> object:
    """Return the arguments of an object that names a tool: an object, a text of one, or the rest."""
    given = next((value[key] for key in _ARGUMENT_KEYS if key in value), None)
    if isinstance(given, str):
        read = _read_value(given)
        return read[0] if read else None
    if given is not None:
        return given
    return {key: one for key, one in value.items() if key not in {name_key, *_OTHER_KEYS}}


def _read_value(
    text: str, start: int = 0, max_missing: int = MAX_MISSING
) -> tuple[Any, int] | None:
    """Return the object or list at an offset and its end, or None; see the module for its form."""
    if text[start : start + 1] not in _CLOSING:
        return None
    end, missing = _balanced_end(text, start)
    if len(missing) > max_missing:
        return None
    whole = text[start:end] + missing
    for spell in (str, _collapsed, _without_outer, _without_comma, _with_escaped_quotes):
        try:
            value = json.loads(spell(whole), strict=False)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict | list):
            return value, end
    try:
        value = ast.literal_eval(whole)
        json.dumps(value)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    return (value, end) if isinstance(value, dict | list) else None


def _balanced_end(text: str, start: int) -> tuple[int, str]:
    """Return the end of the bracket at an offset, and the closing brackets that are missing."""
    closing: list[str] = []
    at = start
    for found in _JSON_PART.finditer(text, start):
        part, at = found[0], found.end()
        if part in _CLOSING:
            closing.append(_CLOSING[part])
        elif closing and part == closing[-1]:
            closing.pop()
            if not closing:
                return at, ""
    return len(text.rstrip()), "".join(reversed(closing))


_JSON_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)


def _without_outer(text: str) -> str:
    return text[1:-1]


def _without_comma(text: str) -> str:
    """Return a text without commas before closing brackets."""
    return _TRAILING_COMMA.sub(r"\1", text)


_LOOSE_TEXT = re.compile(
    r'(?P<start>"\w{1,40}"\s{0,9}:\s{0,9}")(?P<text>.*?)'
    r'(?P<end>"(?=\s{0,9}(?:,\s{0,9}"\w{1,40}"\s{0,9}:|\}\s{0,9}(?:[}\],]|\Z))))',
    re.DOTALL,
)
_TEXT_START = re.compile(r'"\w{1,40}"\s{0,9}:\s{0,9}"')
_UNESCAPED_QUOTE = re.compile(r'(\\.)|"', re.DOTALL)
MAX_TEXTS = 40
"""The most texts in one value whose quotes are escaped: each is searched for its end."""


def _with_escaped_quotes(text: str) -> str:
    """Return a text with the quotes within its strings escaped, as in code with docstrings.

    A string ends where another key or the end of the object follows.
    """
    if len(_TEXT_START.findall(text)) > MAX_TEXTS:
        return text

    def escaped(found: re.Match[str]) -> str:
        inner = _UNESCAPED_QUOTE.sub(lambda one: one[1] or '\\"', found["text"])
        return f"{found['start']}{inner}{found['end']}"

    return _LOOSE_TEXT.sub(escaped, text)


def _collapsed(text: str) -> str:
    """Return a text with doubled braces outside of strings made single, as in a template."""
    return _DOUBLED.sub(lambda found: found["brace"] or found[0], text)


_DOUBLED = re.compile(r'"(?:[^"\\]|\\.)*"|(?P<brace>[{}])\s*(?P=brace)', re.DOTALL)
