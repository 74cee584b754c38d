"""Quoted lines and texts of files: of limited length, and without the rest of a cut secret.

The rest of a secret has no recognisable form, so no later step would find it.
"""

from stet.privacy.redactor import Redactor
from stet.text.render import MAX_LINE, quote_line
from stet.workspace.snapshot import Snapshot


def redactor_of(snapshot: Snapshot) -> Redactor | None:
    """Return the redactor, or None if the user wants no marks in place of secrets."""
    return snapshot.redactor if snapshot.settings.privacy.redact_secrets else None


def safe_line(text: str, redactor: Redactor | None, most: int = MAX_LINE) -> str:
    """Return a short line escaped and whole; return only the beginning of a long line.

    Args:
        text: The line.
        redactor: The redactor of the workspace; see `redactor_of`.
        most: The maximum number of characters of a long line that are shown.
    """
    quoted = quote_line(text)
    if redactor is None or len(quoted) <= MAX_LINE:
        return quoted
    line = quote_line(redactor.excerpt(text.strip(), max(0, most)))
    return line if line.endswith(" …") else f"{line} …".lstrip()


def excerpt(text: str, most: int, redactor: Redactor | None) -> str:
    """Return the first `most` characters of a text, without counting marks for secrets. A shorter
    text is returned whole.
    """
    if redactor is None or len(text) <= most:
        return text[:most]
    return redactor.excerpt(text, most)
