"""An outside case: a busy machine, on which views took longer on the clock than any of them may take of its own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from viewing import material
from worksample.models import Visibility
from worksample.store import Store
from worksample.viewing import Converter, prepare

OTHERS = 16


def check(room: Path, request: pytest.FixtureRequest) -> None:
    store = Store.open(room / "store", create=True)
    manifest = material.take(store, room / "in", {"song.mid": material.song()})
    allowed = 5.0
    everywhere = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(OTHERS)]
    try:
        views = asyncio.run(prepare(store, manifest, converter=Converter(store, manifest, seconds=allowed)))
    finally:
        for other in everywhere:
            other.kill()
            other.wait()
    assert (views["song.mid"].kind, views["song.mid"].visibility) == ("midi", Visibility.SHOWN), views
