"""Grades, rubrics and breakdowns against figures computed by hand, on small worlds."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from reports.measuring import cell, sections, strike
from reports.people_world import PeopleWorld, rli, upbench
from store import worlds
from worksample.errors import Cause, UsageError
from worksample.metrics import Estimate
from worksample.records import Agent, AmendmentTarget, GradePayload, Hours, Instance, Protocol, ResolutionRule, Source
from worksample.reports.sections import MeasureConfig, measure
from worksample.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def program(store: Store, *scores: float | None, causes: dict[int, Cause] | None = None) -> worlds.World:
    """Eight slots of two agents; None is a grader that ran out of time, a short list leaves slots open."""
    world = worlds.World()
    worlds.planted(store, world)
    for slot, score in enumerate(scores):
        trial = world.trial(slot, f"t{slot}", slot + 1, (causes or {}).get(slot))
        made = world.submission(trial)
        store.commit(trial, made, world.evaluation(made.id, f"e{slot}", score, instance=trial.instance))
    return world


# UpBench


def test_completion_and_lifts_follow_from_counts(store: Store) -> None:
    upbench(store)
    found = sections(store)
    rate = cell(found["rubric"], "ann", "completion")
    assert (rate.value, rate.counts.valid, rate.counts.ungraded) == (0.25, 4, 1)
    score = cell(found["rubric"], "ann", "rubric score")
    assert score.value == pytest.approx((2 / 3 + 1 / 3 + 0 + 2 / 3) / 4)
    lifts = {c: cell(found["lifts"], "ann", c) for c in found["lifts"].columns}
    assert {k: e.value for k, e in lifts.items() if "score" not in k} == {
        "p1": 0.25, "p overall": 0.5, "absolute lift": 0.25, "relative lift": 1.0, "rescue rate": 0.5,
    }  # fmt: skip
    assert lifts["score, overall"].value == pytest.approx((2 / 3 + 1 + 1 / 3 + 2 / 3) / 4)
    within = found["within-k"]
    assert cell(within, "ann", "hazard of 2").value == 0.5
    assert cell(within, "ann", "within 2").value == pytest.approx(1 - 0.75 * 0.5)


def test_papers_preset_counts_unjudgeable_work_as_a_miss(store: Store) -> None:
    upbench(store)
    found = sections(store, skips="paper")["rubric"]
    rate, score = cell(found, "ann", "completion"), cell(found, "ann", "rubric score")
    assert (rate.value, rate.counts.valid) == (0.2, 5)
    assert score.value == pytest.approx((2 / 3 + 1 / 3 + 0 + 2 / 3 + 2 / 3) / 5)
    assert any("misses" in note for note in found.notes)


def test_feedback_costs_the_experts_time(store: Store) -> None:
    upbench(store)
    without = sections(store)["value"]
    assert [r.label for r in without.rows] == ["ann: AI alone", "ann: AI with feedback", "ann: human"]
    unpriced = cell(without, "ann: AI with feedback", "cost per job")
    assert unpriced.value is None and "--hourly" in unpriced.reason
    table = sections(store, hourly=40.0)["value"]
    # Seven trials at 1 $; the gradings before the two re-attempts took half an hour each. Five jobs.
    assert cell(table, "ann: AI with feedback", "cost per job").value == pytest.approx((7 + 2 * 20) / 5)
    assert cell(table, "ann: AI with feedback", "success").value == 0.5
    # Jobs of $100: one passed at once, another after feedback.
    captured = [cell(table, f"ann: {way}", "value captured").value for way in ("AI alone", "AI with feedback")]
    assert captured == [100.0, 200.0]
    assert cell(table, "ann: AI alone", "break-even with the human").value == pytest.approx((100 - 1) / 0.75)


def test_several_graders_decide_completion_by_majority(store: Store) -> None:
    world = PeopleWorld(store, Protocol.RUBRIC, [Agent.of("ann", "worker")], [None, None])
    world.round("r1", Protocol.RUBRIC, overlap=2, rule=ResolutionRule.MEAN)
    for project, second in ((0, True), (1, False)):
        subject = world.work(0, project)
        world.rubric("r1", subject, project, True, True, True, judge="eva")
        world.rubric("r1", subject, project, second, True, True, judge="ivo")
    found = sections(store)
    rate = cell(found["rubric"], "ann", "completion")
    assert (rate.value, rate.counts.valid, rate.counts.ungraded) == (1.0, 1, 1)
    assert cell(found["rubric"], "ann", "rubric score").value == pytest.approx((1 + 5 / 6) / 2)
    assert cell(found["agreement"], "criteria", "agreement").value == pytest.approx(5 / 6)


# Programs and checkpoints


def test_program_scores_tiers_and_groups_are_computed(store: Store) -> None:
    program(store, 1.0, 0.5, 0.0, None, 1.0, 1.0)
    found = sections(store)
    scores = found["scores"]
    # ann: may 1 and 0.5, june 0 and ungraded, so the instances' means are 0.75 and 0.
    assert cell(scores, "ann", "mean score").value == pytest.approx(0.375)
    assert cell(scores, "ann", "full pass").value == pytest.approx(0.25)
    assert cell(scores, "ann", "S_partial").value == pytest.approx((0.5 * (1 + 0.25) + 0) / 2)
    assert cell(scores, "ann", "run sd").value == pytest.approx(math.sqrt(0.125))
    counts = cell(scores, "bob", "full pass").counts
    assert (counts.valid, counts.pending, counts.planned) == (2, 2, 4)
    assert cell(found["tiers"], "ann", "overall: pass").value == cell(scores, "ann", "full pass").value
    assert cell(found["tiers"], "ann", "easy: cost").value == 2.0
    assert cell(found["category"], "ann", "upwork:writing/reports: success").value == pytest.approx(0.25)
    assert {r.label for r in found["roll-up"].rows} >= {"upwork:writing", "upwork:writing/reports", "all domains"}


def test_platforms_overlap_and_say_so(store: Store) -> None:
    rli(store)
    world_by = sections(store, by="platform")["automation"]
    labels = {(r.label, r.cells[0]) for r in world_by.rows}
    assert {("ann", "chat"), ("ann", "git")} <= labels
    git = next(r for r in world_by.rows if (r.label, r.cells[0]) == ("ann", "git")).cells[1]
    assert isinstance(git, Estimate) and (git.value, git.counts.planned) == (0.5, 2)
    assert any("do not average" in note for note in world_by.notes)


def test_by_agent_leaves_breakdowns_out(store: Store) -> None:
    program(store, 1.0, 1.0)
    assert {"tiers", "category", "roll-up"}.isdisjoint(sections(store, by="agent"))
    assert sections(store, by="tier")["scores"].columns[0] == "tier"


def test_timeouts_are_graded_and_reported_separately(store: Store) -> None:
    program(store, 1.0, 0.5, 0.0, 0.0, causes={1: Cause.LIMIT_TIME})
    table = sections(store)["timeouts"]
    assert cell(table, "ann", "timeout rate").value == 0.25
    assert cell(table, "all runs", "score of those").value == 0.5
    assert cell(table, "tier easy", "score of the others").value == pytest.approx(1 / 3)


def test_budgets_are_shared_and_dearer_work_counts_0(store: Store) -> None:
    program(store, 1.0, 1.0)
    table = sections(store, budgets=(0.4, 0.5))["budget-cost"]
    assert table.columns == ("$0.4", "$0.5")
    assert cell(table, "ann", "$0.4").value == 0
    assert cell(table, "ann", "$0.5").value == 1


def test_results_with_and_without_struck_trials_are_computed(store: Store) -> None:
    program(store, 1.0, 0.0, 0.0, 0.0)
    assert "integrity" not in sections(store)
    strike(store, AmendmentTarget.TRIAL, "t0")
    strike(store, AmendmentTarget.SUBMISSION, "s-t1")
    found = sections(store)
    scores, table = found["scores"], found["integrity"]
    counts = cell(scores, "ann", "mean score").counts
    assert (counts.valid, counts.ungraded, counts.pending) == (2, 1, 1)
    assert cell(table, "ann", "pass, with all").value == 0.25
    assert cell(table, "ann", "pass, without").value == 0.0
    assert next(r for r in table.rows if r.label == "ann").cells[2] == "2"
    assert cell(sections(store, struck=False)["scores"], "ann", "full pass").value == 0.25


def test_models_and_harnesses_are_distinguished(store: Store) -> None:
    agents = [Agent.of(n, h, model=m) for n, h, m in (("a", "h1", "m1"), ("b", "h1", "m2"), ("c", "h2", "m1"))]
    world = PeopleWorld(store, Protocol.PROGRAM, agents, [None, None])
    world.round("p1", Protocol.PROGRAM, overlap=1)
    for agent, scores in enumerate(((1.0, 1.0), (0.0, 1.0), (0.0, 0.0))):
        for project, score in enumerate(scores):
            world.say("p1", world.work(agent, project), project, GradePayload(score=score))
    table = sections(store)["effects"]
    assert cell(table, "models under h1", "spread").value == 0.5
    assert cell(table, "harnesses under m1", "spread").value == 1.0


def test_illustrative_prices_and_hours_are_marked(store: Store) -> None:
    program(store, *[1.0] * 8)
    plain, asked = sections(store), sections(store, illustrative=True)
    assert cell(plain["dollars"], "ann", "earned").value is None
    assert "deployable" not in plain
    assert cell(asked["dollars"], "ann", "earned").value == pytest.approx(200)
    assert cell(asked["deployable"], "ann", "saving").value == pytest.approx(0.995)
    assert any("illustrative" in note for note in asked["dollars"].notes)


def test_ungraded_store_gives_counts_and_no_number(store: Store) -> None:
    worlds.planted(store, worlds.World())
    found = sections(store)
    rate = cell(found["scores"], "ann", "full pass")
    assert (rate.value, rate.counts.planned, rate.counts.pending) == (None, 4, 4)
    assert set(found) == {"scores", "tiers", "category", "roll-up", "pass-at-k", "dollars", "horizon"}


def test_unknown_groups_and_wages_are_refused() -> None:
    with pytest.raises(UsageError, match="by 'colour'"):
        MeasureConfig(by="colour")
    with pytest.raises(UsageError, match="0 or more"):
        MeasureConfig(hourly=-1)


@pytest.mark.parametrize("world", [rli, upbench])
def test_every_breakdown_of_every_world_has_its_figures(store: Store, world: Any) -> None:
    world(store)
    whole = sections(store)
    for by in ("agent", "category", "domain", "platform", "tier"):
        parts = sections(store, by=by)
        assert {s for s in parts if parts[s].columns[0] == by} == (
            set()
            if by == "agent"
            else {"automation", "dollars", "deployable", "rubric", "lifts", "scores"} & set(whole)
        )


def test_arms_are_distinguished(store: Store) -> None:
    world = PeopleWorld(store, Protocol.PROGRAM, [Agent.of("ann", "worker")], [None])
    world.round("p1", Protocol.PROGRAM, overlap=1)
    for arm, score in (("plain", 0.0), ("notes", 1.0)):
        world.say("p1", world.work(0, 0, arm=arm), 0, GradePayload(score=score))
    table = sections(store)["scores"]
    assert cell(table, "ann (notes)", "mean score").value == 1
    assert cell(table, "ann (plain)", "mean score").value == 0
    assert {row.agent for row in table.rows} == {world.agents[0].id}


def test_single_agent_without_prices_hours_or_rivals_is_measured(store: Store) -> None:
    world = PeopleWorld(store, Protocol.HOLISTIC, [Agent.of("ann", "worker")], [None, None])
    world.round("h1", Protocol.HOLISTIC)
    for project in (0, 1):
        world.vote("h1", world.work(0, project, cost=None), project, 1, 1, 1)
    found = sections(store)
    assert {"dollars", "autoflation", "value", "budget-cost"}.isdisjoint(found)
    assert cell(found["elo"], "ann", "Elo").value is None
    assert cell(found["agreement"], "holistic votes", "alpha, nominal").value is None


def test_empty_store_names_the_next_command(store: Store) -> None:
    with pytest.raises(UsageError, match="worksample demo"):
        measure(store)


def test_criteria_show_what_is_missed_and_by_how_much(store: Store) -> None:
    """First and second attempts of `upbench`: of 7 graded works the critical criterion was missed by 3."""
    upbench(store)
    table = sections(store)["criteria"]
    assert table.columns == ("ann", "of all misses")
    critical = cell(table, "critical criteria", "ann")
    assert critical.value == pytest.approx((0 + 0 + 1 + 1 + 0) / 5, abs=0.3)
    shares = [float(str(r.cells[-1]).split()[0]) for r in table.rows if r.label.endswith(" criteria")]
    assert shares[0] == 100 and sum(shares[1:]) == pytest.approx(100, abs=0.2)


def test_medians_are_beside_means_and_timeouts_have_their_harness(store: Store) -> None:
    upbench(store)
    scores = sections(store)["scores-rubric" if "scores-rubric" in sections(store) else "scores"]
    assert cell(scores, "ann", "median cost").value == 1
    assert cell(scores, "ann", "median cost").counts.valid == cell(scores, "ann", "cost").counts.valid


def test_horizons_over_release_dates_are_estimated(store: Store) -> None:
    """ann (January) gets short work done, bob (March) longer work too, cid (no date) all."""
    agents = [
        Agent.of("ann", "worker", release_date=date(2026, 1, 1)),
        Agent.of("bob", "worker", release_date=date(2026, 3, 1)),
        Agent.of("cid", "worker"),
    ]
    world = Timed(store, Protocol.PROGRAM, agents, [100.0] * 8)
    world.round("p1", Protocol.PROGRAM, overlap=1)
    for agent, done in enumerate(({0, 1, 3}, {0, 1, 2, 3, 5}, {0, 1, 2, 3, 4, 5, 7})):
        for n in range(8):
            world.say("p1", world.work(agent, n), n, GradePayload(score=float(n in done)))
    table = sections(store)["horizon-trend"]
    assert [(row.label, row.cells[1]) for row in table.rows] == [
        ("2026-01-01", "ann"), ("2026-03-01", "bob"), ("all agents", ""),
    ]  # fmt: skip
    first, second = (row.cells[0].value for row in table.rows[:2])  # type: ignore[union-attr]
    doubling = cell(table, "all agents", "doubling time (days)")
    assert doubling.value == pytest.approx(59 / math.log2(second / first))  # type: ignore[operator]
    assert doubling.counts.special["undated"] == 1 and doubling.level is None


class Timed(PeopleWorld):
    """Project n takes a person 2 ** n hours."""

    def _project(self, n: int, price: float | None) -> Instance:
        plain = super()._project(n, price)
        return plain.replaced(
            about=plain.about.replaced(hours=Hours(low=2.0**n, high=2.0**n, date=date(2026, 1, 1), source=Source.PAID))
        )
