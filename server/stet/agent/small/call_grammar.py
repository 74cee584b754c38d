r"""Tool calls in lines instead of JSON, for a model too small to keep its escapes apart from the code.

    read_file src/app.py            read_file src/app.py 41-90

    edit_file src/app.py
    -     return a - b
    +     return a + b

    done

The grammar leaves open which tool, which file, which line and what that becomes. It rules out what
would be refused anyway: a file that is not there, a quote that does not stand in it, an edit that
changes nothing. Its syntax is GBNF, as llama.cpp describes it in `grammars/README.md`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stet.agent.small.quotable_lines import MAX_QUOTE, LineWindow, QuotableLine
from stet.llm.completion_stream import new_call_id
from stet.llm.messages import ToolCall

_REST = rf"rest ::= [^\n\r]{{0,{MAX_QUOTE}}} " + r'"\n"'
_READ = re.compile(r"read_file (?P<file>.+?)(?: (?P<first>\d+)-(?P<last>\d+))?\n")
_EDIT = re.compile(r"edit_file (?P<file>.+)\n(?P<old>(?:- .*\n)+)(?P<new>(?:\+ .*\n)+)")


@dataclass(frozen=True, slots=True)
class AllowedCalls:
    """What may be called.

    Attributes:
        readable: The lines of each file that `read_file` shows, by the file's name.
        editable: What `edit_file` may quote, by the file's name.
    """

    readable: Mapping[str, LineWindow] = field(default_factory=dict)
    editable: Mapping[str, Sequence[QuotableLine]] = field(default_factory=dict)


def grammar(allowed: AllowedCalls) -> str:
    """Return the grammar of one call. `done` may always be called."""
    rules: list[str] = []
    ways = [_literal(_format_read(name, window)) for name, window in allowed.readable.items()]
    for n, (name, quotes) in enumerate(allowed.editable.items()):
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
        text: All it wrote.
        summary: What `done` says, which the model does not write.
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
    """One line and what it becomes, at the same indent; the rules that this takes are added."""
    old = "".join(f"- {line}\n" for line in quote.text.split("\n"))
    new = "".join(f"+ {line}\n" for line in quote.unchanged_prefix.split("\n"))[:-1]
    return f"{_literal(old + new)} {_unequal_rule(name, quote.line, rules)}"


def _unequal_rule(name: str, line: str, rules: list[str]) -> str:
    """Return the rule for an unindented line other than `line`, up to white space at the end.

    One rule for each character: it goes on with that character and the next rule, or with another
    and anything, or it ends.
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
    r"""Return a GBNF string. GBNF has fewer escapes than JSON, but has `\u0007` for the others."""
    return "".join(['"', *(_escaped(character) for character in text), '"'])


def _escaped(character: str) -> str:
    if character in '"\\' or character < " " or character == "\x7f":
        return _in_class(character)
    return character


def _in_class(character: str) -> str:
    """Return a character as its number. Some characters have a meaning in brackets."""
    return f"\\U{ord(character):08X}"
