"""The limits of what a question sends of files, for a model with the short prompt."""

from dataclasses import replace

from stet.llm.model_profiles import ModelProfile
from stet.settings.values import Settings

MAX_LINES = 400
"""The most lines of the current file: a small model on an ordinary computer reads them in a minute
or two."""
MAX_FILES = 4
"""The most other files."""
HEAD_LINES = 10
"""The most lines of each."""
MIN_LINES = 40
TOKENS_PER_LINE = 12
WINDOW_PARTS = 3
"""The current file takes at most this part of the window, at an assumed number of tokens a line."""
MAX_INSTRUCTIONS = 2_000
"""The most characters of the project's instructions."""


def limit_context(settings: Settings, profile: ModelProfile) -> Settings:
    """Return the settings with limits of the context that suit the model's profile."""
    if not profile.is_short:
        return settings
    lines = MAX_LINES
    if profile.window is not None:
        fitting = profile.window // WINDOW_PARTS // TOKENS_PER_LINE
        lines = min(lines, max(MIN_LINES, fitting))
    context = settings.context
    limited = replace(
        context,
        current_file_lines=min(context.current_file_lines, lines),
        max_files=min(context.max_files, MAX_FILES),
        head_lines=min(context.head_lines, HEAD_LINES),
    )
    return replace(settings, context=limited)
