"""What a tool raises when a call of it fails."""


class ToolError(Exception):
    """The call failed; the message tells the model its next step."""
