"""The address and password of the OpenCode server, and the errors of requests to the server.

`resolve_address` is a pure function of settings and environment.

OpenCodeError
├── OpenCodeUnreachable   no server answers
│   └── NotOpenCode       another program answers
├── OpenCodeRefused       the server answers with a refusal
├── SessionStopped        the server refuses every kind of update: no update is tried again
└── SessionBusy           the session is busy: the update is tried again later
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from stet.settings.values import OpenCodeSettings

_TEMPORARY = frozenset({401, 408, 425, 429})
"""The 4xx statuses after which the same request may succeed."""


class OpenCodeError(Exception):
    """A request failed; the message says why and what to do."""


class OpenCodeUnreachable(OpenCodeError):
    """No server answers at the address."""


class NotOpenCode(OpenCodeUnreachable):
    """The answer is not one of OpenCode's, or is too long."""


class OpenCodeRefused(OpenCodeError):
    """The server refused a request.

    Attributes:
        status: The HTTP status.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    @property
    def is_final(self) -> bool:
        """Whether the same request would fail again, even after a login or later."""
        return 400 <= self.status < 500 and self.status not in _TEMPORARY


class SessionStopped(OpenCodeError):
    """The session gets no more updates: its part can be neither replaced nor hidden."""


class SessionBusy(OpenCodeError):
    """The session can't take an update at this moment."""


PASSWORD_ENV = "OPENCODE_SERVER_PASSWORD"  # noqa: S105 - the name of a variable, OpenCode's own
"""The variable with the password if `passwordEnv` names no other."""

_SESSION = re.compile(r"[A-Za-z0-9_-]*")


class InvalidSetting(Exception):
    """A setting that can't be applied; the message names it and says what to write instead."""


@dataclass(frozen=True, slots=True)
class OpenCodeAddress:
    """One OpenCode server.

    Attributes:
        url: The base URL, without a slash at the end.
        username: The user name for Basic authentication.
        password: The password; "" for a server that asks for none.
        password_env: The environment variable of the password.
        is_loopback: Whether the server is on this machine.
    """

    url: str
    username: str
    password: str = field(repr=False)
    password_env: str
    is_loopback: bool


def resolve_address(
    settings: OpenCodeSettings, environ: Mapping[str, str]
) -> OpenCodeAddress | None:
    """Return the server that the settings name, or None if the bridge is off.

    Raises:
        InvalidSetting: If the address is invalid, or would send text over the network unencrypted,
            or the required password is missing.
    """
    if not settings.enabled or not settings.url.strip():
        return None
    url = settings.url.strip().rstrip("/")
    is_loopback = _check(url)
    password_env = settings.password_env or PASSWORD_ENV
    password = environ.get(password_env, "")
    if settings.password_env and not password:
        raise InvalidSetting(
            f"bridges.opencode.passwordEnv names {settings.password_env!r}, which is not set: "
            "set it in the editor's environment. Nothing is sent to OpenCode"
        )
    if not _SESSION.fullmatch(settings.session.strip()):
        raise InvalidSetting(
            "bridges.opencode.session must be a session id such as 'ses_…'. Nothing is sent to "
            "OpenCode"
        )
    if ":" in settings.username:
        raise InvalidSetting(
            "bridges.opencode.username can't contain a colon. Nothing is sent to OpenCode"
        )
    return OpenCodeAddress(url, settings.username, password, password_env, is_loopback)


def _check(url: str) -> bool:
    """Return whether a server's address is on this machine.

    Raises:
        InvalidSetting: If the address is not one that may be used.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        raise _invalid(f"is not a valid address: {error}") from error
    if parts.scheme not in {"http", "https"} or not host or not url.isprintable() or " " in url:
        raise _invalid("is not a valid address; use one such as 'http://127.0.0.1:4096'")
    if "@" in parts.netloc:
        raise _invalid("contains a login: remove it and use passwordEnv")
    if parts.query or parts.fragment:
        raise _invalid("must not have a query or fragment")
    is_loopback = _is_loopback(host)
    if parts.scheme == "http" and not is_loopback:
        raise _invalid("is on another machine: use https")
    return is_loopback


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _invalid(why: str) -> InvalidSetting:
    # The address itself is left out: it may contain a login.
    return InvalidSetting(f"bridges.opencode.url {why}. Nothing is sent to OpenCode")
