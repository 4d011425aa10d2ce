"""Rules for hosts and for the addresses behind them."""

from __future__ import annotations

import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.box import is_host_name
from worksample.errors import UsageError
from worksample.sandboxes.endpoints import HostAllowance, HostRule, address_refusal, matching_rule, read_rule
from worksample.sandboxes.endpoints.host_rules import REFUSED

INSIDE = (
    "127.0.0.1", "127.65.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
    "100.100.100.200", "169.254.169.254", "168.63.129.16", "192.0.0.192", "198.18.0.5", "224.0.0.1", "255.255.255.255",
    "::1", "::", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:0:169.254.169.254", "64:ff9b::a00:1", "64:ff9b:1::1",
    "2002:7f00:1::", "2001:0:7f00:1::", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
    "no address",
)  # fmt: skip
OUTSIDE = ("1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "192.169.0.1", "2606:4700::1111", "2a00:1450::1")


@pytest.mark.parametrize("address", INSIDE)
def test_private_address_is_refused_with_reason(address: str) -> None:
    assert address_refusal(address)


@pytest.mark.parametrize("address", OUTSIDE)
def test_public_address_is_allowed(address: str) -> None:
    assert address_refusal(address) == ""


@given(st.ip_addresses(v=4))
def test_only_global_addresses_are_dialled(address: ipaddress.IPv4Address) -> None:
    """The list may only be stricter than the standard library's idea of it."""
    if not address.is_global:
        assert address_refusal(str(address))


@given(st.sampled_from(sorted(REFUSED)), st.data())
def test_refused_networks_are_refused_within_ipv6_too(text: str, data: st.DataObject) -> None:
    network = ipaddress.ip_network(text)
    address = data.draw(st.ip_addresses(network=network))
    assert address_refusal(str(address))
    if address.version == 4:
        assert address_refusal(f"::ffff:{address}")


@pytest.mark.parametrize(
    "text",
    [
        "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.0.0.1", "::1", "[::1]", "a.0x1", "1.2.3.4",
        "localhost", "evil.localhost", "worksample", "", ".", "a..b", "-a.b", "a-.b", "a_b.c", "ü.example", "A.example",
        "a b", "a\n", "a.example.", "*", "*.example.com", "x" * 64 + ".com", "a." * 130 + "com",
    ],
)  # fmt: skip
def test_invalid_host_names_are_refused(text: str) -> None:
    assert not is_host_name(text)


def test_resolver_takes_no_host_name_for_an_address() -> None:
    for text in ("api.example.com", "a", "x--y.z9", "9.example", "1e1.de"):
        assert is_host_name(text)
        with pytest.raises(OSError):
            socket.inet_aton(text)


def test_rules_are_parsed() -> None:
    assert read_rule("API.example.com") == HostRule("api.example.com", 443)
    assert read_rule(" pypi.org:80 ") == HostRule("pypi.org", 80)
    assert read_rule("*.example.com:8443").is_wildcard
    for text in (
        "",
        ":80",
        "a:0",
        "a:65536",
        "a:x",
        "a:",
        "**",
        "*.com",
        "*a.example.com",
        "127.0.0.1",
        "a/b",
        "a:1:2",
    ):
        with pytest.raises(UsageError, match="not a host to allow"):
            read_rule(text)


@pytest.mark.parametrize(
    "name",
    ["evil-example.com", "example.com.evil.org", "notapi.example.org", "xexample.com", "example.com", "a.example.co"],
)
def test_lookalike_of_an_allowed_name_is_refused(name: str) -> None:
    rules = (read_rule("*.example.com"), read_rule("api.example.org"))
    assert matching_rule(name, 443, rules) is None
    assert matching_rule("a.b.example.com", 443, rules) == rules[0]
    assert matching_rule("api.example.org", 443, rules) == rules[1]
    assert matching_rule("api.example.org", 80, rules) is None


def lists(operator: tuple[str, ...], allow: tuple[str, ...] = (), block: tuple[str, ...] = ()) -> HostAllowance:
    return HostAllowance(
        tuple(map(read_rule, operator)), tuple(map(read_rule, allow)), tuple(read_rule(text, port=0) for text in block)
    )


def test_exact_rule_wins_over_wildcard() -> None:
    web = lists(("*",), block=("upwork.com", "*.upwork.com", "example.com:8443"))
    assert web.refusal("pypi.org", 443) == ""
    assert web.refusal("pypi.org", 80) == "is not allowed"
    for name in ("upwork.com", "www.upwork.com", "a.b.upwork.com"):
        assert web.refusal(name, 443).startswith("is blocked by the suite")
    assert web.refusal("notupwork.com", 443) == web.refusal("upwork.com.example.net", 443) == ""
    assert web.suite_refusal("example.com", 8443) and not web.suite_refusal("example.com", 443)
    only = lists(("*",), allow=("*.wikipedia.org", "pypi.org"), block=("de.wikipedia.org",))
    assert only.refusal("en.wikipedia.org", 443) == only.refusal("pypi.org", 443) == ""
    for name in ("wikipedia.org", "xwikipedia.org", "en.wikipedia.org.evil.example", "xpypi.org"):
        assert only.refusal(name, 443) == "is not on the suite's list"
    assert "blocked" in only.refusal("de.wikipedia.org", 443)
    assert lists((), allow=("pypi.org",)).refusal("pypi.org", 443) == "is not allowed"


def test_suite_limits_a_wildcard() -> None:
    for wildcard, operator, allow, block, why in (
        ("*", "*", (), (), ""),
        ("*.example.com", "*", (), (), ""),
        ("*", "*.example.com", (), (), "is not allowed"),
        ("*.example.com", "*", ("a.example.com",), (), ""),
        ("*.example.com", "*", ("*.a.example.com",), (), ""),
        ("*.example.com", "*", ("*.com.example",), (), "is not on the suite's list"),
        ("*.example.com", "*", ("a.example.com:80",), (), "is not on the suite's list"),
        ("*.example.com", "*", (), ("*.example.com",), "is blocked by the suite"),
        ("*.example.com", "*", (), ("a.example.com",), ""),
    ):
        assert lists((operator,), allow, block).wildcard_refusal(wildcard, 443) == why, (
            wildcard,
            operator,
            allow,
            block,
        )


NAMES = ("*", "*.example.com", "a.example.com", "pypi.org", "*.pypi.org", "*.a.example.com")
HOSTS = ("a.example.com", "b.a.example.com", "pypi.org", "x.pypi.org", "other.example", "example.com")


@given(st.lists(st.sampled_from(NAMES)), st.lists(st.sampled_from(NAMES)), st.sampled_from(HOSTS))
def test_suite_never_widens_the_operators_allowance(allow: list[str], block: list[str], name: str) -> None:
    operator = ("*.example.com", "pypi.org")
    both, plain = lists(operator, tuple(allow), tuple(block)), lists(operator)
    if not both.refusal(name, 443):
        assert not plain.refusal(name, 443)
        assert not any(read_rule(text, port=0).matches(name, 443) for text in block)
        assert not allow or any(read_rule(text).matches(name, 443) for text in allow)
