"""The record of a box's connections, one line per connection. The record is stored in this process, so the box cannot
change it.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from worksample.files.content_sink import Sink
from worksample.records import CaptureStatus, Entry, Manifest, SubmissionPart, canonical, now
from worksample.store import put_canonical

NAME = "connections.jsonl"
MOST = 10_000
"""Maximum successful connections of a box that are recorded individually. For further connections, only counts and
bytes per name are recorded.
"""
MOST_REFUSED = 1_000
"""Maximum refused or failed connections of a box that are recorded individually. They are counted separately from
successful connections.
"""
MOST_NAMES = 10_000
"""Maximum host names for which a first connection and sums are recorded. Successful and refused connections have this
maximum separately.
"""
OTHERS = "*"
"""Name of the line that holds the sums of all host names beyond MOST_NAMES."""


@dataclass(slots=True, eq=False)
class ConnectionRecord:
    """The record of one connection. The numbers of bytes and seconds grow while the connection lasts."""

    endpoint: str
    rule: str
    at: datetime = field(default_factory=now)
    name: str = ""
    """Host name that a program in the box requested from a proxy; "" without a proxy."""
    peer: str = ""
    """IP address to which the platform connected."""
    sent: int = 0
    """Bytes sent from the box."""
    received: int = 0
    """Bytes received by the box."""
    seconds: float | None = None
    """Duration of the connection in seconds; None while the connection lasts."""
    refused: str = ""
    """Reason why the connection was refused, or ""."""
    failed: str = ""
    """Reason why the connection broke, or ""."""
    _began: float = field(default_factory=time.monotonic)

    def end(self) -> None:
        """Set the duration at the end of the connection."""
        self.seconds = round(time.monotonic() - self._began, 6)

    def plain(self) -> dict[str, Any]:
        """Return the record in its stored form."""
        out: dict[str, Any] = {"at": self.at.isoformat(), "endpoint": self.endpoint, "rule": self.rule}
        out |= {"sent": self.sent, "received": self.received, "seconds": self.seconds}
        for name in ("name", "peer", "refused", "failed"):
            if getattr(self, name):
                out[name] = getattr(self, name)
        return out

    @property
    def was_established(self) -> bool:
        """Return whether the connection was established."""
        return not self.refused and bool(self.peer or (self.received and not self.failed))


class ConnectionLedger:
    """The record of every connection of one box. Successful connections have their own maximum number of lines, so
    refused or failed connections cannot displace them.
    """

    def __init__(self, most: int = MOST, names: int = MOST_NAMES) -> None:
        self._open: dict[ConnectionRecord, None] = {}
        self._through, self._refused = _RetainedRecords(most, names), _RetainedRecords(min(most, MOST_REFUSED), names)

    @property
    def contacts(self) -> list[ConnectionRecord]:
        """The individually recorded connections, in the order in which they began."""
        kept = (*self._through.kept, *self._refused.kept, *self._open)
        return sorted(kept, key=lambda contact: contact.at)

    def begin(self, endpoint: str, rule: str) -> ConnectionRecord:
        """Record a connection that begins now, and return its record."""
        contact = ConnectionRecord(endpoint, rule)
        self._open[contact] = None
        return contact

    def end(self, contact: ConnectionRecord) -> None:
        """Record the end of a connection. If the maximum number of connections is reached, only the sums are
        updated.
        """
        contact.end()
        if contact in self._open:
            del self._open[contact]
            (self._through if contact.was_established else self._refused).add(contact)

    def part(self, sink: Sink) -> SubmissionPart:
        """Write the record to `sink` as the file `connections.jsonl` and return it as a part of a submission."""
        data = b"".join(canonical(line) + b"\n" for line in self.plain())
        manifest = Manifest(entries=(Entry(path=NAME, size=len(data), blob=sink.put(data)),))
        digest = put_canonical(sink, manifest.plain())
        return SubmissionPart(manifest=digest, status=CaptureStatus.COMPLETE, files=1, size=len(data))

    def plain(self) -> list[dict[str, Any]]:
        """Return one record per connection, then the sums per name of the connections beyond the maximum, and last the
        total of these sums.
        """
        sums: dict[_Key, Counter[str]] = {}
        for room in (self._through, self._refused):
            for key, one in room.over.items():
                sums.setdefault(key, Counter()).update(one)
        lines = [contact.plain() for contact in self.contacts]
        if not sums:
            return lines
        if len(self._through.known | self._refused.known) > 1:
            lines += [{"more": {**_name_fields(key), **one}} for key, one in sums.items()]
        whole: Counter[str] = Counter()
        for one in sums.values():
            whole.update(one)
        return [*lines, {"more": dict(whole)}]


_Key = tuple[str, str]
"""Key of the sums: an endpoint, and the host name that was requested from a proxy."""


def _name_fields(key: _Key) -> dict[str, str]:
    endpoint, name = key
    return {"endpoint": endpoint, "name": name} if name else {"endpoint": endpoint}


class _RetainedRecords:
    """The individually stored records of either the successful or the refused connections of a box."""

    def __init__(self, most: int, names: int) -> None:
        self.kept: list[ConnectionRecord] = []
        self.known: set[_Key] = set()
        self.over: dict[_Key, Counter[str]] = {}
        """Sums of the connections that were not stored individually."""
        self._left, self._names = most, names

    def add(self, contact: ConnectionRecord) -> None:
        """Store a record, or add it to the sums if there is no room. The first record of each name is stored; all names
        share the remaining room.
        """
        key = (contact.endpoint, contact.name)
        first = key not in self.known and len(self.known) < self._names
        if first:
            self.known.add(key)
        if first or self._left > 0:
            self._left -= 1
            self.kept.append(contact)
            return
        sums = self.over.setdefault(key if key in self.known else (contact.endpoint, OTHERS), Counter())
        more = {"connections": 1, "sent": contact.sent, "received": contact.received, "refused": bool(contact.refused)}
        sums.update({name: int(value) for name, value in more.items()})
