"""What a file is made of: the headings of a note, the definitions of code."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from stet.notes.note_content import headings_in
from stet.outline.line_definitions import defined_name
from stet.text import masking
from stet.text.document import TextDocument, ending_of
from stet.text.lines import split_lines
from stet.text.reindent import indent_of

MAX_TITLE = 160

_C_LIKE = ".c .h .cc .cpp .cxx .hh .hpp .cs .java .kt .scala .go .swift .dart"
_MASKS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    dict.fromkeys((".py", ".pyi"), masking.mask_python)
    | dict.fromkeys(_C_LIKE.split(), masking.mask_c)
    | dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx"), masking.mask_script)
    | {".rs": masking.mask_rust, ".rb": masking.mask_hash, ".php": masking.mask_php}
)


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A heading or a definition.

    Attributes:
        line: 1-based.
        depth: How many others it lies in.
        text: A heading's text, a definition's line.
    """

    line: int
    depth: int
    text: str


def outline_file(document: TextDocument, name: str) -> tuple[OutlineEntry, ...]:
    """Return the outline of `document`, a file called `name`, in order of place."""
    if document.is_markdown:
        return tuple(
            OutlineEntry(each.line, each.level - 1, f"{'#' * each.level} {each.title}")
            for each in headings_in(document.text)
        )
    return tuple(_definitions(document, ending_of(name)))


def _definitions(document: TextDocument, ending: str) -> Iterator[OutlineEntry]:
    """Lines that begin a definition; those in comments and strings are left out where that is known."""
    mask = _MASKS.get(ending)
    masked = document.lines if mask is None else split_lines(mask(document.text))
    open_indents: list[int] = []
    for number, line in enumerate(masked):
        following = masked[number + 1] if number + 1 < len(masked) else ""
        if not line.strip() or defined_name(line, following) is None:
            continue
        indent = len(indent_of(line).expandtabs())
        while open_indents and open_indents[-1] >= indent:
            open_indents.pop()
        yield OutlineEntry(
            number + 1, len(open_indents), document.lines[number].strip()[:MAX_TITLE]
        )
        open_indents.append(indent)
