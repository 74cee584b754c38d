"""Where the user is: the one place that asks the process."""

from pathlib import Path


def current_folder() -> Path:
    """The folder the command was started in."""
    return Path().absolute()
