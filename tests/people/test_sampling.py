"""Drawn pairs and samples: stratified, balanced, repeatable."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worksample.errors import PlanError
from worksample.people.judging.blinding import BLOT, scrub
from worksample.people.judging.item_leases import is_flipped, random_start
from worksample.people.rounds.round_subjects import enriched_sample, one_per_project
from worksample.results.pair_sampling import PairCandidate, sample_pairs


def entries(table: list[list[int]]) -> list[PairCandidate]:
    """table[agent][project]: how many deliverables."""
    return [
        PairCandidate(f"a{a}p{p}n{n}", f"agent{a}", f"i{p}", f"task/{p}")
        for a, row in enumerate(table)
        for p, count in enumerate(row)
        for n in range(count)
    ]


tables = st.integers(1, 8).flatmap(
    lambda projects: st.lists(st.lists(st.integers(0, 2), min_size=projects, max_size=projects), min_size=2, max_size=5)
)


@given(tables, st.integers(1, 5), st.integers(0, 1000))
def test_each_pair_of_agents_meets_on_enough_projects(table: list[list[int]], wanted: int, seed: int) -> None:
    pool = entries(table)
    shared = {
        (f"agent{a}", f"agent{b}"): sum(x > 0 and y > 0 for x, y in zip(table[a], table[b], strict=True))
        for a, b in combinations(range(len(table)), 2)
    }
    if not any(shared.values()):
        with pytest.raises(PlanError):
            sample_pairs(pool, wanted, seed)
        return
    pairs = sample_pairs(pool, wanted, seed)
    assert pairs == sample_pairs(list(reversed(pool)), wanted, seed)
    met: dict[tuple[str, str], list[str]] = {}
    first: Counter[str] = Counter()
    for pair in pairs:
        assert pair.first.instance == pair.second.instance
        one, two = sorted((pair.first.entrant, pair.second.entrant))
        met.setdefault((one, two), []).append(pair.first.instance)
        first[one, two, pair.first.entrant] += 1
    for couple, count in shared.items():
        projects = met.get(couple, [])
        assert len(projects) == len(set(projects)) == min(wanted, count)
        assert abs(first[(*couple, couple[0])] - first[(*couple, couple[1])]) <= 1


@given(tables, st.integers(1, 5), st.integers(0, 1000), st.data())
def test_pairs_for_latecomers_fill_the_gaps(
    table: list[list[int]], wanted: int, seed: int, data: st.DataObject
) -> None:
    """Whoever came first: in the end each two meet on as many projects as had all come at once, none of them twice."""
    pool = entries(table)
    early = data.draw(st.lists(st.sampled_from(pool), unique=True)) if pool else []
    drawn: list[tuple[str, str]] = []
    for there in (early, pool):
        try:
            more = sample_pairs(there, wanted, seed, drawn)
        except PlanError:
            continue
        drawn += [(p.first.subject, p.second.subject) for p in more]
    who = {e.subject: (e.entrant, e.instance) for e in pool}
    met = Counter((*sorted((who[a][0], who[b][0])), who[a][1]) for a, b in drawn)
    assert set(met.values()) <= {1}
    count = Counter(key[:2] for key in met)
    for a, b in combinations(range(len(table)), 2):
        shared = sum(x > 0 and y > 0 for x, y in zip(table[a], table[b], strict=True))
        assert count[f"agent{a}", f"agent{b}"] == min(wanted, shared)
    assert not drawn or sample_pairs(pool, wanted, seed, drawn) == []


@given(tables, st.integers(0, 20), st.integers(0, 1000))
def test_sample_of_fails_has_one_per_project(table: list[list[int]], size: int, seed: int) -> None:
    pool = entries(table)
    chosen = one_per_project(pool, size, seed)
    projects = [e.project for e in chosen]
    assert len(projects) == len(set(projects)) == min(size, len({e.project for e in pool}))


def test_reliability_sample_is_enriched_with_passes() -> None:
    pool = entries([[1] * 100])
    passed = {e.subject: n < 3 for n, e in enumerate(pool)}
    chosen = enriched_sample(pool, passed, 20, 0.5, 1)
    assert len(chosen) == 20 and sum(passed[e.subject] for e in chosen) == 3


@given(st.integers(0, 10**9), st.text("abcdef0123456789", min_size=8, max_size=8), st.integers(1, 40))
def test_sides_are_counterbalanced_for_each_person(seed: int, account: str, count: int) -> None:
    turned = sum(is_flipped(seed, account, n) for n in range(count))
    assert abs(2 * turned - count) <= 1


def test_people_begin_at_different_items() -> None:
    starts = {random_start(7, f"person{n}") for n in range(50)}
    assert len({place for place, _ in starts}) == 50 and {back for _, back in starts} == {False, True}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("made by Maker-One today", f"made by {BLOT} today"),
        ("maker_one/report.txt", f"{BLOT}/report.txt"),
        ("MakerOne.docx", f"{BLOT}.docx"),
        ("makeronester", "makeronester"),
        ("lab/gpt 5: done", f"lab/{BLOT}: done"),
        ("a.*b", "a.*b"),
    ],
)
def test_names_are_hidden_in_every_spelling(text: str, shown: str) -> None:
    assert scrub(text, ["maker-one", "gpt-5", ".*"]) == shown
