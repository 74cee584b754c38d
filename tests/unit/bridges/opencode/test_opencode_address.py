"""Which server may be informed: on this machine or protected, and no login in the settings."""

import pytest

from stet.bridges.opencode.opencode_address import InvalidSetting, OpenCodeAddress, resolve_address
from stet.settings.values import OpenCodeSettings

LOCAL = "http://127.0.0.1:4096"


def settings(url: str = LOCAL, **more: object) -> OpenCodeSettings:
    return OpenCodeSettings(url=url, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [settings(""), settings(" "), settings(enabled=False)])
def test_without_an_address_or_when_switched_off_there_is_none(given: OpenCodeSettings) -> None:
    assert resolve_address(given, {"OPENCODE_SERVER_PASSWORD": "p"}) is None


@pytest.mark.parametrize(
    ("url", "is_loopback"),
    [
        (LOCAL, True),
        ("http://localhost:4096", True),
        ("http://[::1]:4096", True),
        ("http://127.9.9.9:1/base", True),
        ("https://agent.example", False),
    ],
)
def test_http_on_this_machine_and_https_elsewhere_are_taken(url: str, *, is_loopback: bool) -> None:
    assert resolve_address(settings(f"{url}/"), {}) == OpenCodeAddress(
        url, "opencode", "", "OPENCODE_SERVER_PASSWORD", is_loopback
    )


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://192.168.1.5:4096", "is on another machine"),
        ("http://localhost.example:4096", "is on another machine"),
        ("http://0.0.0.0:4096", "is on another machine"),
        ("http://127.0.0.1.example", "is on another machine"),
        ("http://me:secret@127.0.0.1:4096", "contains a login"),
        ("127.0.0.1:4096", "is not a valid address"),
        ("ftp://127.0.0.1", "is not a valid address"),
        ("http://", "is not a valid address"),
        ("http://127.0.0.1:99999", "is not a valid address"),
        ("http://[::1", "is not a valid address"),
        ("http://127.0.0.1/\x1b[8m", "is not a valid address"),
        ("http://127.0.0.1/?a=b", "must not have"),
        ("http://127.0.0.1/#a", "must not have"),
    ],
)
def test_other_addresses_are_refused_and_not_repeated_in_the_message(url: str, why: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        resolve_address(settings(url), {})
    assert str(refused.value).startswith(f"bridges.opencode.url {why}")
    assert "secret" not in str(refused.value)


def test_the_password_comes_from_the_named_variable_or_from_opencodes_own() -> None:
    environ = {"OPENCODE_SERVER_PASSWORD": "own", "MINE": "mine"}
    default = resolve_address(settings(), environ)
    named = resolve_address(settings(password_env="MINE", username="me"), environ)
    assert default is not None
    assert named is not None
    assert (default.username, default.password) == ("opencode", "own")
    assert (named.username, named.password, named.password_env) == ("me", "mine", "MINE")
    assert "mine" not in repr(named)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (settings(password_env="MISSING"), "passwordEnv names 'MISSING', which is not set"),
        (settings(username="a:b"), "username can't contain a colon"),
        (settings(session="../../config"), "session must be a session id"),
    ],
)
def test_unusable_setting_is_reported(given: OpenCodeSettings, why: str) -> None:
    with pytest.raises(InvalidSetting, match=why):
        resolve_address(given, {})
