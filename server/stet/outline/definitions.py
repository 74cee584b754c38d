r"""Lines that begin a function, class or the like, told by their look: no grammar of any language.

Meant for many languages at once (Python, JavaScript, TypeScript, Rust, Go, C, C++, Java, C#, Kotlin,
Swift, PHP, Ruby, Lua, Elixir, Perl, R, shell). A line in a string or comment that looks like one is
taken for one. Only the beginning of a line is looked at, so a line of any length costs the same.
"""

import re

MAX_LOOKED_AT = 200
"""Characters of a line."""
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
_TYPE = re.compile(
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
        following: The line below, where a lone `{` tells a definition from a declaration.
    """
    text = line.strip()
    head = text[:MAX_LOOKED_AT]
    for pattern in (_KEYWORD, _METHOD_OF, _TYPE, _IMPL, _VALUE):
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
    # A body opens; or the parameters go on below a name with a type, which no call has.
    opens = text.endswith("{") or (following.startswith("{") and text.endswith(")"))
    typed = bool(words) and words[0].strip("*&[").isidentifier() and "," not in found["before"]
    goes_on = typed and text.endswith(("(", ",")) and text.count("(") > text.count(")")
    return found["name"][:MAX_NAME] if opens or goes_on else None
