"""What an OpenCode server says, as far as it matters here; everything else is left aside.

A server's words are not trusted: ids go into addresses, so they are letters and digits only. Imported
late, as it brings pydantic.
"""

from typing import Annotated, Any

from pydantic import BaseModel, FailFast, Field, TypeAdapter

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,200}$")]
Name = Annotated[str, Field(max_length=200)]


class Health(BaseModel):
    """Of `/global/health`, and of the newer API's `/api/health`."""

    healthy: bool
    version: str = ""


class Times(BaseModel):
    """When a session was last changed, and put away, in milliseconds since the epoch."""

    updated: float = 0
    archived: float | None = None


class ModelName(BaseModel):
    """Of a session's model only this: how hard it thinks."""

    variant: Name | None = None


class Location(BaseModel):
    """Where a session of the newer API is."""

    directory: str = ""


class Session(BaseModel):
    """A conversation, in either API."""

    id: Id
    directory: str = ""
    location: Location = Field(default_factory=Location)
    parent_id: str | None = Field(None, alias="parentID")
    agent: Name | None = None
    model: ModelName = Field(default_factory=ModelName)
    time: Times = Field(default_factory=Times)

    @property
    def folder(self) -> str:
        """Where its agent works."""
        return self.directory or self.location.directory


class Sessions(BaseModel):
    """The newer API's list."""

    data: Annotated[list[Session], FailFast()]


class OneSession(BaseModel):
    """The newer API's answer about one."""

    data: Session


class Status(BaseModel):
    """What a session is doing: `idle`, `busy`, `retry`."""

    type: str


class Info(BaseModel):
    """A message without its parts."""

    id: Id


class Part(BaseModel):
    """A piece of a message."""

    id: Id
    type: str
    text: str = ""
    ignored: bool = False
    metadata: dict[str, Any] | None = None


class Message(BaseModel):
    """A message of a session."""

    info: Info
    parts: Annotated[list[Part], FailFast()]


HEALTH = TypeAdapter(Health)
SESSION = TypeAdapter(Session)
SESSIONS = TypeAdapter(Annotated[list[Session], FailFast()])
NEWER_SESSION = TypeAdapter(OneSession)
NEWER_SESSIONS = TypeAdapter(Sessions)
STATUSES = TypeAdapter(dict[str, Status])
MESSAGE = TypeAdapter(Message)
MESSAGES = TypeAdapter(Annotated[list[Message], FailFast()])
NOTHING = TypeAdapter(Any)


def newest(sessions: list[Session], folders: tuple[str, ...]) -> Session | None:
    """The session of these folders that was changed last, and that no other has begun."""
    own = [
        one
        for one in sessions
        if one.parent_id is None and one.time.archived is None and one.folder in folders
    ]
    return max(own, key=lambda one: one.time.updated, default=None)
