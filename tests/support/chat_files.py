"""Chat documents on the disk, read and written by another program than the editor."""

from pathlib import Path


def on_disk(uri: str) -> str:
    """What stands in the document on the disk."""
    return Path(uri.removeprefix("file://")).read_text()


def append(uri: str, text: str) -> None:
    """Write in the document with another program."""
    path = Path(uri.removeprefix("file://"))
    path.write_text(path.read_text() + text)


def mode_of(uri: str) -> int:
    """Who may read and write it, as the bits of its mode."""
    return Path(uri.removeprefix("file://")).stat().st_mode & 0o777
