"""Which addresses are public, whatever way they are written."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.web.address import LONGEST, PageRefused, Reach, checked, is_public, target
from tests.web.attacks import ADDRESSES, NAMES, PUBLIC

NOWHERE = Reach()


def refused(address: str, reach: Reach = NOWHERE, *found: str) -> str:
    with pytest.raises(PageRefused) as caught:
        at = target(address, reach)
        checked([at.host] if at.literal else found, at, reach)
    return str(caught.value)


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_that_is_not_the_public_web_s_is_refused(address: str) -> None:
    assert refused(address).endswith(".")


@pytest.mark.parametrize(("name", "found"), NAMES)
def test_a_name_is_refused_where_any_of_its_addresses_is_not_public(name: str, found: list[str]) -> None:
    assert refused(f"https://{name}/", NOWHERE, *found)


@given(st.ip_addresses(v=4))
def test_no_ipv4_address_counts_as_public_that_python_knows_to_be_another(ip: IPv4Address) -> None:
    assert not is_public(ip) or (ip.is_global and not ip.is_multicast and not ip.is_reserved)


@given(st.ip_addresses(v=6))
def test_no_ipv6_address_counts_as_public_that_python_knows_to_be_another(ip: IPv6Address) -> None:
    carried = ip.ipv4_mapped or ip.sixtofour or ip.teredo
    assert not is_public(ip) or (ip.is_global and not ip.is_multicast and not carried)


@given(st.ip_addresses(v=4))
def test_an_address_behind_nat64_counts_as_the_one_it_carries(ip: IPv4Address) -> None:
    assert is_public(IPv6Address(b"\x00\x64\xff\x9b" + bytes(8) + ip.packed)) == is_public(ip)


@pytest.mark.parametrize("ip", [PUBLIC, "8.8.8.8", "1.1.1.1", "2606:4700::1111", "2a00:1450:4001:81b::200e"])
def test_the_public_web_is_public(ip: str) -> None:
    assert checked([ip], target("https://example.com/", NOWHERE), NOWHERE)


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("https://example.com", "https://example.com/"),
        ("  https://Example.COM/a?b=c#d  ", "https://example.com/a?b=c"),
        ("HTTPS://example.com:443/", "https://example.com/"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("https://example.com./", "https://example.com/"),
        ("https://bücher.example/straße?q=ä", "https://xn--bcher-kva.example/stra%C3%9Fe?q=%C3%A4"),
        ("https://例え.テスト/", "https://xn--r8jz45g.xn--zckzah/"),
        ("https://a_b.example.com/%7Euser/(x)?y=%20", "https://a_b.example.com/%7Euser/(x)?y=%20"),
        ("https://8.8.8.8/", "https://8.8.8.8/"),
        ("https://[2606:4700:0:0::1111]/", "https://[2606:4700::1111]/"),
    ],
)
def test_an_address_is_asked_for_as_browsers_would(written: str, asked: str) -> None:
    assert target(written, NOWHERE).address == asked


def test_only_servers_on_this_machine_can_stand_in_for_the_web() -> None:
    for address in ("10.0.0.1", "0.0.0.0", PUBLIC, "169.254.169.254"):
        with pytest.raises(ValueError, match="on this machine"):
            Reach(frozenset({(address, 80)}))


def test_a_stand_in_opens_its_own_address_and_port_and_nothing_beside_it() -> None:
    reach = Reach(frozenset({("127.0.0.1", 8123)}))

    assert checked(["127.0.0.1"], target("http://news.example:8123/", reach), reach)
    assert refused("http://news.example:8124/", reach, "127.0.0.1")
    assert refused("http://news.example/", reach, "127.0.0.1")
    assert refused("http://news.example:8123/", reach, "127.0.0.2")
    assert refused("http://news.example:8123/", reach, "127.0.0.1", PUBLIC)
    assert refused("http://news.example:8123/", reach, PUBLIC)
    assert refused("http://[::1]:8123/", reach)


def test_a_very_long_address_is_refused() -> None:
    assert str(LONGEST) in refused("https://example.com/" + "x" * LONGEST)
