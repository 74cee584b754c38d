r"""A text as a model writes it: line ends are `\n`, no byte order mark; with the way back."""

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from stet.text.document import TextDocument
from stet.text.fuzzy_lines import LineTable
from stet.text.lines import dominant_line_end, split_lines, split_plain

BOM = "\ufeff"


def normalize_text(text: str) -> str:
    r"""`text` with every line end as `\n`, and without a byte order mark."""
    return text.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n")


class NormalizedText:
    """A text and its plain form. Lines are 0-based, offsets in code points.

    Attributes:
        source: The text.
        text: The plain form.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.text = normalize_text(source)

    @cached_property
    def source_lines(self) -> list[str]:
        """The lines of the text, with their line ends; the mark is not in the first."""
        return split_lines(self.source.removeprefix(BOM))

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their line ends."""
        return split_plain(self.text)

    @cached_property
    def line_table(self) -> LineTable:
        """The same, without the empty rest behind a final line end, for the forgiving steps."""
        return LineTable(self.lines[:-1] if self.lines[-1] == "" else self.lines)

    @cached_property
    def document(self) -> TextDocument:
        """The text by line and column, without a name."""
        document = TextDocument("", self.source)
        if not self.source.startswith(BOM):
            document.__dict__["lines"] = (
                self.source_lines
            )  # the same: a long text is not split twice
        return document

    @cached_property
    def line_end(self) -> str:
        """The line end that the text uses most."""
        return dominant_line_end(self.source)

    @cached_property
    def _source_starts(self) -> list[int]:
        first = len(self.source) - len(self.source.removeprefix(BOM))
        return list(accumulate(map(len, self.source_lines), initial=first))

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(line) + 1 for line in self.lines[:-1]), initial=0))

    def line_at(self, offset: int) -> int:
        """Return the line of an offset of the plain form."""
        return bisect_right(self._starts, offset) - 1

    def source_offset(self, offset: int) -> int:
        """Where an offset of the plain form is in the text."""
        line = self.line_at(offset)
        return self._source_starts[line] + offset - self._starts[line]

    def source_line_start(self, line: int) -> int:
        """Where a line starts in the text; for the line behind the last one, the text's end."""
        return self._source_starts[line]

    def line_start(self, line: int) -> int:
        """Where a line starts in the plain form."""
        return self._starts[line]

    def source_line(self, offset: int) -> int:
        """Return the line of an offset of the text; the byte order mark belongs to the first line."""
        line = bisect_right(self._source_starts, offset, hi=len(self.lines)) - 1
        return max(0, line)
