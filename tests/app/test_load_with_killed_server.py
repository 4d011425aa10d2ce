"""Ten evaluators, three hundred items, and a server that is killed midway: no answer is doubled or lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.load import Server, Tally, proof, stock, work_off

pytestmark = pytest.mark.long


@pytest.mark.quick("1")
@pytest.mark.parametrize("workers", [1, 2])
async def test_killed_server_loses_and_doubles_no_answer(tmp_path: Path, workers: int) -> None:
    store = tmp_path / "store"
    round, tokens = stock(store, evaluators=10, agents=3, projects=50)
    server, tally = Server(store, workers=workers, forked=True), Tally()
    server.start()
    try:
        await work_off(server, tokens, tally, kill_at=60)
        assert server.stop() == 0
    finally:
        server.kill()
    proof(store, round, tally, 150)
    # A draft that was saved, and whose answer was lost with the server, is a stale revision when sent again.
    assert {(name, status) for name, status, _ in tally.refused} <= {("draft", 409), ("submit", 409)}, tally.refused
    assert tally.again > 0, "the server was killed while they worked"
    assert len(tally.acknowledged) >= 149
