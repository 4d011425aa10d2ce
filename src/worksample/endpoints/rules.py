"""What may be reached: names that an operator allowed, at addresses of the public internet only."""

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
"""Networks that are never dialled, whoever asks, and what they are. Written out: libraries' ideas of "private" differ
between versions."""
_NETWORKS = tuple((ipaddress.ip_network(text), says) for text, says in REFUSED.items())


def refused_network(address: str) -> str:
    """Why an address, as a resolver gives it, is not dialled; "" where it may be."""
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
    """A host that may be reached, at one port. `name` is exact, or `*.example.com`: all names below, not that one."""

    name: str
    port: int = 443

    @property
    def wildcard(self) -> bool:
        """Whether it stands for many names, which only the CONNECT proxy can tell apart."""
        return self.name.startswith("*.")

    def fits(self, name: str, port: int) -> bool:
        """Whether a name, in lower case, and a port fall under it."""
        if port != self.port:
            return False
        return name.endswith(self.name[1:]) if self.wildcard else name == self.name

    def __str__(self) -> str:
        return f"{self.name}:{self.port}"


def read_rule(text: str) -> HostRule:
    """A rule from `NAME` or `NAME:PORT`; the port is 443 where none is given. UsageError."""
    name, sign, digits = text.strip().lower().partition(":")
    port = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else 0 if sign else 443
    if not 0 < port < 1 << 16 or not is_host_name(name.removeprefix("*.")) or name.count(".") < name.count("*") * 2:
        raise UsageError(
            f"{text!r} is not a host that can be allowed: a name or *.NAME, with a port or 443; addresses are not",
            next="--allow-host api.example.com:443",
        )
    return HostRule(name, port)


def allowed_by(name: str, port: int, rules: tuple[HostRule, ...]) -> HostRule | None:
    """The rule that allows a host; the exact one before a wildcard. None where it is refused."""
    fitting = [rule for rule in rules if rule.fits(name, port)]
    return min(fitting, key=lambda rule: (rule.wildcard, -len(rule.name)), default=None)
