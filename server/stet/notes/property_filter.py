"""Compare the value of a property with a condition such as `>=2024-05-01`, `!=done` or `~draft`.

Numbers are compared as numbers, ISO dates as dates (a day, month or year equals each moment in it;
`7d` is seven days ago), other values as text without case. Values without an order between them
meet no condition of order.
"""

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from stet.text.unicode_normal import fold_name

_OPERATOR = re.compile(r">=|<=|!=|>|<|~|=?")
_AGO = re.compile(r"(?P<n>\d{1,5})(?P<unit>[hdw])")
_UNITS = MappingProxyType({"h": 1, "d": 24, "w": 168})
"""The hours in each unit."""
_PERIOD = re.compile(r"\d{4}(?:-\d{2}){0,2}")
_ORDERS: Mapping[str, Callable[[int, int], bool]] = MappingProxyType(
    {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
)


@dataclass(frozen=True, slots=True)
class PropertyFilter:
    """A condition on the value of a property.

    Attributes:
        operator: `>`, `>=`, `<`, `<=`, `!=`, `~` for a part, or `""` for equal.
        text: The text that values are compared with.
        moment: The moment that `text` means if `text` is an age such as `7d`, else None.
    """

    operator: str
    text: str
    moment: datetime | None = None

    @classmethod
    def parse(cls, value: str, now: datetime | None = None) -> "PropertyFilter":
        """Parse a condition as a model writes it. Without `now`, an age is plain text."""
        written = value.strip()
        found = _OPERATOR.match(written)
        assert found is not None  # the pattern matches any text
        sign, text = found[0], written[found.end() :].lstrip()
        return cls("" if sign == "=" else sign, text, now and parse_age(text, now))

    def matches(self, value: object) -> bool:
        """Return whether a property's value (`read_properties`) meets the condition.

        A list meets the condition if an item does, and `!=` if no item is equal.
        """
        written = list(_leaves(value))
        if self.operator == "~":
            return any(fold_name(self.text) in fold_name(each) for each in written)
        if self.operator in ("", "!="):
            equal = any(self._compare(each) == 0 for each in written)
            return equal if self.operator == "" else not equal
        fits = _ORDERS[self.operator]
        orders = map(self._compare, written)
        return any(order is not None and fits(order, 0) for order in orders)

    def _compare(self, written: str) -> int | None:
        """Compare a value with the text of the condition, as `compare_values` does."""
        if self.moment is not None and (moment := parse_moment(written)) is not None:
            return (moment > self.moment) - (moment < self.moment)
        return compare_values(written, self.text)


def compare_values(one: str, other: str) -> int | None:
    """Return -1, 0 or 1 as `one` is less than, equal to or greater than `other`, else None."""
    if _PERIOD.fullmatch(other) and (moment := parse_moment(one)) is not None:
        start = moment.isoformat()[: len(other)]
        return (start > other) - (start < other)
    for read in (_number, parse_moment):
        left, right = read(one), read(other)
        if left is not None and right is not None:
            return (left > right) - (left < right)  # type: ignore[operator]  # both of one kind
        if left is not None or right is not None:
            return 0 if fold_name(one) == fold_name(other) else None
    left_text, right_text = fold_name(one), fold_name(other)
    return (left_text > right_text) - (left_text < right_text)


def parse_age(text: str, now: datetime) -> datetime | None:
    """Return the moment `12h`, `7d` or `2w` before `now`, or None if `text` is not an age."""
    found = _AGO.fullmatch(text.strip())
    if found is None:
        return None
    try:
        return now - timedelta(hours=int(found["n"]) * _UNITS[found["unit"]])
    except OverflowError:  # before the year 1
        return None


def parse_moment(text: str) -> datetime | None:
    """Parse an ISO 8601 date or time, UTC if no zone is named. Return None for any other text."""
    if not re.match(r"\d{4}-\d{2}-\d{2}", text):
        return None
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if found.tzinfo is None:
        return found.replace(tzinfo=UTC)
    try:
        return found.astimezone(UTC)
    except OverflowError:  # before the year 1 or after 9999 in UTC
        return None


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _leaves(value: object) -> Iterator[str]:
    """Yield the texts in a value; for a wikilink, only the name in the link."""
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _leaves(each)
    elif isinstance(value, tuple):
        kind, written = value
        text = "" if kind == "null" else str(written).strip()
        is_link = text.startswith("[[") and text.endswith("]]")
        yield text[2:-2].split("|")[0] if is_link else text
