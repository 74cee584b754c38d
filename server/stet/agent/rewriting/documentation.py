"""Documentation of code by a small model: the model writes one line, and the code stays unchanged.

A model of a hundred million parameters that is asked for a function with a docstring loses or
changes lines of the function. So the model is asked for one sentence, which a grammar limits to one
line, and the sentence is inserted below the header of a Python function, or above other code.
"""

import ast
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from stet.agent.prompts import prompt
from stet.agent.rewriting.rewrite_passage import RewritePassage, RewritePlan, example_messages
from stet.agent.turn import TurnFailed
from stet.llm.model import Request

MAX_PLACES = 8
"""The most functions that are documented in one turn."""
MAX_CHARACTERS = 4000
"""The most characters of one function that the embedded model can read beside the examples."""

_THINGS = r"(?:doc ?strings?|documentation|doc comments?|jsdoc|comments?)"
_REQUEST = re.compile(
    r"^\W*(?:please\s+)?(?:document|comment)\b"
    r"|\b(?:add|append|create|generate|give|improve|insert|missing|needs?|provide|put|update|write)\b"
    rf"[^.!?]{{0,60}}?\b{_THINGS}\b"
    rf"|^\W*(?:(?:an?|one|please|short|some|the)\W+){{0,2}}{_THINGS}\W*(?:please\W*)?$"
    r"|\b(?:dokumentiere|kommentiere)\b"
    r"|\b(?:doc ?strings?|dokumentation|kommentare?)\b.{0,30}\b(?:ergänzen|hinzufügen|schreiben)\b"
    r"|\b(?:ergänze|schreibe?|füge)\b.{0,60}?\b(?:doc ?strings?|dokumentation|kommentare?)\b",
    re.IGNORECASE,
)
"""A request that asks for documentation, in English or German, and does not only mention it."""
# Without a list, a tiny model writes "this is a bit of a complex function"; a sentence that
# begins with a verb describes the code. A full stop ends it, except inside a dotted name.
_VERBS = (
    "Build", "Calculate", "Check", "Close", "Collect", "Combine", "Compare", "Compute", "Convert",
    "Copy", "Count", "Create", "Decide", "Decode", "Delete", "Encode", "Escape", "Execute", "Fetch",
    "Fill", "Filter", "Find", "Format", "Generate", "Get", "Give", "Handle", "Insert", "Join",
    "Limit", "List", "Load", "Look", "Map", "Mark", "Match", "Merge", "Move", "Normalize", "Open",
    "Parse", "Pick", "Prepare", "Produce", "Raise", "Read", "Record", "Remove", "Rename",
    "Replace", "Report", "Reset", "Resolve", "Return", "Save", "Search", "Select", "Send", "Set",
    "Show", "Sort", "Split", "Start", "Stop", "Store", "Tell", "Test", "Turn", "Update",
    "Validate", "Wait", "Wrap", "Write", "Yield",
)  # fmt: skip
_SENTENCE = r'root ::= [A-Z] ([^\n".\\] | "." [a-z_]){9,120} "."'
_VERB_SENTENCE = (
    r'root ::= verb " " ([^\n".\\] | "." [a-z_]){9,100} "."'
    "\nverb ::= " + " | ".join(f'"{verb}"' for verb in _VERBS)
)
_HASH, _DASHES, _SLASHES = ("# ", ""), ("-- ", ""), ("// ", "")
_COMMENTS = {
    "python": _HASH, "shellscript": _HASH, "ruby": _HASH, "yaml": _HASH, "toml": _HASH,
    "perl": _HASH, "r": _HASH, "julia": _HASH, "elixir": _HASH, "nix": _HASH, "makefile": _HASH,
    "make": _HASH, "dockerfile": _HASH, "powershell": _HASH, "cmake": _HASH,
    "lua": _DASHES, "sql": _DASHES, "haskell": _DASHES, "elm": _DASHES,
    "rust": ("/// ", ""), "latex": ("% ", ""), "erlang": ("% ", ""), "vim": ('" ', ""),
    "elisp": (";; ", ""), "emacs-lisp": (";; ", ""), "lisp": (";; ", ""), "clojure": (";; ", ""),
    "scheme": (";; ", ""), "ini": ("; ", ""), "html": ("<!-- ", " -->"), "xml": ("<!-- ", " -->"),
    "css": ("/* ", " */"), "ocaml": ("(* ", " *)"),
}  # fmt: skip
_EXAMPLES = (
    (
        "read_lines",
        'def read_lines(path):\n    with open(path, encoding="utf-8") as handle:\n'
        '        return [line.rstrip("\\n") for line in handle]\n',
        "Read a text file and return its lines without line ends.",
    ),
    (
        "clamp",
        "def clamp(value, low, high):\n    if value < low:\n        return low\n"
        "    if value > high:\n        return high\n    return value\n",
        "Limit a value to the range from low to high.",
    ),
    (
        "count_words",
        "def count_words(text, minimum=1):\n    counts = {}\n    for word in text.lower().split():\n"
        "        if len(word) >= minimum:\n            counts[word] = counts.get(word, 0) + 1\n"
        "    return counts\n",
        "Count how often each word of at least the minimum length occurs in a text.",
    ),
)


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class _DocumentationSlot:
    """The place for one line of documentation.

    Attributes:
        code: The code that the line describes.
        name: The name of this code; empty if the name is not known.
        line: The line is inserted before this line of the passage, 0-based.
        before: The text before the sentence: indent and quotes or comment mark.
        after: The text after the sentence.
    """

    code: str
    name: str
    line: int
    before: str
    after: str


