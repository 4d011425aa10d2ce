"""An outside case: integers beyond what a browser reads as a number."""

from __future__ import annotations

from pathlib import Path

import pytest

from viewing import material


def check(room: Path, request: pytest.FixtureRequest) -> None:
    store, views = material.shown(room, Path(__file__).parent)
    rows = material.loaded(store, views["big.sqlite"], "0/0")
    assert rows == [["1234567890123456789", 0.1], ["-9223372036854775808", "inf"]]
