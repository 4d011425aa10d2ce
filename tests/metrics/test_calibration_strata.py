"""Figures over several agents or strata with few labels: corrected, and from labels alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.coverage.cells import read_rows
from benchmarks.coverage.strata import LENIENT, WORLDS, Strata, measure
from hypothesis import given, settings
from hypothesis import strategies as st

from worksample import metrics as m
from worksample.metrics.calibration.label_sample import LabelKind, check_sample
from worksample.metrics.calibration.labels_only_estimate import effective_labels, labels_only
from worksample.metrics.calibration.prediction_powered import _group_strata


def sample(people: list[float | None], stratum: list[str], project: list[int] | None = None) -> m.Sample:
    return m.Sample([1.0] * len(people), people, project or list(range(len(people))), stratum)


def alone(people: list[float | None], stratum: list[str], project: list[int] | None = None) -> m.Estimate:
    return m.correct_by_labels(sample(people, stratum, project)).labels


def test_proportional_labels_have_clopper_pearson_intervals() -> None:
    people = [*[1.0, 0.0, 0.0, 0.0, 0.0, None, None], *[1.0, 1.0, 0.0, 0.0, 0.0, None, None]]
    found = alone(people, [*"a" * 7, *"b" * 7])
    assert (found.low, found.high) == pytest.approx(m.exact(3, 10), abs=1e-9)
    assert found.method == "exact (Clopper-Pearson)"


def test_equal_labels_of_one_project_count_once() -> None:
    answers = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    people, project = [a for a in answers for _ in range(3)], [i for i in range(10) for _ in range(3)]
    found = alone(people, ["a", "b", "c"] * 10, project)
    assert (found.low, found.high) == pytest.approx(m.exact(3, 10), abs=1e-9)
    assert found.method == "Clopper-Pearson, 10.0 effective labels"
    # Labels that say the same as others by chance alone are worth nearly what they are without projects in common.
    rng = np.random.default_rng(3)
    data = check_sample(
        sample((rng.random(90) < 0.4).astype(float).tolist(), ["a", "b", "c"] * 30, [i // 3 for i in range(90)])
    )
    assert 55 < effective_labels(data, 0.4)(0.4) < 90


def test_stratum_with_many_rows_and_few_labels_widens_label_figures() -> None:
    few = alone([1.0, 0.0, *[None] * 98, *[0.0] * 18, *[None] * 82], [*"a" * 100, *"b" * 100])
    assert few.value == 0.25
    assert few.low is not None and few.high is not None
    # The rate of `a` rests on two labels, of which one passes: from 1 to 99 %.
    assert few.low < 0.03
    assert few.high > 0.5


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(0, 12), st.floats(0, 1)), min_size=1, max_size=8),
    st.integers(0, 2**32 - 1),
    st.sampled_from([LabelKind.RATE, LabelKind.SCORE]),
    st.integers(1, 60),
)
def test_ends_are_ordered_and_effective_labels_never_exceed_labels(
    strata: list[tuple[int, int, float]], seed: int, kind: LabelKind, projects: int
) -> None:
    rng = np.random.default_rng(seed)
    people: list[float | None] = []
    stratum: list[str] = []
    for name, (rows, labels, rate) in enumerate(strata):
        passes = (rng.random(rows) < rate) if kind is LabelKind.RATE else rng.random(rows) * rate
        people += [float(p) if place < labels else None for place, p in enumerate(passes)]
        stratum += [f"s{name}"] * rows
    data = check_sample(sample(people, stratum, rng.integers(0, projects, len(people)).tolist()), kind)
    found = labels_only(data, kind, "labels alone")
    if not data.labels:
        assert found.value is None and found.reason
        return
    assert found.value is not None and found.low is not None and found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0.02
    worth = [effective_labels(data, found.value)(mean) for mean in (0.0, 0.01, 0.3, 0.5, found.value, 1.0)]
    assert min(worth) >= 1 - 1e-6 and max(worth) <= data.labels + 1e-6


@pytest.mark.parametrize("labels", [[3, 3, 3, 3, 3, 3, 2], [1, 1, 1], [10, 10, 10], [2, 30, 2, 9], [1] * 45])
def test_strata_with_few_labels_are_pooled(labels: list[int]) -> None:
    stratum = np.arange(len(labels))
    group = _group_strata(stratum, np.array(labels))
    held = np.bincount(group, weights=labels)
    assert held.min() >= min(10, sum(labels))
    assert (labels == [10, 10, 10]) == (len(held) == len(labels))


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("7 agents, 15 % pass, judge passes all", 20),
        ("7 agents, 3 to 27 % pass, lenient judge", 20),
        ("10 agents, 15 % pass, lenient judge", 30),
        ("5 agents on 60 jobs alike for all, 40 % pass, lenient judge", 50),
        ("preferences of 7 agents, lenient judge", 30),
        ("a stratum of 200 of which 5 % pass, nine of 10 of which 95 % pass", 30),
    ],
)
def test_figures_over_several_strata_cover_the_truth(name: str, labels: int) -> None:
    world = next(w for w in WORLDS if w.name == name)
    found = measure(world, labels, 200)
    assert found.corrected.none < 150
    assert found.corrected.covers >= 0.92
    assert found.labels.covers >= 0.93
    if not world.least and world.kind is LabelKind.RATE:
        assert np.mean(found.ratios) < 1.3


@pytest.mark.parametrize("rates", [(0.1, *[0.0] * 9), (*[0.0] * 9, 0.1), (0.9, *[1.0] * 9)])
def test_label_figures_cover_the_truth_if_one_stratum_all_passes(rates: tuple[float, ...]) -> None:
    """Nineteen labels of ten strata: nine have two, and one stratum's label stands for twice as many rows."""
    assert measure(Strata("one", (100,) * 10, rates, (LENIENT,), nested=True), 19, 200).labels.covers >= 0.93


def test_stratum_without_a_label_withholds_the_corrected_figure() -> None:
    rng = np.random.default_rng(1)
    people = [float(p) if i < 40 else None for i, p in enumerate(rng.random(60) < 0.3)]
    found = m.correct_by_labels(sample(people, [f"agent {i // 20}" for i in range(60)]))
    assert found.figure.value is None
    assert found.figure.reason == "no label in agent 2: draw some in each"
    assert found.labels.conditional_on == ("strata with labels; none in agent 2",)


def test_docs_claim_of_93_percent_holds_over_strata() -> None:
    rows = read_rows(Path(__file__).parents[2] / "docs/data/calibration-strata.csv")
    shown = {row[0]: row[1:] for row in rows}
    assert {world.name for world in WORLDS} <= set(shown)
    for name, cells in shown.items():
        if "width" in name or "coverage" in name:
            continue
        assert all(cell == "none" or float(cell.split(",")[0]) >= 93 for cell in cells), (name, cells)
