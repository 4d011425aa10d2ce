"""Power of a plan in a dry run, compared with calculations by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.material import some_material
from worksample.errors import UsageError
from worksample.experiments.planning.experiment_plan import Plan, plan
from worksample.experiments.power_basis import basis_of, guessed_basis
from worksample.experiments.statistical_power import power_outlook
from worksample.metrics import Aim

REACH = 1.959964 + 0.841621
"""Normal quantiles of 97.5 % and 80 %."""


def planned(**grid: int) -> Plan:
    material = some_material(**({"agents": 1, "tasks": 2, "instances": 1, "repeats": 1, "seed": 0, "arms": 1} | grid))
    return plan(material, author="me", at=datetime(2026, 1, 1, tzinfo=UTC), versions={}, settings={})


def test_at_a_quarter_passing_half_the_variance_lies_between_tasks() -> None:
    # 0.25 x 0.75 / 2 = 0.09375 between tasks, half of it shared by the two agents, and as much between repeats. The
    # second agent's are larger, and the exact test allows for one task more.
    found = power_outlook(planned(tasks=300))
    assert found.detectable is not None
    assert 1 < found.detectable / (REACH * (2 * (0.046875 + 0.09375) / 300) ** 0.5) < 1.1
    assert 2453 < found.needed[1] < 1.08 * 2453
    assert 1636 < found.needed[2] < 1.1 * 1636
    assert power_outlook(planned(tasks=3, repeats=4)).needed.keys() == {1, 2, 3, 4, 5}


def test_one_task_shows_no_difference() -> None:
    assert power_outlook(planned(tasks=1, instances=3)).detectable is None
    assert power_outlook(planned(tasks=5)).detectable is None


@given(st.integers(9, 14), st.integers(1, 3), st.integers(1, 4))
@settings(max_examples=5)
def test_more_work_detects_smaller_differences(tasks: int, instances: int, repeats: int) -> None:
    found = power_outlook(planned(tasks=tasks, instances=instances, repeats=repeats))
    more = power_outlook(planned(tasks=tasks + 1, instances=instances, repeats=repeats + 1))
    assert found.detectable is not None and more.detectable is not None
    assert more.detectable <= 1.02 * found.detectable
    assert list(found.needed.values()) == sorted(found.needed.values(), reverse=True)
    assert power_outlook(planned(), Aim(points=0.1)).needed[1] < power_outlook(planned()).needed[1]


def pilot_of(tasks: int, repeats: int, agents: int = 2, seed: int = 0, flat: float | None = None) -> pl.DataFrame:
    """Agents of one strength on tasks whose chances are the same for both: difficulty is shared in full."""
    rng = np.random.default_rng(seed)
    chance = rng.beta(0.6, 1.4, tasks)
    rows = [
        (f"agent{a}", f"t{t}", "i", f"t{t}/i", float(rng.random() < chance[t]) if flat is None else flat)
        for a in range(agents)
        for t in range(tasks)
        for _ in range(repeats)
    ]
    return pl.DataFrame(rows, schema=["who", "task", "instance_name", "key", "credit"], orient="row")


def test_pilots_own_data_replace_the_guess() -> None:
    """Chances of Beta(0.6, 1.4): 0.07 of the 0.21 lies between tasks, and all of that is shared."""
    found = basis_of(pilot_of(2000, 3), "trial").variances
    assert (found.task, found.repeat) == (pytest.approx(0.07, rel=0.1), pytest.approx(0.14, rel=0.1))
    assert found.shared > 0.9
    small = basis_of(pilot_of(40, 3), "trial")
    assert "trial's own 240 graded trials on 40 tasks" in small.assumed
    assert power_outlook(planned(), basis=small).needed != power_outlook(planned()).needed
    assert power_outlook(planned(), basis=small).assumed == small.assumed


def test_pilot_without_repeats_or_rivals_names_its_assumptions() -> None:
    lone = basis_of(pilot_of(200, 1, agents=1), "trial")
    assert "without repeats" in lone.assumed and "half of the difficulty shared" in lone.assumed
    assert lone.variances.task == lone.variances.repeat and lone.variances.shared == 0.5
    for table in (pilot_of(3, 2), pilot_of(9, 2, flat=1.0)):
        with pytest.raises(UsageError) as caught:
            basis_of(table, "trial")
        assert "--expect" in (caught.value.next or "")


def test_guessed_rate_is_an_option() -> None:
    assert power_outlook(planned(), basis=guessed_basis(0.02)).needed[1] < power_outlook(planned()).needed[1]
    assert "passes 2%" in guessed_basis(0.02).assumed
    with pytest.raises(UsageError):
        guessed_basis(1.0)
