"""What a box can reach, and nothing else: named endpoints, each leading where one rule says, every connection recorded.

`serving` serves a box's endpoints by targets: a host that the operator allowed (`Host`), a proxy for wildcards
(`ConnectProxy`), what answers in this process (`Streams`), nothing (`Nowhere`).
"""

from __future__ import annotations

from .connect_proxy import ConnectProxy
from .record import Contact, Ledger
from .relay import relay
from .rules import Allowance, HostRule, allowed_by, read_rule, refused_network
from .serving import serving, serving_sockets
from .targets import Host, Nowhere, Refused, Streams, Target

__all__ = [
    "Allowance",
    "ConnectProxy",
    "Contact",
    "Host",
    "HostRule",
    "Ledger",
    "Nowhere",
    "Refused",
    "Streams",
    "Target",
    "allowed_by",
    "read_rule",
    "refused_network",
    "relay",
    "serving",
    "serving_sockets",
]
