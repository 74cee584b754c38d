"""What a look at something has found: a line of a report."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report.

    Attributes:
        mark: `ok`; `note`: works, with less; `problem`: does not work.
        about: What was looked at, in a word or two.
        found: What was found.
        fix: What to do about it; empty where nothing is to be done.
    """

    mark: str
    about: str
    found: str
    fix: str = ""
