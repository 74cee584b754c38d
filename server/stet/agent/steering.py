"""What the user says while a turn runs: kept until the model's next step."""


class Steering:
    """One turn's; touched on the event loop only."""

    def __init__(self) -> None:
        self._waiting: list[str] = []

    def say(self, text: str) -> None:
        """Keep what the user says."""
        self._waiting.append(text)

    @property
    def is_waiting(self) -> bool:
        """Whether something has not been shown to the model yet."""
        return bool(self._waiting)

    def take(self) -> tuple[str, ...]:
        """What is to be shown now, oldest first; it waits no longer."""
        taken, self._waiting = tuple(self._waiting), []
        return taken
