r"""Definitions of any language, recognised by the look of their lines, without a grammar.

`defined_name` is meant for many languages at once (Python, JavaScript, TypeScript, Rust, Go, C,
C++, Java, C#, Kotlin, Swift, PHP, Ruby, Lua, Elixir, Perl, R, shell). A line in a string or comment
that looks like a definition is treated as a definition. Only the beginning of a line is read, so
the cost does not depend on the length of the line.

`definitions_by_look` finds the definitions of a whole text. A definition ends before the next code
at the same indent, or with the bracket or the `end` there that closes the definition. Comments and
strings of several lines are ignored if the language is known.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from stet.outline.definition import MAX_SIGNATURE, Definition
from stet.text import masking

MAX_LOOKED_AT = 200
"""The most characters of a line that are read."""
MAX_NAME = 120

_MODIFIERS = (
    r"(?:(?:export|default|declare|pub(?:\([^)]{0,40}\))?|public|private|protected|internal|static|"
    r"final|abstract|sealed|open|override|virtual|inline|async|unsafe|const|constexpr|extern|data|"
    r'partial|local|suspend|case|typedef|"C"|crate)\s+)*'
)
_KEYWORD = re.compile(
    _MODIFIERS
    + r"(?:defmodule|defmacrop?|defp?|class|function\s*\*?|fn|fun|sub|struct|enum(?:\s+class)?|union|"
    r"trait|interface|record|object|protocol|extension|module|namespace|mod|proc|macro_rules!)"
    r"\s+(?P<name>[\w$]+(?:(?:::|[.:])[\w$]+)*[?!]?)(?=\W|$)"
)
_METHOD_OF = re.compile(r"func\s*(?:\([^)]{0,80}\)\s*)?(?P<name>[\w$]+)\s*[(\[<]")
_TYPE_LINE = re.compile(
    _MODIFIERS + r"type\s+(?P<name>\w+)(?:<[^>]{0,80}>)?\s+?(?:=|struct\b|interface\b)"
)
_IMPL = re.compile(r"(?:unsafe\s+)?(?P<name>impl\b[^{]{1,120}?)\s*(?:\{|where\b|$)")
_VALUE = re.compile(
    _MODIFIERS
    + r"(?:(?:let|var)\s+)?(?P<name>[\w$]+(?:[.:][\w$]+)*)\s*(?::[^=()]{0,80})?(?:<-|[=:])\s*(?:async\s*)?"
    r"(?:function\b|\([^)]{0,120}\)\s*(?::[^=]{0,80})?=>|\w+\s*=>)"
)
_CALLABLE = re.compile(
    r"(?P<before>(?:[\w$~<>\[\],.*&:@?]+\s+)*[*&]*)(?P<name>~?[\w$]+(?:::~?[\w$]+)*)\s*\("
)
_NOT_A_TYPE = frozenset(
    {
        "if", "elif", "else", "for", "foreach", "while", "until", "unless", "do", "switch",
        "match", "when", "case", "catch", "try", "with", "using", "lock", "return", "throw",
        "raise", "yield", "await", "new", "delete", "sizeof", "typeof", "assert", "print",
        "echo", "go", "defer", "select", "not", "and", "or", "in", "is", "lambda", "from",
        "import", "del", "except", "super", "function",
    }
)  # fmt: skip


def defined_name(line: str, following: str = "") -> str | None:
    """Return the name that a line defines, or None if the line defines nothing.

    Args:
        line: With or without its indent and line end.
        following: The line below, where a lone `{` shows that the line is no declaration.
    """
    text = line.strip()
    head = text[:MAX_LOOKED_AT]
    for pattern in (_KEYWORD, _METHOD_OF, _TYPE_LINE, _IMPL, _VALUE):
        if found := pattern.match(head):
            return " ".join(found["name"].split())[:MAX_NAME]
    return _callable(text, head, following.strip())


def _callable(text: str, head: str, following: str) -> str | None:
    """Return the name in `int area(int side) {`, `area(side) {` or `area() {`. Control flow has no
    name.
    """
    found = _CALLABLE.match(head)
    if found is None:
        return None
    words = found["before"].split()
    if found["name"] in _NOT_A_TYPE or any(word in _NOT_A_TYPE for word in words):
        return None
    # A body opens, or the parameters of a name with a type continue below; a call has no type.
    opens = text.endswith("{") or (following.startswith("{") and text.endswith(")"))
    typed = bool(words) and words[0].strip("*&[").isidentifier() and "," not in found["before"]
    goes_on = typed and text.endswith(("(", ",")) and text.count("(") > text.count(")")
    return found["name"][:MAX_NAME] if opens or goes_on else None


MAX_HEAD = 12
"""The most lines of a head that are read."""
MAX_HEAD_CHARACTERS = 1_000
"""The most characters of such a line that are read."""
MAX_ATTRIBUTE = 40
"""The most lines of an attribute or a decorator that are read."""

_C = frozenset(
    {".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inl", ".m", ".mm", ".cu"}
)
_ENDINGS: tuple[tuple[str, Callable[[str], str]], ...] = (
    (" ".join(_C), masking.mask_c),
    (".cs .java .kt .kts .scala .groovy .gradle .go .swift .dart .zig .proto", masking.mask_c),
    (".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte .astro", masking.mask_script),
    (".rs", masking.mask_rust),
    (".php", masking.mask_php),
    (".rb .sh .bash .zsh .pl .pm .r .ex .exs .jl .nim .tf .ps1 .gd .cr", masking.mask_hash),
    (".lua .vim .ml .fs .hs .erl .sql .f90 .pas .v .sv", str),
)
_MASKS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {ending: mask for endings, mask in _ENDINGS for ending in endings.split()}
)

_TYPE = re.compile(
    r"(?:class|struct|enum|union|trait|interface|impl|namespace|module|mod|object|protocol|"
    r"extension|record|defmodule|package)"
)
_OF_TYPE = re.compile(
    r"(?P<before>(?:(?:static|extern|inline|const|register|volatile)\s+)*)(?:struct|enum|union|class)"
    r"\s+(?P<rest>\w+(?:\s*\*+\s*|\s+)\w.*)"
)
_MAY_BEGIN = re.compile(r"[\w~$&*<@\"\[#]")
_CLOSES = re.compile(r"[)\]}]|end\b|\\end\b|fi$|done$|esac$")
_OPENS = re.compile(r"\)\s*(?:->|:|\w)|.*(?:[{(\[:,]|=>|\bdo|\bthen)$")
_STAYS = re.compile(r"#\s*(?:if|else|elif|endif|define|undef|pragma|include|error|line)|[\w ]+:$")
_ABOVE = re.compile(r"[@#*]|//|/\*|--|\[\w|template\b|<!--")
_GOES_ON = re.compile(r"(?:where|throws|requires)\b|->|:(?!:)|\{$")
_HIDDEN = re.compile(
    r"(?P<before>(?:(?:static|async|get|set)\s+|\*\s*)*)(?:#|\[['\"]?(?P<name>[\w.]+)['\"]?\])(?=[\w ]*\()"
)
_GENERIC = re.compile(r"<[^<>()]{0,80}>(?=\()")
_RETURN_TYPE = re.compile(r"[\w\s*<>:&,]+$")
_BODY = re.compile(r"\{|=>|=\s*$")


def has_mask(ending: str) -> bool:
    """Return whether the comments and strings of files with this ending (`.go`) are known."""
    return ending in _MASKS


def definitions_by_look(text: str, lines: Sequence[str], ending: str) -> Iterator[Definition]:
    """Return the definitions of a file as `definitions_in` does."""
    scan = _LineScanner(text, lines, ending)
    return iter(sorted(scan.definitions(), key=lambda each: (each.head, -each.end)))


class _LineScanner:
    """A scan of one file, line by line."""

    def __init__(self, text: str, lines: Sequence[str], ending: str) -> None:
        mask = _MASKS.get(ending, str)
        self._lines = lines
        self._masked = mask(text).split("\n")
        self._is_c = ending in _C
        self._is_script = mask is masking.mask_script
        self._open: list[tuple[int, int, int, str]] = []  # indent, first line, head, name
        self._floor = 0
        self._done = 0

    def definitions(self) -> Iterator[Definition]:
        """Yield the definitions, each when its end is found."""
        for number, line in enumerate(self._masked):
            code = line.strip()
            if not code:
                continue
            indent = indent_width(line)
            if self._open and indent <= self._open[-1][0]:
                yield from self._close(number, indent, code)
            name = self._name(number, code)
            if name is not None:
                each = indent, self._first(number, code), number, name
                if code.endswith("}") and code.count("{") == code.count("}"):
                    yield self._made(each, number + 1)
                else:
                    self._open.append(each)
                self._floor = number + 1
            self._done = number + 1
        while self._open:
            yield self._made(self._open.pop(), self._done)

    def _close(self, number: int, indent: int, code: str) -> Iterator[Definition]:
        """Yield the definitions that end at the line `number`."""
        if (self._is_c and _STAYS.match(code)) or (
            indent == self._open[-1][0]
            and (_GOES_ON.match(code) or (_CLOSES.match(code) and _OPENS.match(code)))
        ):
            return
        closes = _CLOSES.match(code) is not None
        while self._open and indent <= self._open[-1][0]:
            each = self._open.pop()
            takes_line = closes and each[0] == indent
            end = number + 1 if takes_line else self._done
            self._floor = max(self._floor, end)
            yield self._made(each, end)
            if takes_line:
                break

    def _made(self, each: tuple[int, int, int, str], end: int) -> Definition:
        _, first, head, name = each
        code = self._masked[head].strip()
        is_type = _is_type(code, name)
        return Definition(first, head, end, name, self._signature(head, end), is_type)

    def _name(self, number: int, code: str) -> str | None:
        """Return the name that line `number` defines, or None for a call with a block or a
        declaration.
        """
        if _MAY_BEGIN.match(code) is None:
            return None
        if self._is_c:
            if code.endswith(";") and "{" not in code:
                return None
            if (of_type := _OF_TYPE.match(code)) is not None:
                code = of_type["before"] + of_type["rest"]
        if self._is_script and (hidden := _HIDDEN.match(code)) is not None:
            code = hidden["before"] + (hidden["name"] or "") + code[hidden.end() :]
        if ">(" in code[:MAX_HEAD_CHARACTERS]:
            code = _GENERIC.sub("", code[:MAX_HEAD_CHARACTERS]) + code[MAX_HEAD_CHARACTERS:]
        following = self._masked[number + 1] if number + 1 < len(self._masked) else ""
        name = defined_name(code, following)
        if name is not None and code.endswith("{") and code.count("(") > code.count(")"):
            return None
        return name

    def _first(self, number: int, code: str) -> int:
        """Return the first line of the comments, the attributes and the lone type above a head."""
        first = number
        if self._is_c and first > self._floor and code.partition("(")[0].strip().isidentifier():
            above = self._masked[first - 1]
            if above.strip() and _RETURN_TYPE.match(above[:MAX_HEAD_CHARACTERS]):
                first -= 1
        while (above_it := self._above(first)) < first:
            first = above_it
        return first

    def _above(self, first: int) -> int:
        """Return the first line of the comment or attribute right above `first`, else `first`."""
        if first <= self._floor:
            return first
        if self._is_above(first - 1):
            return first - 1
        if self._masked[first - 1].strip()[:1] in tuple(")]}"):
            indent = indent_width(self._masked[first - 1])
            for number in range(first - 2, max(self._floor, first - MAX_ATTRIBUTE) - 1, -1):
                code = self._masked[number].strip()
                if code and indent_width(self._masked[number]) <= indent:
                    return number if code.startswith(("@", "#[", "[")) else first
        return first

    def _is_above(self, number: int) -> bool:
        line, masked = self._lines[number].strip(), self._masked[number].strip()
        if self._is_c and masked.startswith("#"):
            return False
        return bool(line) and (not masked or _ABOVE.match(line) is not None)

    def _signature(self, head: int, end: int) -> str:
        """Return the head of a definition up to the start of its body, on one line."""
        signature = ""
        depth = 0
        for line in self._masked[head : min(end, head + MAX_HEAD)]:
            code = " ".join(line[:MAX_HEAD_CHARACTERS].split())
            starts = (found.start() for found in _BODY.finditer(code))
            body = next((at for at in starts if depth + _n_open(code[:at]) <= 0), None)
            signature = f"{signature} {code if body is None else code[:body]}".strip()
            depth += _n_open(code)
            if body is not None or depth <= 0:
                break
        return signature[:MAX_SIGNATURE].rstrip()


def _n_open(code: str) -> int:
    return code.count("(") + code.count("[") - code.count(")") - code.count("]")


def _is_type(code: str, name: str) -> bool:
    """Return whether the words before `name` show that it contains definitions, not statements."""
    for word in code[:MAX_HEAD_CHARACTERS].split():
        if _TYPE.fullmatch(word):
            return True
        if word.startswith(name):
            break
    return name.startswith(("impl ", "impl<"))


def indent_width(line: str) -> int:
    """Return the indentation of a line, in columns."""
    lead = line[: len(line) - len(line.lstrip(" \t"))]
    return len(lead.expandtabs()) if "\t" in lead else len(lead)
