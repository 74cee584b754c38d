"""One line of the report of `stet doctor`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report of `stet doctor`.

    Attributes:
        mark: `ok`; `note`: works with fewer functions; `problem`: does not work.
        about: The subject of the check, in a word or two.
        found: The result of the check.
        fix: The remedy; empty if there is nothing to do.
    """

    mark: str
    about: str
    found: str
    fix: str = ""
