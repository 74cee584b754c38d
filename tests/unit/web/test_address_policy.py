"""Pages are read from the open internet only, however an address is written or a name resolves."""

import ipaddress
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.web.address_policy import Ip, check_name, is_allowed_host, is_public, may_allow, resolve
from stet.web.web_address import WebError, parse_url

PRIVATE = [
    *("0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.8.8.8"),
    *("169.254.169.254", "168.63.129.16", "172.16.0.1", "172.31.255.255", "192.0.0.192"),
    *("192.168.1.1", "198.18.0.1", "224.0.0.1", "239.255.255.250", "240.0.0.1"),
    *("255.255.255.255", "192.88.99.1", "192.0.2.1", "198.51.100.1", "203.0.113.1"),
    *("::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "fe80::1", "fec0::1"),
    *("fc00::1", "fd00:ec2::254", "ff02::1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1"),
    *("2002:7f00:1::", "2001:0:7f00:1::", "2001:db8::1", "100::1", "3fff::1", "5f00::1"),
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00::1"]


def test_addresses_of_private_networks_and_wrapped_ones_are_not_public() -> None:
    assert [ip for ip in PRIVATE if is_public(ipaddress.ip_address(ip))] == []
    assert [ip for ip in PUBLIC if not is_public(ipaddress.ip_address(ip))] == []


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_what_is_public_is_global_to_the_standard_library_too(ip: Ip) -> None:
    """The library's own list is the second opinion: ours may only be stricter."""
    if is_public(ip):
        assert ip.is_global
        assert not any((ip.is_private, ip.is_loopback, ip.is_link_local, ip.is_multicast))
        assert getattr(ip, "ipv4_mapped", None) is None
        assert getattr(ip, "sixtofour", None) is None
        assert not may_allow(ip)


@given(st.ip_addresses(v=4))
def test_no_way_to_wrap_an_ipv4_address_in_ipv6_is_public(ip: ipaddress.IPv4Address) -> None:
    number = int(ip)
    for prefix, shift in (
        ("::", 0),
        ("::ffff:0:0", 0),
        ("::ffff:0:0:0", 0),
        ("64:ff9b::", 0),
        ("64:ff9b:1::", 0),
        ("2002::", 80),
        ("2001::", 0),
        ("fe80::5efe:0:0", 0),
    ):
        wrapped = ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) | number << shift)
        assert not is_public(wrapped)


@pytest.mark.parametrize(
    "url",
    [
        *("http://localhost/", "http://LOCALHOST./", "http://a.localhost:8000/"),
        *("http://metadata/", "http://metadata.google.internal/computeMetadata/v1/"),
        *("http://printer.local/", "http://router.lan/", "http://nas.home.arpa/"),
        *("http://127.0.0.1/", "http://[::1]/", "http://169.254.169.254/latest/meta-data/"),
        *("http://[::ffff:169.254.169.254]/", "http://[fd00:ec2::254]/", "http://0.0.0.0/"),
    ],
)
def test_names_and_numbers_of_private_networks_are_refused_before_anybody_is_asked(
    url: str,
) -> None:
    with pytest.raises(WebError, match=r"web\.allowHosts"):
        check_name(parse_url(url), ())


def test_a_setting_opens_one_private_place_and_no_other() -> None:
    allowed = ("localhost:8000", "wiki.internal", "10.0.0.5", "[::1]:9")
    opened = [
        *("http://localhost:8000/", "https://wiki.internal/x", "http://wiki.internal:81/"),
        *("http://10.0.0.5:3000/", "http://[::1]:9/"),
    ]
    closed = [
        *("http://localhost/", "http://localhost:8001/", "http://a.wiki.internal/"),
        *("http://10.0.0.6/", "http://[::1]:8/"),
    ]
    assert [url for url in opened if not is_allowed_host(parse_url(url), allowed)] == []
    assert [url for url in closed if is_allowed_host(parse_url(url), allowed)] == []
    for url in opened:
        check_name(parse_url(url), allowed)


def test_no_setting_opens_the_metadata_of_a_cloud() -> None:
    for host in ("169.254.169.254", "168.63.129.16"):
        with pytest.raises(WebError):
            check_name(parse_url(f"http://{host}/"), (host,))


async def resolved(answers: Sequence[str], allowed: Sequence[str] = ()) -> list[str]:
    async def resolver(host: str, port: int) -> Sequence[str]:
        return answers

    found = await resolve(parse_url("http://a.org/"), resolver, allowed)
    return [str(ip) for ip in found]


async def test_a_name_with_one_private_address_is_not_read_from() -> None:
    assert await resolved(["1.1.1.1", "2606:4700::1111"]) == ["1.1.1.1", "2606:4700::1111"]
    for answers in (["127.0.0.1"], ["1.1.1.1", "10.0.0.1"], ["::ffff:10.0.0.1"], ["fe80::1%eth0"]):
        with pytest.raises(WebError, match=r"web\.allowHosts"):
            await resolved(answers)
    assert await resolved(["10.0.0.1"], ["a.org"]) == ["10.0.0.1"]
    with pytest.raises(WebError):
        await resolved(["169.254.169.254"], ["a.org"])


async def test_invalid_host_name_is_reported() -> None:
    async def resolver(host: str, port: int) -> Sequence[str]:
        raise OSError("Name or service not known")

    with pytest.raises(WebError, match=r"There is no host 'a\.org'"):
        await resolve(parse_url("http://a.org/"), resolver, ())
    with pytest.raises(WebError, match="There is no host"):
        await resolved([])
