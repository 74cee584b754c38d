"""Parsing of the settings of one source, over the defaults."""

from dataclasses import dataclass

from stet.settings.parse import Problem, lay_over, read_layer, to_settings
from stet.settings.values import Settings


@dataclass(frozen=True, slots=True)
class ParsedSettings:
    """Valid settings, and the errors of their source."""

    settings: Settings
    problems: tuple[Problem, ...] = ()


def parse_settings(value: object) -> ParsedSettings:
    """Parse one source over the defaults: `{"stet": {...}}`, the bare section, or None."""
    overlay = read_layer(value)
    return ParsedSettings(to_settings(lay_over({}, overlay)), overlay.problems)
