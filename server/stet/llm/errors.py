"""Everything that can go wrong with a model: one tree, each message a sentence for the user.

    ModelError
    ├── NoModel            none is configured or installed
    ├── ModelUnavailable   not reached, overloaded, rate-limited; worth another try later
    ├── ModelTimeout       it stopped answering
    ├── StreamInterrupted          the answer broke off before its end
    ├── AnswerTooLong      we stopped listening: it grew beyond what was asked for
    ├── ContextOverflow    the conversation is longer than the model can read
    └── ModelRefused       the request as it is will never be answered: key, name, quota
        └── ToolsUnsupported   this model has no native tool calls

A message names the provider, the host (never the key) and what to do about it.
"""


class ModelError(Exception):
    """A round failed; `str()` is one sentence or two for the user."""


class NoModel(ModelError):
    """No model is configured, reachable or installed; the message tells how to get one."""


class ModelUnavailable(ModelError):
    """The provider could not be reached or would not answer now.

    Attributes:
        retry_after: Seconds the provider asked to wait, or None where it did not say.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelTimeout(ModelError):
    """The provider was silent, or slow, for longer than is allowed."""


class StreamInterrupted(ModelError):
    """The answer broke off. Nothing of it may be executed.

    Attributes:
        text: What had been said until then.
    """

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class AnswerTooLong(ModelError):
    """The answer grew beyond `Request.ceiling` and was broken off. Nothing of it may be executed.

    Attributes:
        text: What had been said until then.
    """

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class ContextOverflow(ModelError):
    """The conversation does not fit; shorten it and ask again."""


class ModelRefused(ModelError):
    """The provider refused the request; asking again unchanged is of no use."""


class ToolsUnsupported(ModelRefused):
    """The model has no native tool calls; the text protocol is the way round.

    Attributes:
        is_certain: Whether the provider says so; else its words may have another cause.
    """

    def __init__(self, message: str, *, is_certain: bool = True) -> None:
        super().__init__(message)
        self.is_certain = is_certain
