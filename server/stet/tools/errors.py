"""What a tool raises when a call of it comes to nothing."""


class ToolError(Exception):
    """The call failed; the message tells the model its next step."""


class UserDeclined(ToolError):
    """The user said no, so nothing was done: no failure, the call is `canceled`."""
