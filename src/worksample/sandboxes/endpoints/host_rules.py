"""Rules for the hosts that a box may reach: host names that an operator allowed, at addresses of the public internet
only.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from worksample.box import is_host_name
from worksample.errors import UsageError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

REFUSED: dict[str, str] = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private (RFC 1918)",
    "100.64.0.0/10": "shared by carriers (RFC 6598), and a cloud's metadata",
    "127.0.0.0/8": "loopback",
    "168.63.129.16/32": "a cloud's metadata",
    "169.254.0.0/16": "link-local, and clouds' metadata",
    "172.16.0.0/12": "private (RFC 1918)",
    "192.0.0.0/24": "reserved (RFC 6890), and a cloud's metadata",
    "192.0.2.0/24": "for documentation",
    "192.88.99.0/24": "6to4 relays",
    "192.168.0.0/16": "private (RFC 1918)",
    "198.18.0.0/15": "for benchmarks (RFC 2544)",
    "198.51.100.0/24": "for documentation",
    "203.0.113.0/24": "for documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
    "::/96": "IPv4 inside IPv6, loopback and nothing",
    "::ffff:0:0/96": "IPv4 inside IPv6",
    "::ffff:0:0:0/96": "IPv4 inside IPv6",
    "64:ff9b::/96": "IPv4 inside IPv6 (NAT64)",
    "64:ff9b:1::/48": "IPv4 inside IPv6 (NAT64)",
    "100::/64": "discarded",
    "2001::/23": "special purposes, IPv4 inside IPv6 among them",
    "2001:db8::/32": "for documentation",
    "2002::/16": "IPv4 inside IPv6 (6to4)",
    "3fff::/20": "for documentation",
    "5f00::/16": "segment routing",
    "fc00::/7": "private (ULA), and a cloud's metadata",
    "fe80::/10": "link-local",
    "fec0::/10": "site-local",
    "ff00::/8": "multicast",
}
"""Networks to which the platform never connects, with the reason. They are listed here because versions of Python's
libraries disagree about which networks are private.
"""
_NETWORKS = tuple((ipaddress.ip_network(text), says) for text, says in REFUSED.items())


def address_refusal(address: str) -> str:
    """Return why the platform must not connect to an address that a resolver returned, or "" if the address is
    allowed.
    """
    try:
        found: Address = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return f"{address} is not an address"
    for network, says in _NETWORKS:
        if found.version == network.version and found in network:
            return f"{address} is in {network}: {says}"
    return ""


@dataclass(frozen=True, slots=True)
class HostRule:
    """A rule for one port of a host. `name` is an exact host name, or `*.example.com` for all names below example.com
    without example.com itself, or `*` for every name.
    """

    name: str
    port: int = 443
    """Port of the host. 0 stands for all ports and is allowed only in rules that block a host."""

    @property
    def is_wildcard(self) -> bool:
        """Return whether the rule covers many host names. Only the CONNECT proxy can check a connection against a
        wildcard.
        """
        return self.name.startswith("*")

    def matches(self, name: str, port: int) -> bool:
        """Return whether the rule covers a host name (in lower case) and a port."""
        if port != self.port and self.port:
            return False
        return name.endswith(self.name[1:]) if self.is_wildcard else name == self.name

    def __str__(self) -> str:
        return f"{self.name}:{self.port}" if self.port else self.name


def read_rule(text: str, port: int = 443) -> HostRule:
    """Return the rule that `NAME` or `NAME:PORT` describes. `port` is used if `text` names no port. Raises UsageError
    if `text` is malformed.
    """
    name, sign, digits = text.strip().lower().partition(":")
    if sign:
        port = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else -1
    sound = is_wildcard(name) or is_host_name(name)
    if not sound or not (0 < port < 1 << 16 or (port == 0 and not sign)):
        raise UsageError(
            f"{text!r} is not a host to allow: give NAME, *.NAME or *, with :PORT if it is not 443; no IP address",
            next="--allow-host api.example.com:443",
        )
    return HostRule(name, port)


def is_wildcard(name: str) -> bool:
    """Return whether a host name is a wildcard: `*`, or `*.` followed by a name of at least two parts."""
    return name == "*" or (name.startswith("*.") and is_host_name(name[2:]) and "." in name[2:])


def matching_rule(name: str, port: int, rules: tuple[HostRule, ...]) -> HostRule | None:
    """Return the rule that covers a port of a host, or None if no rule does. A rule with the exact name takes
    precedence over a wildcard.
    """
    fitting = [rule for rule in rules if rule.matches(name, port)]
    return min(fitting, key=lambda rule: (rule.is_wildcard, -len(rule.name)), default=None)


@dataclass(frozen=True, slots=True)
class HostAllowance:
    """The hosts that a box may reach: the hosts that the operator allows, restricted by the rules of the suite."""

    operator: tuple[HostRule, ...] = ()
    suite: tuple[HostRule, ...] = ()
    """Hosts that the suite allows. If the tuple is not empty, no other host may be reached."""
    blocked: tuple[HostRule, ...] = ()
    """Hosts that the suite blocks."""

    def refusal(self, name: str, port: int) -> str:
        """Return why a box may not reach a host at a port, or "" if it may."""
        if matching_rule(name, port, self.operator) is None:
            return "is not allowed"
        return self.suite_refusal(name, port)

    def suite_refusal(self, name: str, port: int) -> str:
        """Return why the suite refuses a host at a port, or "" if the suite allows it."""
        if rule := matching_rule(name, port, self.blocked):
            return f"is blocked by the suite ({rule})"
        if self.suite and matching_rule(name, port, self.suite) is None:
            return "is not on the suite's list"
        return ""

    def wildcard_refusal(self, wildcard: str, port: int) -> str:
        """Return why no host under a wildcard can be reached, or "" if the operator allows every host under the
        wildcard.
        """
        some = "x" + wildcard[1:]
        if not any(rule.is_wildcard and rule.matches(some, port) for rule in self.operator):
            return "is not allowed"
        if any(rule.is_wildcard and rule.matches(some, port) for rule in self.blocked):
            return "is blocked by the suite"
        own = HostRule(wildcard, port)
        if self.suite and not any(
            rule.matches(some, port) if rule.is_wildcard else own.matches(rule.name, rule.port) for rule in self.suite
        ):
            inside = any(own.matches("x" + rule.name[1:], rule.port) for rule in self.suite if rule.is_wildcard)
            return "" if inside else "is not on the suite's list"
        return ""
