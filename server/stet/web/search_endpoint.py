"""Which search API is asked, where, and with which key: a pure function of settings and environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal
from urllib.parse import urlsplit

from stet.settings.values import WebSettings

Provider = Literal["openai", "serper", "brave", "tavily"]


@dataclass(frozen=True, slots=True)
class SearchEndpoint:
    """One search API.

    Attributes:
        provider: Which one's formats it speaks.
        base_url: Where it is, without a last slash.
        api_key: The secret.
        key_env: The environment variable it comes from.
    """

    provider: Provider
    base_url: str
    api_key: str = field(repr=False)
    key_env: str = ""

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine."""
        return urlsplit(self.base_url).hostname in {"127.0.0.1", "localhost", "::1"}

    def redact_key(self, text: str) -> str:
        """`text` with the key blotted out, should a server have echoed it."""
        return text.replace(self.api_key, "[key]")


@dataclass(frozen=True, slots=True)
class _SearchProvider:
    """What is known of a provider: where it is, and the variables that hold its key."""

    base_url: str
    key_envs: tuple[str, ...]


_PROVIDERS: Mapping[Provider, _SearchProvider] = MappingProxyType(
    {
        "openai": _SearchProvider("https://api.openai.com/v1", ("OPENAI_API_KEY",)),
        "serper": _SearchProvider("https://google.serper.dev", ("SERPER_API_KEY",)),
        "brave": _SearchProvider(
            "https://api.search.brave.com/res/v1", ("BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY")
        ),
        "tavily": _SearchProvider("https://api.tavily.com", ("TAVILY_API_KEY",)),
    }
)


def search_endpoint(settings: WebSettings, environ: Mapping[str, str]) -> SearchEndpoint | None:
    """Return the search API to ask, or None if no API is configured or the API's key is missing."""
    if settings.provider == "none":
        return None
    known = _PROVIDERS[settings.provider]
    base_url = settings.base_url or known.base_url
    if settings.provider == "openai" and not settings.base_url:
        # The key of the environment belongs to the address of the environment.
        base_url = environ.get("OPENAI_BASE_URL", "").strip() or known.base_url
    for name in key_variables(settings):
        if key := environ.get(name, "").strip():
            return SearchEndpoint(settings.provider, base_url.rstrip("/"), key, name)
    return None


def key_variables(settings: WebSettings) -> tuple[str, ...]:
    """Return the variables to look for the key in; no variables if no search API is configured."""
    if settings.api_key_env or settings.provider == "none":
        return (settings.api_key_env,) if settings.api_key_env else ()
    return _PROVIDERS[settings.provider].key_envs
