"""The parts of an OpenCode server's answers that Stet reads; other fields are ignored.

Answers are not trusted: ids become parts of addresses, so an id holds only letters, digits, `_` and
`-`. This module is imported late, because it imports pydantic.
"""

from operator import attrgetter
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, FailFast, Field, TypeAdapter

T = TypeVar("T")

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,200}$")]
Name = Annotated[str, Field(max_length=200)]


class ServerHealth(BaseModel):
    """The answer of `/global/health`, and of the newer API's `/api/health`."""

    healthy: bool
    version: str = ""


class SessionTimes(BaseModel):
    """When a session was last updated and when archived, in milliseconds since the epoch."""

    updated: float = 0
    archived: float | None = None


class SessionModel(BaseModel):
    """The model of a session: only its variant, such as the reasoning effort."""

    variant: Name | None = None


class SessionLocation(BaseModel):
    """The folder of a session of the newer API."""

    directory: str = ""


class OpenCodeSession(BaseModel):
    """A conversation, in either API."""

    id: Id
    directory: str = ""
    location: SessionLocation = Field(default_factory=SessionLocation)
    parent_id: str | None = Field(None, alias="parentID")
    agent: Name | None = None
    model: SessionModel = Field(default_factory=SessionModel)
    time: SessionTimes = Field(default_factory=SessionTimes)

    @property
    def folder(self) -> str:
        """The folder in which the session's agent works."""
        return self.directory or self.location.directory


Sessions = Annotated[list[OpenCodeSession], FailFast()]


class NewerAnswer(BaseModel, Generic[T]):
    """An answer of the newer API."""

    data: T


class SessionStatus(BaseModel):
    """The status of a session: `idle`, `busy` or `retry`."""

    type: str


class MessageInfo(BaseModel):
    """A message without its parts."""

    id: Id


class MessagePart(BaseModel):
    """A piece of a message."""

    id: Id
    type: str
    text: str = ""
    ignored: bool = False
    metadata: dict[str, Any] | None = None


class OpenCodeMessage(BaseModel):
    """A message of a session."""

    info: MessageInfo
    parts: Annotated[list[MessagePart], FailFast()]


def _unwrapped(answer: Any) -> TypeAdapter[Any]:
    """Return the adapter that reads an `answer` and returns its `data`."""
    return TypeAdapter(Annotated[answer, AfterValidator(attrgetter("data"))])


HEALTH = TypeAdapter(ServerHealth)
SESSION = TypeAdapter(OpenCodeSession)
SESSIONS: TypeAdapter[list[OpenCodeSession]] = TypeAdapter(Sessions)
NEWER_SESSION: TypeAdapter[OpenCodeSession] = _unwrapped(NewerAnswer[OpenCodeSession])
NEWER_SESSIONS: TypeAdapter[list[OpenCodeSession]] = _unwrapped(NewerAnswer[Sessions])
STATUSES = TypeAdapter(dict[str, SessionStatus])
MESSAGE = TypeAdapter(OpenCodeMessage)
MESSAGES = TypeAdapter(Annotated[list[OpenCodeMessage], FailFast()])
NOTHING = TypeAdapter(Any)


def newest_session(
    sessions: list[OpenCodeSession], folders: tuple[str, ...]
) -> OpenCodeSession | None:
    """Return the last updated session of these folders, without child and archived sessions."""
    candidates = [
        session
        for session in sessions
        if session.parent_id is None and session.time.archived is None and session.folder in folders
    ]
    return max(candidates, key=lambda one: one.time.updated, default=None)
