"""The best approach by job value, with probabilities: what must hold whatever the jobs are."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.coverage import feedback
from hypothesis import given
from hypothesis import strategies as st

from worksample import metrics as m
from worksample.errors import UsageError


def chosen(first: list[bool], helped: list[bool], price: list[float], how: m.Resampling | None = None) -> m.Choice:
    n = len(first)
    ways = {
        "alone": m.Outcomes(first, [1.0] * n),
        "helped": m.Outcomes([f or h for f, h in zip(first, helped, strict=True)], [1.0 if f else 11.0 for f in first]),
        "human": m.Outcomes([True] * n, price, assumed=True),
    }
    found = m.choose_from_jobs(ways, nothing=True, how=how or m.Resampling(300))
    assert isinstance(found, m.Choice)
    return found


JOBS = st.lists(st.tuples(st.booleans(), st.booleans(), st.floats(1, 1e4)), min_size=5, max_size=60)


@given(JOBS, st.floats(0, 1e5))
def test_probabilities_sum_to_one_and_regions_are_adjacent(jobs: list[tuple[bool, bool, float]], value: float) -> None:
    found = chosen(*(list(column) for column in zip(*jobs, strict=True)))
    best = found.best(value)
    assert sum(best.values()) == pytest.approx(1) and all(0 < p < 1 for p in best.values())
    assert found.best(value) == chosen(*(list(c) for c in zip(*jobs, strict=True))).best(value)
    for region in found.regions:
        for end in (region.low, region.high):
            if end.value is not None and end.level is not None:
                assert end.low is not None and end.low <= end.value
                assert end.high is None or end.value <= end.high
    assert {r.approach for r in found.regions if r.low.value is not None} == {
        r.approach for r in found.decision.regions
    }


def test_clear_winner_is_named_and_a_tie_is_a_tie() -> None:
    half = [True, False] * 40
    found = chosen(half, [True, True, True, False] * 20, [500.0] * 80)
    assert found.best(100)["helped"] > 0.99 and found.likeliest_at(100).name == "helped"
    assert found.best(0.5)["nothing"] > 0.99
    assert found.gain("helped", "alone", 100).value == pytest.approx(0.25 * 100 - 5)
    even = found.decision.regions[1].high
    assert even is not None and 0.3 < found.best(even)["alone"] < 0.7


def test_perfect_record_of_few_tasks_is_not_certain() -> None:
    few, many = ([True] * n for n in (6, 60))
    at = 300.0
    six, sixty = (chosen(f, f, [4.0] * len(f)).best(at)["human"] for f in (few, many))
    assert 0.9 > six > 1.5 * sixty > 0


def test_normal_limit_of_many_tasks_agrees() -> None:
    rng = np.random.default_rng(3)
    first, helped = (rng.random(2400) < p for p in (0.3, 0.4))
    price = np.exp(rng.normal(4, 1, 2400))
    answers = [chosen(*(list(c[:n]) for c in (first, helped, price)), m.Resampling(4000)) for n in (1999, 2400)]
    ends = [{r.approach: r.high for r in a.regions} for a in answers]
    for name in ("alone", "nothing"):
        one, two = ends[0][name], ends[1][name]
        assert one.high and one.low and two.high and two.low
        assert (two.high - two.low) / (one.high - one.low) == pytest.approx(np.sqrt(1999 / 2400), rel=0.25)


def test_too_few_jobs_have_no_regions_and_tasks_count_once() -> None:
    one = m.Outcomes([True] * 8, [1.0] * 8)
    assert "4 tasks" in str(m.choose_from_jobs({"a": one}, task=["p", "p", "q", "q", "r", "r", "s", "s"]))
    assert "0 tasks" in str(m.choose_from_jobs({"a": m.Outcomes([None] * 8, [1.0] * 8)}))
    with pytest.raises(UsageError):
        m.choose_from_jobs({})
    found = m.choose_from_jobs({"a": one})
    assert isinstance(found, m.Choice)
    with pytest.raises(UsageError):
        found.best(-1)


def test_simulation_of_the_docs_runs_and_holds() -> None:
    """A few of its studies: far off would show."""
    lifts, arms = (feedback.run([(place, world)], 40, (322,)) for place, world in enumerate(feedback.WORLDS[:2], 100))
    cells = {row: found[322] for row, found in (lifts | arms).items()}
    assert all(cell.covers > 0.8 for cell in cells.values()), cells
    rows = {row for _, row, *_ in feedback.tables(4, (40,))}
    assert {"85 to 95 %", "rescue rate"} <= rows