def wants_documentation(passage: RewritePassage) -> bool:
    """Return whether the user asks for a docstring or a comment, and the text is not prose."""
    known_prose = passage.is_prose and passage.language
    return not known_prose and _REQUEST.search(passage.prompt) is not None


def plan(passage: RewritePassage, *, is_tiny: bool) -> RewritePlan:
    """Return a plan that asks for a line of documentation for each function without one.

    Args:
        passage: The functions.
        is_tiny: Whether the model is a tiny one: its sentence must begin with a verb of a list.

    Raises:
        TurnFailed: If there is nothing to document, or too much.
    """
    places = _find_slots(passage)
    grammar = _VERB_SENTENCE if is_tiny else _SENTENCE

    def finish(answers: Sequence[str]) -> str:
        lines = passage.lines
        for number, (place, answer) in enumerate(zip(places, answers, strict=True)):
            # A model may ignore the grammar: join the lines of its answer.
            line = f"{place.before}{' '.join(answer.split())}{place.after}{passage.line_end}"
            # The places are in order: each inserted line moves the next place down by one.
            lines.insert(place.line + number, line)
        return "".join(lines)

    return RewritePlan(tuple(_request(place, grammar) for place in places), finish)


def _request(place: _DocumentationSlot, grammar: str) -> Request:
    examples = ((_question(code, name), sentence) for name, code, sentence in _EXAMPLES)
    question = _question(place.code, place.name)
    messages = example_messages(prompt("document"), examples, question)
    return Request(messages, grammar=grammar, max_tokens=120)


def _question(code: str, name: str) -> str:
    what = f"`{name}`" if name else "this"
    return f"```\n{code}```\nWhat does {what} do?"


def _find_slots(passage: RewritePassage) -> list[_DocumentationSlot]:
    places = _python_slots(passage) if passage.language == "python" else _other_slots(passage)
    if len(places) > MAX_PLACES:
        raise TurnFailed(
            f"The selection has {len(places)} undocumented functions; the embedded model handles "
            f"at most {MAX_PLACES} at a time. Select fewer."
        )
    if any(len(place.code) > MAX_CHARACTERS for place in places):
        raise TurnFailed(
            "A selected function is too long for the embedded model. Select a shorter one, or "
            "configure a larger model."
        )
    return places


def _python_slots(passage: RewritePassage) -> list[_DocumentationSlot]:
    """Return a slot below the header of every function and class that has no docstring."""
    lines = [line.rstrip("\r\n") for line in passage.lines]
    # An added header makes the lines of a method a complete unit. Removing the indent would not:
    # the text of a string may have a smaller indent.
    source = "\n".join(("if True:" if _is_indented(lines) else "", *lines)) + "\n"
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise TurnFailed(
            f"The selection is not valid Python ({error}). Include the whole function, from its "
            "`def` to its last line."
        ) from error
    slots = [node for node in ast.walk(tree) if isinstance(node, _Definition)]
    if not slots:
        return _other_slots(passage)
    bare = [node for node in slots if ast.get_docstring(node) is None]
    if not bare:
        raise TurnFailed("The selection already has docstrings.")
    places = [place for node in bare if (place := _docstring_slot(node, ["", *lines]))]
    if not places:
        raise TurnFailed("A one-line function has no room for a docstring; split the line first.")
    return sorted(places, key=lambda place: place.line)


def _is_indented(lines: list[str]) -> bool:
    return next((line[0] in " \t" for line in lines if line.strip()), False)


def _docstring_slot(node: _Definition, lines: list[str]) -> _DocumentationSlot | None:
    """Return the place for a docstring, or None if the body begins on a line of the header.

    Args:
        node: The definition; its 1-based line numbers count the added header line.
        lines: The added header line, then the lines of the passage.
    """
    first = node.body[0]
    line = first.lineno - 1
    if isinstance(first, _Definition):
        line = min([line, *(decorator.lineno - 1 for decorator in first.decorator_list)])
    text = lines[line]
    indent = text[: len(text) - len(text.lstrip())]
    # The parser counts columns in bytes, but an indent is always ASCII.
    if line == first.lineno - 1 and first.col_offset != len(indent):
        return None
    # Comments between header and body stay with the body.
    while line > node.lineno and lines[line - 1].lstrip().startswith("#"):
        line -= 1
    code = "\n".join(lines[node.lineno - 1 : node.end_lineno]) + "\n"
    return _DocumentationSlot(textwrap.dedent(code), node.name, line - 1, f'{indent}"""', '"""')


def _other_slots(passage: RewritePassage) -> list[_DocumentationSlot]:
    """Return one comment line above the selection."""
    first = next((n for n, line in enumerate(passage.lines) if line.strip()), None)
    if first is None:
        raise TurnFailed("The selection is empty.")
    text = passage.lines[first]
    indent = text[: len(text) - len(text.lstrip())]
    mark, end = _COMMENTS.get(passage.language, _SLASHES)
    code = textwrap.dedent("\n".join(line.rstrip("\r\n") for line in passage.lines)) + "\n"
    return [_DocumentationSlot(code, "", first, f"{indent}{mark}", end)]
