"""A chain killed at any step ends like an unkilled one: no attempt, feedback or cost is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from experiments.judged_by_people import hire
from experiments.learners import judge_by_reading
from experiments.test_any_protocol import planned, run
from experiments.test_chains import chained, stands
from worksample.fault_injection import OF_CHAINS
from worksample.people import People
from worksample.people.clock import now_in_microseconds
from worksample.records import Experiment, Slot, Submission, Trial
from worksample.results.reattempts.chain_state import chains_of
from worksample.store import Store, check

pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning")]
TESTS = Path(__file__).parents[1]
CLOSING = ("close.commit", "store.object", "close.committed")
POINTS = ("chain.decided", "chain.committed", *CLOSING, "chain.carried")
"""In the order in which a run comes to them: one that does not come to its point leaves the others nothing to do."""
RUN = """
import sys
from pathlib import Path
from worksample.experiments.config import ExperimentConfig
from worksample.experiments.experiment_runner import run_experiment
from worksample.python_api.experiment_run import options_of
from worksample.records import Experiment
from worksample.store import Store

config = ExperimentConfig.model_validate_json(Path(sys.argv[2]).read_bytes())
with Store.open(sys.argv[1]) as store:
    [experiment] = store.find(Experiment)
    run_experiment(store, experiment, options_of(config))
"""


class Ticking:
    """Each look takes five minutes, so that answers take time; a day for each turn."""

    def __init__(self, turn: int) -> None:
        self.now = now_in_microseconds() + turn * 86_400_000_000

    def __call__(self) -> int:
        self.now += 300_000_000
        return self.now


def killed_at(point: str, store: Path, config: Path) -> bool:
    """Whether the run came to the point."""
    env = {**os.environ, "PYTHONPATH": str(TESTS), "WORKSAMPLE_FAULT": f"{point}:kill", "INSPECT_DISPLAY": "none"}
    words = [sys.executable, "-c", RUN, str(store), str(config)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, env=env)
    assert done.returncode in (0, -9), done.stderr[-3000:]
    return done.returncode == -9


@pytest.mark.long(seconds=120)
@pytest.mark.thorough(quick="experiments/test_chains.py::test_chains_continue_as_people_judge_until_nothing_is_due")
def test_chain_killed_at_every_step_ends_like_an_unkilled_one(tmp_path: Path) -> None:
    config = chained(tmp_path, hours=2)
    (tmp_path / "config.json").write_text(config.model_dump_json())
    where, killed = tmp_path / "store", Counter[str]()
    with Store.open(where, create=True) as store:
        experiment = planned(store, config)
        # Unchanged work is judged by somebody new each time.
        hire(store, "ann", "bob", "cem")
    for turn in range(4):
        # No chain is decided over before first attempts are judged.
        for point in (p for p in (POINTS if turn else CLOSING) if killed[p] < 2):
            killed[point] += killed_at(point, where, tmp_path / "config.json")
        with Store.open(where) as store:
            run(store, experiment, config)
            people = People(store, clock=Ticking(turn))
            for expert in people.accounts.all():
                judge_by_reading(store, people, expert)
    assert all(killed[point] for point in POINTS) and set(POINTS) > set(OF_CHAINS), killed
    with Store.open(where) as store:
        assert [str(fault) for fault in check(store, deep=True)] == []
        assert stands(store, store.get(Experiment, experiment.id))[("people", 3)] == [True, True]
        live = Counter(t.slot for t in store.find(Trial, live=True))
        assert live == Counter(s.id for s in store.find(Slot)) and set(live.values()) == {1}
        assert len(store.find(Slot)) == 14 and len(store.find(Submission)) >= 14
        hours = {round(sum(link.hours or 0 for link in c.links), 3) for c in chains_of(store, experiment)}
        assert hours == {0.25}  # five minutes for each of three attempts, counted once
