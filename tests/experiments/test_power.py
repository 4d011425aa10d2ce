"""What a dry run says of a plan's power, against the arithmetic done by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.material import some_material
from worksample.experiments.planning import Plan, plan
from worksample.experiments.power import outlook
from worksample.metrics import Aim

REACH = 1.959964 + 0.841621
"""Normal quantiles of 97.5 % and 80 %."""


def planned(**grid: int) -> Plan:
    material = some_material(**({"agents": 1, "tasks": 2, "instances": 1, "repeats": 1, "seed": 0, "arms": 1} | grid))
    return plan(material, author="me", at=datetime(2026, 1, 1, tzinfo=UTC), versions={}, settings={})


def test_at_a_quarter_passing_half_the_variance_lies_between_tasks() -> None:
    # 0.25 x 0.75 / 2 = 0.09375 between tasks, half of it shared by the two agents, and as much between repeats.
    found = outlook(planned(tasks=3))
    assert found.detectable == pytest.approx(REACH * (2 * (0.046875 + 0.09375) / 3) ** 0.5, rel=1e-5)
    assert found.needed[1] == 2453
    assert found.needed[2] == 1636
    assert outlook(planned(tasks=3, repeats=4)).needed.keys() == {1, 2, 3, 4, 5}


def test_one_task_shows_no_difference() -> None:
    assert outlook(planned(tasks=1, instances=3)).detectable is None


@given(st.integers(2, 6), st.integers(1, 3), st.integers(1, 4))
def test_more_work_sees_more(tasks: int, instances: int, repeats: int) -> None:
    found = outlook(planned(tasks=tasks, instances=instances, repeats=repeats))
    more = outlook(planned(tasks=tasks + 1, instances=instances, repeats=repeats + 1))
    assert found.detectable is not None and more.detectable is not None
    assert more.detectable <= found.detectable
    assert list(found.needed.values()) == sorted(found.needed.values(), reverse=True)
    assert outlook(planned(), Aim(points=0.1)).needed[1] < outlook(planned()).needed[1]
