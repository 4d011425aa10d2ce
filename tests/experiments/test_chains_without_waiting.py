"""A chain continues as soon as its own verdict stands, without waiting for other chains."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from experiments.judged_by_people import config_of
from experiments.test_any_protocol import planned, run
from experiments.test_chains import stands
from worksample.experiments.config import AgentConfig, ArmConfig, ChainConfig
from worksample.records import Slot, Trial
from worksample.store import Store, check

if TYPE_CHECKING:
    import worksample as ws

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
HERE = "experiments.test_chains_without_waiting"
AGAIN = threading.Event()
"""Set once the second attempt on ada's letter was made."""
OTHERS = threading.Event()
"""Set once the other agent is at a second attempt."""
PATIENCE = 300
GRADE = """
from worksample.kit import Case, Grade, exact, weighted


def grade(case: Case) -> Grade:
    return weighted(case, same=lambda: exact(case.text("letter.txt"), case.ref_text("letter.txt")))
"""


async def straggler(work: ws.Assignment) -> None:
    """Forgets ada's name at first, and is not done with grace's before ada has a second letter and others try again."""
    name = (await work.read(f"{work.input}/name.txt")).decode()
    if name == "ada":
        first = "# Your earlier work" not in work.brief
        await work.write(f"{work.output}/letter.txt", "Dear you" if first else "Dear ada")
        if not first:
            AGAIN.set()
        return
    came = await asyncio.to_thread(lambda: AGAIN.wait(PATIENCE) and OTHERS.wait(PATIENCE))
    await work.write(f"{work.output}/letter.txt", "Dear grace" if came else "Nobody came")


async def hasty(work: ws.Assignment) -> None:
    """Is done at once, and never right."""
    if "# Your earlier work" in work.brief:
        OTHERS.set()
    await work.write(f"{work.output}/letter.txt", "Dear all")


def test_chain_does_not_wait_for_stragglers_of_others(tmp_path: Path) -> None:
    config = config_of(tmp_path, "program").replaced(
        agents=tuple(
            AgentConfig(harness="object", name=name, settings={"object": f"{HERE}:{name}"})
            for name in ("straggler", "hasty")
        ),
        arms=(ArmConfig(name="retry", feedback="retry"),),
        chain=ChainConfig(reattempts=2),
    )
    (tmp_path / "letter" / "grade.py").write_text(GRADE)
    AGAIN.clear()
    OTHERS.clear()
    with Store.open(tmp_path / "store", create=True) as store:
        experiment = planned(store, config)
        status = run(store, experiment, config).status
        told = stands(store, experiment)
        assert {key: sorted(map(bool, passed)) for key, passed in told.items()} == {
            ("first", 1): [False, False, False, True],
            ("retry", 2): [False, False, True],
            ("retry", 3): [False, False],
        }
        assert (status.planned, status.finished, status.graded, status.complete) == (9, 9, 9, True)
        # The other agent's re-attempts were made in the meantime, too: an agent that is done is not sent home.
        trials = {trial.slot: trial for trial in store.find(Trial, live=True)}
        last = max(trials[slot.id].ended for slot in store.find(Slot) if slot.attempt == 1)
        again = [trials[slot.id].started for slot in store.find(Slot) if slot.attempt == 2]
        assert sum(started < last for started in again) >= 2
        assert check(store) == []
