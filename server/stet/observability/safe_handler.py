"""A log handler whose own failures never reach whoever logs."""

import logging


class SafeHandler(logging.Handler):
    """Drops a record that it fails to write.

    The standard library lets what `emit` raises fall on the caller of `log.warning`: a full disk would
    end the work that was logged.
    """

    def handle(self, record: logging.LogRecord) -> bool:
        """Write the record if it passes the filters; whether it did and was written."""
        try:
            return bool(super().handle(record))
        except Exception:  # noqa: BLE001 (the boundary: what fails in the log has no place to be logged)
            return False
