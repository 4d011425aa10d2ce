"""Ten thousand connections that fail at once, then one that gets through: its name is in the record."""

from __future__ import annotations

from pathlib import Path

import pytest

from worksample.sandboxes.endpoints import ConnectionLedger, ConnectionRecord


def failing(ledger: ConnectionLedger, count: int) -> None:
    """Connections to the proxy that ask for nothing, and are gone."""
    for _ in range(count):
        contact = ledger.begin("proxy.internal:3128", "proxy for *.example.com:443")
        contact.failed = "[Errno 32] Broken pipe"
        ledger.end(contact)


def tunnel(ledger: ConnectionLedger, name: str) -> ConnectionRecord:
    """One that is let through."""
    contact = ledger.begin("proxy.internal:3128", "allow *.example.com:443")
    contact.name, contact.peer, contact.sent, contact.received = name, "93.184.216.34:443", 10, 20
    return contact


def check(room: Path, fixtures: pytest.FixtureRequest) -> None:
    """Names that got through are there, whatever was before, after or between; sums by name are exact."""
    ledger = ConnectionLedger()
    failing(ledger, 12_000)
    going = tunnel(ledger, "still.example.com:443")
    ledger.end(tunnel(ledger, "answers.example.com:443"))
    names = {row.get("name") for row in ledger.plain()}
    assert {"still.example.com:443", "answers.example.com:443"} <= names
    ledger.end(going)
    for _ in range(15_000):
        ledger.end(tunnel(ledger, "often.example.com:443"))
    ledger.end(tunnel(ledger, "last.example.com:443"))
    rows = ledger.plain()
    assert {"often.example.com:443", "last.example.com:443"} <= {row.get("name") for row in rows}
    kept = sum(row.get("name") == "often.example.com:443" for row in rows)
    more = {row["more"].get("name", row["more"].get("endpoint")): row["more"] for row in rows if "more" in row}
    assert kept + more["often.example.com:443"]["connections"] == 15_000
    assert more["often.example.com:443"]["sent"] == 10 * (15_000 - kept)
    refused = sum(row.get("failed", "") != "" for row in rows)
    assert refused + more["proxy.internal:3128"]["connections"] == 12_000
    assert len(rows) < 12_000
