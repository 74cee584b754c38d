"""What a tool raises when a call of it comes to nothing."""


class ToolError(Exception):
    """The call failed; the message tells the model its next step."""


class UserDeclined(ToolError):
    """The user said no, so nothing was done: no failure, the call is `canceled`."""


class NotOffered(ToolError):
    """There is no such tool now: the message lists the model's, and the user has a sentence of their own.

    Attributes:
        shown: For the user.
    """

    def __init__(self, message: str, shown: str) -> None:
        super().__init__(message)
        self.shown = shown
