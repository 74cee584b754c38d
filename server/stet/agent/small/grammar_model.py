"""The form of the loop's rounds for a small model.

Tool calls are lines instead of JSON, because a small model confuses JSON escapes with the code.

    read_file src/app.py            read_file src/app.py 41-90

    edit_file src/app.py
    -     return a - b
    +     return a + b

    done

The model chooses the tool, the file, the line and the new text. The grammar excludes calls that
would be refused: a file that does not exist, a quote that is not in the file or not unique, an edit
that changes nothing. Its syntax is GBNF, as llama.cpp describes it in `grammars/README.md`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from stet.agent.small.worked_example import PROPOSED, extract_request
from stet.llm.completion_stream import new_call_id
from stet.llm.model import (
    Completion,
    Message,
    Model,
    ModelWrapper,
    Request,
    Sink,
    StopReason,
    ToolCall,
    ignore,
)
from stet.llm.text_protocol import escape_tags
from stet.outline.line_definitions import defined_name
from stet.text.document import TextDocument
from stet.text.lines import without_end
from stet.text.render import counted
from stet.text.spoofing import escape_special_tokens
from stet.tools.tool import ToolContext

MAX_LINES = 60
"""The most lines of one file that are shown."""
MAX_CHARACTERS = 2400
"""The most characters of these lines: about 800 of 4096 tokens; the example takes a third."""
MAX_QUOTE = 160
"""The most characters of a line that the model can copy."""
MAX_LINES_ABOVE = 4
"""The most lines above a line that are added to its quote to make the quote unique."""
LINES_BEFORE = 3
"""The number of lines shown above the place that the question is about."""


@dataclass(frozen=True, slots=True)
class LineWindow:
    """The lines of a file that are shown.

    Attributes:
        document: The file.
        first: The first line, 0-based.
        end: The line after the last one.
    """

    document: TextDocument
    first: int
    end: int

    @property
    def is_whole(self) -> bool:
        """Whether the window has all lines of the file."""
        return self.first == 0 and self.end == self.document.n_lines


@dataclass(frozen=True, slots=True)
class QuotableLine:
    r"""A line that may be changed.

    Attributes:
        above: The lines above that make the quote unique, each with `\n`; usually none.
        indent: The white space at the beginning of the line.
        line: The rest of the line, without line end; never empty.
    """

    above: str
    indent: str
    line: str

    @property
    def unchanged_prefix(self) -> str:
        """The part of the quoted text before the changed part."""
        return self.above + self.indent

    @property
    def text(self) -> str:
        """The whole quoted text."""
        return self.unchanged_prefix + self.line


def window(document: TextDocument, line: int | None, request: str) -> LineWindow:
    """Return the lines to show: all lines, or as many as fit into a small context.

    In a long file they begin above `line` (0-based) if the user has selected one, else above the
    first definition that the request names, else at the beginning.
    """
    total = document.n_lines
    if total <= MAX_LINES and len(document.text) <= MAX_CHARACTERS:
        return LineWindow(document, 0, total)
    place = _named_line(document, request) if line is None else line
    first = max(0, min(place, total - 1) - LINES_BEFORE)
    end, size = first, 0
    while end < min(total, first + MAX_LINES):
        size += len(document.lines[end])
        if size > MAX_CHARACTERS and end > first:
            break
        end += 1
    return LineWindow(document, first, end)


def find_quotes(window: LineWindow) -> tuple[QuotableLine, ...]:
    """Return a quote for each shown line that is not blank or too long and can be made unique."""
    lines = [without_end(line) for line in window.document.lines]
    text = "\n".join(lines)
    found = (_quote(text, lines, n, window.first) for n in range(window.first, window.end))
    return tuple(quote for quote in found if quote is not None)


def _quote(text: str, lines: list[str], n: int, first: int) -> QuotableLine | None:
    whole = lines[n]
    line = whole.lstrip()
    if not line or len(whole) > MAX_QUOTE:
        return None
    indent = whole[: len(whole) - len(line)]
    for start in range(n, max(first, n - MAX_LINES_ABOVE) - 1, -1):
        above = "".join(f"{each}\n" for each in lines[start:n])
        quoted = above + whole
        if text.find(quoted) == text.rfind(quoted):  # overlapping occurrences count
            return QuotableLine(above, indent, line)
    return None


def _named_line(document: TextDocument, request: str) -> int:
    words = set(re.findall(r"\w+", request))
    return next((n for n, line in enumerate(document.lines) if defined_name(line) in words), 0)


_REST = rf"rest ::= [^\n\r]{{0,{MAX_QUOTE}}} " + r'"\n"'
_SPECIAL = re.compile(r'["\\\x00-\x1f\x7f]')
"""The characters that must be escaped in a GBNF string."""
_READ = re.compile(r"read_file (?P<file>.+?)(?: (?P<first>\d+)-(?P<last>\d+))?\n")
_EDIT = re.compile(r"edit_file (?P<file>.+)\n(?P<old>(?:- .*\n)+)(?P<new>(?:\+ .*\n)+)")


def grammar(
    readable: Mapping[str, LineWindow], editable: Mapping[str, Sequence[QuotableLine]]
) -> str:
    """Return the grammar of one call. `done` may always be called.

    Args:
        readable: The lines of each file that `read_file` shows, by the file's name.
        editable: The lines that `edit_file` may quote, by the file's name.
    """
    rules: list[str] = []
    ways = [_literal(_format_read(name, window)) for name, window in readable.items()]
    for n, (name, quotes) in enumerate(editable.items()):
        if quotes:
            changes = " | ".join(_change_rule(f"x{n}-{k}-", q, rules) for k, q in enumerate(quotes))
            head = _literal(f"edit_file {name}\n")
            ways.append(f"{head} ({changes})")
    ways.append(_literal("done\n"))
    return "\n".join((f"root ::= {' | '.join(ways)}", *rules, _REST, ""))


def render(call: ToolCall) -> str:
    """Return a call in the form in which the model writes calls."""
    arguments = json.loads(call.arguments)
    match call.name:
        case "read_file":
            lines = ""
            if "start_line" in arguments:
                lines = f" {arguments['start_line']}-{arguments['end_line']}"
            return f"read_file {arguments['file']}{lines}\n"
        case "edit_file":
            old, new = (
                "".join(f"{mark} {line}\n" for line in arguments[name].split("\n"))
                for mark, name in (("-", "old_text"), ("+", "new_text"))
            )
            return f"edit_file {arguments['file']}\n{old}{new}"
    return f"{call.name}\n"


def parse(text: str, summary: str) -> ToolCall | None:
    """Return the call that a model wrote, or None if the text is cut or violates the grammar.

    Args:
        text: The model's whole text.
        summary: The summary of `done`, which the model does not write.
    """
    arguments: dict[str, object]
    if found := _READ.fullmatch(text):
        name, arguments = "read_file", {"file": found["file"]}
        if found["first"]:
            arguments |= {"start_line": int(found["first"]), "end_line": int(found["last"])}
    elif found := _EDIT.fullmatch(text):
        name, arguments = "edit_file", {"file": found["file"]}
        arguments |= {"old_text": _unmarked(found["old"]), "new_text": _unmarked(found["new"])}
    elif text == "done\n":
        name, arguments = "done", {"summary": summary}
    else:
        return None
    return ToolCall(new_call_id(), name, json.dumps(arguments, ensure_ascii=False))


def _format_read(name: str, window: LineWindow) -> str:
    lines = "" if window.is_whole else f" {window.first + 1}-{window.end}"
    return f"read_file {name}{lines}\n"


def _unmarked(lines: str) -> str:
    return "\n".join(line[2:] for line in lines.removesuffix("\n").split("\n"))


def _change_rule(name: str, quote: QuotableLine, rules: list[str]) -> str:
    """Return the rule for a line and its replacement at the same indent. Add the needed rules."""
    old = "".join(f"- {line}\n" for line in quote.text.split("\n"))
    new = "".join(f"+ {line}\n" for line in quote.unchanged_prefix.split("\n"))[:-1]
    return f"{_literal(old + new)} {_unequal_rule(name, quote.line, rules)}"


def _unequal_rule(name: str, line: str, rules: list[str]) -> str:
    """Return the rule for an unindented line other than `line`, up to white space at the end.

    There is one rule for each character: the text continues with that character and the next rule,
    or with another character and any text, or it ends.
    """
    for n, character in enumerate(line):
        ways = [f"{_literal(character)} {name}{n + 1}"]
        if n:
            ways.append(r'"\n"')
        indent = "" if n else r" \t"
        ways.append(rf"[^\n\r{indent}{_in_class(character)}] rest")
        rules.append(f"{name}{n} ::= {' | '.join(ways)}")
    rules.append(rf"{name}{len(line)} ::= [ \t]{{0,8}} [^ \t\n\r] rest")
    return f"{name}0"


def _literal(text: str) -> str:
    """Return a GBNF string. Special characters are escaped as by `_in_class`."""
    escaped = _SPECIAL.sub(lambda character: _in_class(character[0]), text)
    return f'"{escaped}"'


def _in_class(character: str) -> str:
    """Return the escape of a character by its code point, which is also valid in brackets."""
    return f"\\U{ord(character):08X}"


_NUMBER = re.compile(r"^ *(?:[0-9]{1,9}|[a-z][0-9]{1,9}\+)\t", re.MULTILINE)

_PROPOSED_PREFIX = "Proposed "
"""The beginning of the result of `edit_file` if the edit was proposed."""


class GrammarConstrainedModel(ModelWrapper):
    """A model that gets short prompts, under a grammar of calls.

    Args:
        inner: The model; it obeys a grammar (`Model.obeys_grammar`).
        ctx: The context of the turn, with the files read and the edits proposed.
        files: The files that the model may read, by the names that the model knows.
        line: The first selected line in the first of the files, 0-based, if there is a selection.
        request_text: The user's request.
    """

    def __init__(
        self,
        inner: Model,
        ctx: ToolContext,
        files: Mapping[str, TextDocument],
        line: int | None,
        request_text: str,
    ) -> None:
        super().__init__(inner)
        self._ctx = ctx
        self._files = files
        self._line = line
        self._request = request_text

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:  # noqa: ARG002  it says nothing
        """Ask for one call; see `Model.complete`. The tools of the request say which may be called.

        Raises:
            ModelError: As the inner model does.
        """
        tools = {tool.name for tool in request.tools}
        grammar_request = replace(
            request,
            messages=tuple(to_plain_messages(request.messages)),
            tools=(),
            grammar=grammar(
                self._readable() if "read_file" in tools else {},
                self._editable(request.messages) if "edit_file" in tools else {},
            ),
        )
        answered = await self.inner.complete(grammar_request, ignore, on_wait)
        call = parse(answered.text, self._summary())
        if call is None:
            return replace(answered, text="")
        return replace(answered, text="", tool_calls=(call,), stop_reason=StopReason.TOOL_CALLS)

    def _readable(self) -> dict[str, LineWindow]:
        """Return the lines to show of each file that has not been read: no file is read twice."""
        read = self._ctx.reader.report.files_read
        return {name: self._window(name) for name in self._files if name not in read}

    def _editable(self, messages: Sequence[Message]) -> dict[str, list[QuotableLine]]:
        """Return the lines of each file that may be quoted: no line is changed twice."""
        # A line with a secret or a control token can't be quoted: the grammar would contain it.
        redact = self._ctx.reader.workspace.redactor.redact

        def is_quotable(text: str) -> bool:
            return not redact(text).kinds and escape_special_tokens(text) == text

        quoted, read = set(_quoted(messages)), self._ctx.reader.report.files_read
        return {
            name: [
                quote
                for quote in find_quotes(self._window(name))
                if (name, quote.text) not in quoted and is_quotable(quote.text)
            ]
            for name in self._files
            if name in read
        }

    def _window(self, name: str) -> LineWindow:
        document = self._files[name]
        is_first = name == next(iter(self._files))
        latest = self._ctx.reader.shown.last(document.uri) or document
        return window(latest, self._line if is_first else None, self._request)

    def _summary(self) -> str:
        """Return the outcome of the turn, which a small model does not state reliably."""
        proposals = self._ctx.reader.ledger.proposals(self._ctx.reader.turn.id)
        n_hunks = sum(len(proposal.hunks) for proposal in proposals)
        if not n_hunks:
            return "The small model proposed nothing. Be more specific about what to change."
        return f"Proposed {counted(n_hunks, 'edit')}; the model gave no summary."


def to_plain_messages(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield a conversation with calls and results as text, user and assistant alternating.

    Files have no line numbers, and each file is followed by the user's request: a small model
    follows the text that it has read last.
    """
    names = {call.id: call.name for one in messages for call in one.tool_calls}
    request = ""
    user_parts: list[str] = []
    for message in messages:
        if message.role == "user":
            request = extract_request(message.content)
            user_parts.append(message.content)
        elif message.role == "tool":
            user_parts.append(_result(message.content, names.get(message.tool_call_id), request))
        else:
            if user_parts:
                yield Message("user", "\n".join(user_parts))
                user_parts.clear()
            calls = "".join(map(render, message.tool_calls))
            yield replace(message, content=message.content + calls, tool_calls=())
    if user_parts:
        yield Message("user", "\n".join(user_parts))


def _result(text: str, name: str | None, request: str) -> str:
    """Return the result of a call in the short form of the worked example."""
    suffix = ""
    if name == "read_file":
        text, suffix = _NUMBER.sub("", text), f"\n{request}"
    elif text.startswith(_PROPOSED_PREFIX):
        text = PROPOSED
    return f"<tool_result>\n{escape_tags(text)}</tool_result>{suffix}"


def _quoted(messages: Sequence[Message]) -> Iterator[tuple[object, object]]:
    """Yield file and old text of every edit so far: no line is changed twice in a turn."""
    for message in messages:
        for call in message.tool_calls:
            if call.name == "edit_file":
                arguments = json.loads(call.arguments)
                yield arguments["file"], arguments["old_text"]
