"""Reasons for open slots are shown once per agent and cause, with the provider's words, on terminal and index."""

from __future__ import annotations

from pathlib import Path

from store import worlds
from worksample.errors import Cause
from worksample.records import Ending, TrialOutcome
from worksample.reports import leaderboard, write_report
from worksample.store import Store

WORDS = "HTTP 401: Incorrect API key provided: sk-abc***xyz <b>"


def test_providers_words_reach_board_and_index(tmp_path: Path) -> None:
    world = worlds.World()
    with worlds.planted(Store.open(tmp_path / "store", create=True), world) as store:
        refused = TrialOutcome(ending=Ending.FAILED, cause=Cause.MODEL_KEY, reason=WORDS)
        for slot in (0, 1, 2):
            store.commit(world.trial(slot, f"t{slot}", slot + 1, Cause.MODEL_KEY).replaced(outcome=refused))
        served = world.trial(3, "t3", 5)
        store.commit(world.trial(3, "lost", 4, Cause.SANDBOX_LOST))
        store.commit(served, made := world.submission(served), world.evaluation(made.id, "e3", instance=made.instance))
        sentence = f"ann: 3 slots are open, the model's service rejects this key: {WORDS}"
        assert [note for note in leaderboard(store).notes if "open" in note] == [sentence]
        write_report(store, [], tmp_path / "out")
    index = (tmp_path / "out" / "index.html").read_text()
    assert index.count("Incorrect API key provided: sk-abc***xyz &lt;b&gt;") == 1
