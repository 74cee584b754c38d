"""The address and parameters of a model: plain values, with the key left out of every `repr`."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class ModelEndpoint:
    """One model at one OpenAI-compatible address.

    Attributes:
        provider: The preset's name.
        base_url: The URL before `/chat/completions`; for azure the resource's address.
        model: The provider's name for the model; "": the first one that the server lists.
        api_key: The secret, or "" if no key is needed.
        key_env: The environment variable a key is (or would be) read from; "" if there is no
            variable.
        api_version: For azure only.
        max_tokens_field: The provider's name for the limit on an answer.
        hint: What to do if nothing answers at this address.
        context_tokens: The size of the context window, or None if it is not known.
        obeys_grammar: Whether the server obeys grammars.
        section: The section of the settings that names the endpoint, for messages.
        keep_alive: Whether connections are used again. A server that closes idle connections at the
            moment the next request is sent fails that request.
    """

    provider: str
    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    key_env: str = ""
    api_version: str = ""
    max_tokens_field: str = "max_tokens"
    hint: str = ""
    context_tokens: int | None = None
    obeys_grammar: bool = False
    section: str = "model"
    keep_alive: bool = True

    @property
    def host(self) -> str:
        """Host and port, without the user name or password a URL may hold; "" for no address."""
        return host_of(self.base_url)

    @property
    def label(self) -> str:
        """The name of the endpoint in sentences for the user."""
        return f"{self.provider} ({self.host})"

    @property
    def is_loopback(self) -> bool:
        """Whether the endpoint is on this machine."""
        return hostname_of(self.base_url) in LOOPBACK

    def redact_key(self, text: str) -> str:
        """Return `text` with a mark in place of the key, which a server may have echoed."""
        return text.replace(self.api_key, "[key]") if self.api_key else text


def hostname_of(url: str) -> str:
    """Return the host that an http address names, in lower case, or "" for any other text."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError for an invalid port
    except ValueError:
        return ""
    return (parts.hostname or "") if parts.scheme in {"http", "https"} else ""


def host_of(url: str) -> str:
    """Return the host, and the port if the address names one; "" for no http address."""
    name = hostname_of(url)
    port = urlsplit(url).port if name else None
    return f"{name}:{port}" if port else name


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The longest tolerated silence, in seconds.

    Attributes:
        connect: Until the connection is established.
        first: Until the first word; reasoning models and long queues are silent for minutes.
        idle: Between two pieces of an answer.
        total: For one whole answer.
    """

    connect: float = 10.0
    first: float = 300.0
    idle: float = 90.0
    total: float = 900.0


@dataclass(frozen=True, slots=True)
class Sampling:
    """The parameters of every request; None for the provider's default.

    Attributes:
        temperature: The sampling temperature; 0 selects the likeliest token each time.
        max_tokens: A limit on the answer; a limit in the request goes first.
        cache_prompt: llama.cpp only: keep the prompt's state for the next round. Faster, but the
            same request may then be answered differently.
        call_stop: Texts at which the answer to a request with tools ends. A call that is cut there
            can't be read, so nothing of it is done.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    cache_prompt: bool | None = None
    call_stop: tuple[str, ...] = ()
