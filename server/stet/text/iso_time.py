"""Times as text."""

from datetime import UTC, datetime


def iso_time(seconds: float) -> str | None:
    """ISO 8601 in UTC, to the second, of seconds since the epoch; None for a time no calendar has."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
