"""What the user says while a turn runs: kept until the model's next step."""


class Steering:
    """One turn's; touched on the event loop only."""

    def __init__(self) -> None:
        self._pending: list[str] = []

    def add(self, text: str) -> None:
        """Keep what the user says."""
        self._pending.append(text)

    @property
    def has_pending(self) -> bool:
        """Whether something has not been shown to the model yet."""
        return bool(self._pending)

    def pop_all(self) -> tuple[str, ...]:
        """Remove and return the messages to show now, oldest first."""
        taken, self._pending = tuple(self._pending), []
        return taken
