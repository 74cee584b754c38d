"""Chat documents on the disk, read and written by a program other than the editor."""

from pathlib import Path


def on_disk(uri: str) -> str:
    """Return the text of the document on the disk."""
    return Path(uri.removeprefix("file://")).read_text()


def is_on_disk(uri: str) -> bool:
    """Tell whether the document has a file."""
    return Path(uri.removeprefix("file://")).exists()


def append(uri: str, text: str) -> None:
    """Append to the document with another program."""
    path = Path(uri.removeprefix("file://"))
    path.write_text(path.read_text() + text)


def mode_of(uri: str) -> int:
    """Return the permission bits of the document."""
    return Path(uri.removeprefix("file://")).stat().st_mode & 0o777
