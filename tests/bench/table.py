"""One table of what was measured: ours, the peer, the ratio, and the bar it has to clear."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Bar:
    """What the ratio of ours to the peer's has to be.

    Attributes:
        limit: The ratio.
        at_least: Whether more is better (a rate) or less (a cost).
    """

    limit: float
    at_least: bool

    def holds(self, ratio: float) -> bool:
        """Whether the ratio clears the bar."""
        return ratio >= self.limit if self.at_least else ratio <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}x"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Attributes:
        what: Was measured.
        unit: Of both numbers.
        ours: The median.
        peer: The peer's median, measured in turns with ours.
        peer_name: Who the peer is.
        bar: What the ratio has to be; None: shown only.
    """

    what: str
    unit: str
    ours: float
    peer: float
    peer_name: str
    bar: Bar | None = None

    @property
    def ratio(self) -> float:
        """Ours to the peer's."""
        return self.ours / self.peer

    @property
    def holds(self) -> bool:
        """Whether the bar is cleared, where there is one."""
        return self.bar is None or self.bar.holds(self.ratio)


def medians(
    rounds: int, ours: Callable[[], float], peer: Callable[[], float]
) -> tuple[float, float]:
    """The medians of runs in turns, so that a slow minute of the machine hits both alike."""
    pairs = [(ours(), peer()) for _ in range(rounds)]
    return median(one for one, _ in pairs), median(other for _, other in pairs)


HEADINGS = ("what", "unit", "ours", "peer", "ratio", "bar", "")


def render(rows: Iterable[Row]) -> str:
    """The table as Markdown."""
    cells = [HEADINGS, *(_cells(row) for row in rows)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(HEADINGS))]
    rule = ["-" * width for width in widths]
    return "\n".join(_line(line, widths) for line in (cells[0], rule, *cells[1:]))


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.what,
        row.unit,
        _number(row.ours),
        f"{_number(row.peer)} ({row.peer_name})",
        f"{row.ratio:.2f}x" if row.ratio < 10 else f"{row.ratio:,.0f}x",
        str(row.bar or "-"),
        "" if row.bar is None else "held" if row.holds else "MISSED",
    )


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return "| " + " | ".join(padded) + " |"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
