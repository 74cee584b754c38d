"""Presets as the store keeps them: opaque to it. Light to import, as `chat_rows`."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PresetRows:
    """What is given back after a restart.

    Attributes:
        presets: One JSON object each, by name.
        attached: What was attached to questions, one JSON object; None where nothing was kept.
    """

    presets: Mapping[str, str] = field(default_factory=dict)
    attached: str | None = None
