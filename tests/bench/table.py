"""Measurements as tables: our value, the peer's, the ratio, the required value and the aim."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit that a row has to meet.

    Attributes:
        limit: The number.
        at_least: Whether the value has to be at least the limit (a rate) or at most (a cost).
        is_ratio: Whether the limit applies to the ratio of ours to the peer's, or to our value.
    """

    limit: float
    at_least: bool = False
    is_ratio: bool = False

    def holds(self, row: "Row") -> bool:
        """Tell whether the row meets the limit."""
        value = row.ratio if self.is_ratio else row.ours
        assert value is not None, f"{row.what}: a ratio needs a peer"
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:,g}{'x' if self.is_ratio else ''}"


def at_most(limit: float) -> Bar:
    """Make a bar: our value may not be larger."""
    return Bar(limit)


def at_least(limit: float) -> Bar:
    """Make a bar: our value may not be smaller."""
    return Bar(limit, at_least=True)


def times_at_most(limit: float) -> Bar:
    """Make a bar: our value may not be more than `limit` times the peer's."""
    return Bar(limit, is_ratio=True)


def times_at_least(limit: float) -> Bar:
    """Make a bar: our value has to be at least `limit` times the peer's."""
    return Bar(limit, at_least=True, is_ratio=True)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table.

    Attributes:
        what: The name of the measurement.
        unit: The unit of both values.
        ours: Our value, by default a median.
        peer: The peer's value, measured alternately with ours; None without a peer.
        peer_name: The name of the peer.
        must: The bar for a release; None: shown only.
        aim: The bar that we aim at.
        in_detail: Whether the row only explains another row, and is left out of the page.
    """

    what: str
    unit: str
    ours: float
    peer: float | None = None
    peer_name: str = ""
    must: Bar | None = None
    aim: Bar | None = None
    in_detail: bool = False

    @property
    def ratio(self) -> float | None:
        """Return the ratio of our value to the peer's."""
        return self.ours / self.peer if self.peer else None

    @property
    def holds(self) -> bool:
        """Tell whether the row meets its required bar."""
        return self.must is None or self.must.holds(self)


def medians(rounds: int, *works: Callable[[], float]) -> list[float]:
    """Return the medians of alternating runs, which a slow minute affects alike."""
    found = [[work() for work in works] for _ in range(rounds)]
    return [median(each) for each in zip(*found, strict=True)]


HEADINGS = ("what", "ours", "peer", "ratio", "must", "aim")


def render(rows: Iterable[Row]) -> str:
    """Format the table as Markdown."""
    cells = [HEADINGS, *(_cells(row) for row in rows)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(HEADINGS))]
    rule = ["-" * width for width in widths]
    return "\n".join(_line(line, widths) for line in (cells[0], rule, *cells[1:]))


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.what,
        f"{_number(row.ours)} {row.unit}",
        "-" if row.peer is None else f"{_number(row.peer)} ({row.peer_name})",
        "-" if row.ratio is None else f"{_number(row.ratio)}x",
        _reported(row, row.must),
        _reported(row, row.aim),
    )


def _reported(row: Row, bar: Bar | None) -> str:
    if bar is None:
        return "-"
    return f"{bar}: {'held' if bar.holds(row) else 'missed'}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return "| " + " | ".join(padded) + " |"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
