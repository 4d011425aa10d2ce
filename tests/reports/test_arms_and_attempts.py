"""Arms and attempts are separate wherever agents are: 0 % and 100 % are never shown as 50 %."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.measuring import cell, sections
from reports.people_world import PeopleWorld
from worksample.people.round_verdicts import preferences
from worksample.records import Agent, Arm, Feedback, GradePayload, PairwiseChoice, Protocol, Submission
from worksample.reports import leaderboard
from worksample.reports.heat_map import heat_of
from worksample.results.entrants import entrants_of
from worksample.results.pair_sampling import entries_of, sample_pairs
from worksample.results.result_set import ResultSet
from worksample.store import Store

PROJECTS = 2


@pytest.fixture
def world(tmp_path: Path) -> PeopleWorld:
    """Ann fails everything under the plain arm, and passes everything with hints; so does her second plain attempt."""
    store = Store.open(tmp_path / "s", create=True)
    ann = Agent.of("ann", "worker", model="m/1")
    made = PeopleWorld(store, Protocol.PROGRAM, [ann], [100.0] * PROJECTS, attempts=2)
    made.round("r1", Protocol.PROGRAM, 1)
    for n in range(PROJECTS):
        for arm, attempt, score in (("plain", 1, 0.0), ("plain", 2, 1.0), ("hints", 1, 1.0)):
            made.say("r1", made.work(0, n, attempt, arm=arm), n, GradePayload(score=score))
    return made


NAMES = {"ann (plain, attempt 1)": 0.0, "ann (plain, attempt 2)": 1.0, "ann (hints, attempt 1)": 1.0}


def test_leaderboard_has_a_row_for_each_arm(world: PeopleWorld) -> None:
    rows = {row.name: row for row in leaderboard(world.store).rows}
    assert {name: row.passed.value for name, row in rows.items()} == NAMES
    assert {name: (row.planned, row.valid) for name, row in rows.items()} == dict.fromkeys(NAMES, (2, 2))
    assert {name: row.earned.value for name, row in rows.items()} == {n: 200.0 * p for n, p in NAMES.items()}
    plain = {(r["arm"], r["attempt"]) for r in leaderboard(world.store).plain()["rows"]}
    assert plain == {("plain", 1), ("plain", 2), ("hints", 1)}


def test_later_attempt_is_listed_below_the_first_and_not_ranked(tmp_path: Path) -> None:
    """Ann passes 1 of 3, and at the second attempt both of the rest; Bob passes 2 of 3 at once."""
    with Store.open(tmp_path / "s", create=True) as store:
        agents = [Agent.of(name, "worker", model="m/1") for name in ("ann", "bob")]
        again = Arm(name="again", feedback=Feedback.RETRY, continues="plain")
        made = PeopleWorld(store, Protocol.PROGRAM, agents, [100.0] * 3, attempts=2, arms=(Arm(), again))
        made.round("r1", Protocol.PROGRAM, 1)
        for agent, passes in ((0, 1), (1, 2)):
            for n in range(3):
                made.say("r1", made.work(agent, n), n, GradePayload(score=float(n < passes)))
        for n in (1, 2):
            made.say("r1", made.work(0, n, 2, arm="again"), n, GradePayload(score=1.0))
        rows = leaderboard(store).rows
    assert [(row.agent.partition("@")[0], row.attempt) for row in rows] == [("bob", 1), ("ann", 1), ("ann", 2)]
    assert rows[-1].passed.value == 1


def test_single_arm_is_shown_without_its_name(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s", create=True) as store:
        made = PeopleWorld(store, Protocol.PROGRAM, [Agent.of("ann", "worker")], [1.0])
        made.work(0, 0, arm="hints")
        assert [row.name for row in leaderboard(store).rows] == ["ann"]


def test_heat_maps_have_a_column_for_each_arm(world: PeopleWorld) -> None:
    work = ResultSet(world.store, [world.experiment])
    heat = heat_of(work.frame(Protocol.PROGRAM))
    for line in heat.rows:
        assert {c.name: cell.score for c, cell in zip(heat.agents, line.cells, strict=True)} == NAMES


def test_dollars_are_separate_for_each_arm(world: PeopleWorld) -> None:
    table = sections(world.store)["dollars"]
    assert cell(table, "ann (plain)", "earned").value == 0
    assert cell(table, "ann (hints)", "earned").value == 200


def test_people_compare_arms_and_attempts(world: PeopleWorld) -> None:
    made = world.store.find(Submission, experiment="x1")
    who = entrants_of(world.store, {s.id for s in made})
    assert len(set(who.values())) == 3
    drawn = sample_pairs(entries_of(world.store, made), 2, seed=1)
    assert {frozenset((p.first.entrant, p.second.entrant)) for p in drawn} == {
        frozenset(pair) for pair in ({*who.values()} - {name} for name in set(who.values()))
    }


def test_pairs_of_arms_are_rated_separately(world: PeopleWorld) -> None:
    round = world.round("w1", Protocol.PAIRWISE, 1)
    plain, hints, again = "s-ann-0-1", "s-ann-0-1-hints", "s-ann-1-2"
    world.pair("w1", hints, plain, 0, PairwiseChoice.FIRST)
    world.pair("w1", again, "s-ann-1-1", 1, PairwiseChoice.FIRST)
    found = sections(world.store)
    assert {row.label for row in found["preferences"].rows} == {
        "ann (hints, attempt 1) over ann (plain, attempt 1)", "ann (plain, attempt 1) over ann (plain, attempt 2)",
    }  # fmt: skip
    assert {row.label for row in found["elo"].rows} == set(NAMES)
    told = preferences(world.store, round.id, {})
    assert {frozenset(r) for r in told.select("first", "second").iter_rows()} == {
        frozenset((who[one], who[other]))
        for who in [entrants_of(world.store, {plain, hints, again, "s-ann-1-1"})]
        for one, other in ((hints, plain), (again, "s-ann-1-1"))
    }
