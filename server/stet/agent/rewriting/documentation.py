"""Documenting code with a model too small to copy it: it writes one line, the code stays verbatim.

A model of a hundred million parameters that is asked for a function with a docstring loses or
changes lines of it. So it is asked for the sentence alone, held to one line by a grammar, and the
sentence is put where it belongs: below the header of a Python function, above anything else.
"""

import ast
import re
import textwrap
from dataclasses import dataclass

from stet.agent.errors import TurnFailed
from stet.agent.prompts import prompt
from stet.agent.rewriting.passage import Passage, Writer
from stet.llm.messages import Message
from stet.llm.model import Request

MAX_PLACES = 8
"""Functions documented in one turn."""
MAX_CHARACTERS = 4000
"""Of one function: what the embedded model can read beside the examples."""

_WISH = re.compile(
    r"\b(doc ?strings?|document|documentation|doc comments?|jsdoc|comments?)\b", re.IGNORECASE
)
# Left free, so small a model says that "this is a bit of a complex function"; begun with a verb, it
# says what the code does. A full stop ends the sentence, except inside a dotted name.
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
_SENTENCE = (
    r'root ::= verb " " ([^\n".\\] | "." [a-z_]){9,100} "."'
    "\nverb ::= " + " | ".join(f'"{verb}"' for verb in _VERBS)
)
_COMMENTS = {
    "python": "# ", "shellscript": "# ", "ruby": "# ", "yaml": "# ", "toml": "# ", "lua": "-- ",
    "sql": "-- ", "haskell": "-- ", "rust": "/// ", "latex": "% ", "elisp": ";; ",
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


@dataclass(frozen=True, slots=True)
class _Place:
    """Where one line of documentation goes.

    Attributes:
        code: What it is about.
        name: What the code calls it; empty where that is not known.
        line: It goes before this line of the passage, 0-based.
        before: What stands before the sentence: indent and quotes or comment mark.
        after: What stands behind it.
    """

    code: str
    name: str
    line: int
    before: str
    after: str


def wants_documentation(wish: str) -> bool:
    """Whether the user asks for a docstring or a comment."""
    return _WISH.search(wish) is not None


async def document_lines(passage: Passage, writer: Writer) -> str:
    """The passage with a line of documentation for each function of it that has none.

    Raises:
        TurnFailed: If there is nothing to document, or too much.
        ModelError: If the model can't be asked.
    """
    places = _places(passage)
    lines = passage.lines
    for number, place in enumerate(places):
        sentence = await _sentence(place, writer, number + 1, len(places))
        # Lines above are not moved by what is put in below: later places come after earlier ones.
        lines.insert(
            place.line + number, f"{place.before}{sentence}{place.after}{passage.line_end}"
        )
    return "".join(lines)


async def _sentence(place: _Place, writer: Writer, step: int, steps: int) -> str:
    messages = [Message("system", prompt("document"))]
    for name, example, sentence in _EXAMPLES:
        messages.append(Message("user", _question(example, name)))
        messages.append(Message("assistant", sentence))
    messages.append(Message("user", _question(place.code, place.name)))
    request = Request(tuple(messages), grammar=_SENTENCE, max_tokens=120)
    return (await writer.ask(request, step, steps)).text.strip()


def _question(code: str, name: str) -> str:
    what = f"`{name}`" if name else "this"
    return f"```\n{code}```\nWhat does {what} do?"


def _places(passage: Passage) -> list[_Place]:
    places = _python(passage) if passage.language == "python" else _other(passage)
    if len(places) > MAX_PLACES:
        raise TurnFailed(
            f"The selection holds {len(places)} functions without documentation; the embedded model "
            f"takes at most {MAX_PLACES} at a time. Select fewer."
        )
    if any(len(place.code) > MAX_CHARACTERS for place in places):
        raise TurnFailed(
            "A function of the selection is longer than the embedded model can read. Select a "
            "shorter one, or configure a larger model."
        )
    return places


def _python(passage: Passage) -> list[_Place]:
    """Below the header of every function and class that has no docstring."""
    source = textwrap.dedent("\n".join(line.rstrip("\r\n") for line in passage.lines)) + "\n"
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise TurnFailed(
            f"What you selected is no whole piece of Python ({error}). Take the function from its "
            "`def` to its last line."
        ) from error
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    if not found:
        return _other(passage)
    places = [_below_header(node, passage, source) for node in found if not ast.get_docstring(node)]
    if not places:
        raise TurnFailed("What you selected has its docstrings already.")
    if any(place is None for place in places):
        raise TurnFailed(
            "A function on one line has no place for a docstring; break its line first."
        )
    return sorted((place for place in places if place), key=lambda place: place.line)


def _below_header(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, passage: Passage, source: str
) -> _Place | None:
    first = node.body[0]
    line = first.lineno - 1
    if isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        line = min([line, *(decorator.lineno - 1 for decorator in first.decorator_list)])
    if first.lineno == node.lineno or passage.lines[line].lstrip()[:1] in ("", "\\"):
        return None
    text = passage.lines[line]
    # Comments between header and body stay with the body.
    while line > node.lineno and passage.lines[line - 1].lstrip().startswith("#"):
        line -= 1
    indent = text[: len(text) - len(text.lstrip())]
    code = "\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno]) + "\n"
    return _Place(textwrap.dedent(code), node.name, line, f'{indent}"""', '"""')


def _other(passage: Passage) -> list[_Place]:
    """One comment line above the selection."""
    first = next((n for n, line in enumerate(passage.lines) if line.strip()), None)
    if first is None:
        raise TurnFailed("The selection is empty.")
    text = passage.lines[first]
    indent = text[: len(text) - len(text.lstrip())]
    mark = _COMMENTS.get(passage.language, "// ")
    code = textwrap.dedent("\n".join(line.rstrip("\r\n") for line in passage.lines)) + "\n"
    return [_Place(code, "", first, f"{indent}{mark}", "")]
