"""Every section against figures worked out by hand, on worlds small enough for that."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from reports.people_world import PeopleWorld, rli, upbench
from store import worlds
from worksample.errors import Cause, RecordMissing, UsageError
from worksample.metrics import Estimate, Resampling
from worksample.records import Agent, Amendment, Grade, Origin, Protocol, Rule, Side, Target
from worksample.reports.measures import MeasureConfig, Section, measure
from worksample.store import Store

QUICK = Resampling(resamples=50)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def sections(store: Store, **config: Any) -> dict[str, Section]:
    found = measure(store, (), MeasureConfig(**({"how": QUICK} | config)))
    assert [s.fault for s in found if s.fault] == []
    assert len({s.id for s in found}) == len(found)
    for section in found:
        assert all(len(row.cells) == len(section.columns) for row in section.rows), section.id
        for row in section.rows:
            for cell in row.cells:
                assert isinstance(cell, str) or (cell.value is None) == bool(cell.reason)
    return {s.id: s for s in found}


def cell(section: Section, label: str, column: str) -> Estimate:
    row = next(r for r in section.rows if r.label == label)
    found = row.cells[section.columns.index(column)]
    assert isinstance(found, Estimate)
    return found


def strike(store: Store, target: Target, id: str) -> None:
    store.commit(
        Amendment(id=f"a-{id}", action="strike", target=target, target_id=id, reason="r", author="me", at=worlds.at(99))
    )


def program(store: Store, *scores: float | None, causes: dict[int, Cause] | None = None) -> worlds.World:
    """Eight slots of two agents; None is a grader that ran out of time, a short list leaves slots open."""
    world = worlds.World()
    worlds.planted(store, world)
    for slot, score in enumerate(scores):
        trial = world.trial(slot, f"t{slot}", slot + 1, (causes or {}).get(slot))
        made = world.submission(trial)
        store.commit(trial, made, world.evaluation(made.id, f"e{slot}", score, instance=trial.instance))
    return world


# The Remote Labor Index


def test_automation_rate_counts_the_undecided_as_ungraded(store: Store) -> None:
    rli(store)
    table = sections(store)["automation"]
    ann, bob, cid = (cell(table, name, "automation rate") for name in ("ann", "bob", "cid"))
    assert (ann.value, ann.counts.valid, ann.counts.planned) == (0.5, 4, 4)
    assert bob.value == pytest.approx(1 / 3)
    assert (bob.counts.valid, bob.counts.ungraded) == (3, 1)
    assert (cid.value, cid.counts.valid) == (0.0, 4)
    assert cid.high is not None and cid.high > 0.3
    assert cell(table, "ann", "better than the human").value == 0.25


def test_dollars_leave_projects_without_a_price_out(store: Store) -> None:
    rli(store)
    table = sections(store)["dollars"]
    assert (cell(table, "ann", "earned").value, cell(table, "ann", "possible").value) == (300, 600)
    assert cell(table, "ann", "share").value == 0.5
    assert cell(table, "bob", "earned").value == 200
    assert cell(table, "cid", "earned").value == 0
    assert cell(table, "ann", "autoflation alone").value == pytest.approx((90 + 190) / 600)


def test_autoflation_takes_the_cheapest_accepted_work_as_of_each_release(store: Store) -> None:
    rli(store)
    table = sections(store)["autoflation"]
    assert [row.label for row in table.rows] == ["2026-01-01", "2026-02-01", "all agents"]
    assert cell(table, "2026-01-01", "autoflation").value == pytest.approx(280 / 600)
    assert cell(table, "2026-02-01", "autoflation").value == pytest.approx((90 + 195) / 600)
    assert any("cid" in note for note in table.notes)


def test_elo_rates_who_can_be_rated_and_says_why_others_cannot(store: Store) -> None:
    rli(store)
    table = sections(store)["elo"]
    human, ann, bob, cid = (cell(table, name, "Elo") for name in ("human", "ann", "bob", "cid"))
    assert human.value == 1000
    # Against the human ann has 0.5, 1, 0, 0 and bob 0, 0.5, 0: with one pair each the odds are the answer.
    assert ann.value == pytest.approx(1000 + 400 * math.log10((1.5 / 4) / (2.5 / 4)))
    assert bob.value == pytest.approx(1000 + 400 * math.log10((0.5 / 3) / (2.5 / 3)))
    assert cid.value is None and "never wins" in cid.reason
    assert any("cid" in note for note in table.notes)


def test_pairs_count_quality_only_where_both_succeeded(store: Store) -> None:
    world = rli(store)
    world.round("w1", Protocol.PAIRWISE)
    first, second = Side.FIRST, Side.SECOND
    world.pair("w1", "s-ann-1-1", "s-bob-1-1", 1, first, first, second)
    world.pair("w1", "s-bob-2-1", "s-ann-2-1", 2, first, first, first)
    world.pair("w1", "s-ann-0-1", "s-bob-0-1", 0, first)
    found = sections(store)
    over = cell(found["preferences"], "ann over bob", "preference for the first")
    assert (over.value, over.counts.valid, over.counts.ungraded) == (0.5, 2, 1)
    assert {"pairs: completion", "pairs: quality", "holistic votes"} == {r.label for r in found["agreement"].rows}
    assert cell(found["agreement"], "pairs: quality", "agreement").value == pytest.approx((1 + 3) / 6)


def test_the_human_plays_where_people_compare_the_reference(store: Store) -> None:
    world = rli(store)
    world.round("w1", Protocol.PAIRWISE, overlap=1)
    store.commit(
        world.submission("ref", 0, Origin.CONTROL, "reference", control="reference"),
        world.submission("nil", 0, Origin.CONTROL, "nothing", control="nothing"),
    )
    world.pair("w1", "s-cid-0-1", "ref", 0, Side.FIRST)
    world.pair("w1", "s-cid-0-1", "nil", 0, Side.FIRST)
    found = sections(store)
    assert [r.label for r in found["preferences"].rows] == ["cid over human"]
    assert cell(found["elo"], "cid", "Elo").value is not None
    assert any("1 votes on pairs" in note for note in found["elo"].notes)


def test_a_struck_evaluator_ripples_through(store: Store) -> None:
    rli(store)
    strike(store, Target.EVALUATOR, "ivo")
    rate = cell(sections(store)["automation"], "ann", "automation rate")
    # Of two votes each, (2, 1) and (1, 2) are split; (3, 2) and (1, 1) stand whatever a third would say.
    assert (rate.value, rate.counts.ungraded) == (0.5, 2)


def test_work_from_elsewhere_and_of_people_enters_by_its_own_name(store: Store) -> None:
    world = rli(store)
    elsewhere = world.submission("out-1", 0, Origin.EXTERNAL, "manus")
    person = world.submission("per-1", 0, Origin.PERSON, "pia")
    store.commit(elsewhere, person)
    world.vote("h1", "out-1", 0, 3, 3, 3)
    world.vote("h1", "per-1", 0, 2, 2, 2)
    found = sections(store)
    assert cell(found["automation"], "manus", "automation rate").value == 1
    assert "pia" not in {r.label for r in found["automation"].rows}
    assert next(r.agent for r in found["elo"].rows if r.label == "manus") == "manus"


def test_a_second_look_at_failures_bounds_false_negatives(store: Store) -> None:
    world = rli(store)
    failed = ("s-cid-0-1", "s-cid-1-1", "s-ann-2-1")
    chosen = (*failed, "s-ann-1-1")
    world.round("look", Protocol.HOLISTIC, 1, experiment=None, subjects=chosen, reason="second look")
    for n, subject in enumerate(chosen):
        world.vote("look", subject, n % 4, 1)
    found = cell(sections(store)["false-negatives"], "second look", "false negatives")
    assert (found.value, found.counts.valid) == (0, 3)
    assert found.high == pytest.approx(1 - 0.05 ** (1 / 3))


def look(world: PeopleWorld, id: str, kind: str, votes: dict[str, int]) -> None:
    """A round of one judge who looks at these subjects of h1 again."""
    versions = {"people.kind": kind, "people.over": "h1"}
    world.round(id, Protocol.HOLISTIC, 1, experiment=None, subjects=tuple(votes), versions=versions, reason=kind)
    for subject, score in votes.items():
        world.vote(id, subject, 0, score)


def test_audits_take_passes_away_and_adjudications_decide(store: Store) -> None:
    world = rli(store)
    look(world, "a1", "audit", {"s-ann-0-1": 1, "s-ann-1-1": 3})
    look(world, "a2", "adjudication", {"s-bob-3-1": 2})
    found = sections(store)["automation"]
    assert cell(found, "ann", "automation rate").value == 0.25
    bob = cell(found, "bob", "automation rate")
    assert (bob.value, bob.counts.valid) == (0.5, 4)
    assert any("2 verdicts were decided by an audit" in note for note in found.notes)


def test_false_negatives_come_from_their_sample_and_change_no_verdict(store: Store) -> None:
    world = rli(store)
    look(world, "f1", "false_negatives", {"s-cid-0-1": 1, "s-cid-1-1": 2})
    found = sections(store)
    assert cell(found["automation"], "cid", "automation rate").value == 0
    bound = cell(found["false-negatives"], "false_negatives", "false negatives")
    assert (bound.value, bound.counts.valid) == (0.5, 2)


def test_gold_pilots_and_integrity_judge_no_work(store: Store) -> None:
    world = rli(store)
    before = sections(store)
    for kind in ("calibration", "pilot", "integrity", "tags"):
        look(world, kind, kind, {"s-cid-0-1": 3, "s-cid-1-1": 3})
    look(world, "rel", "reliability", {"s-cid-0-1": 3})
    after = sections(store)
    assert after["automation"] == before["automation"]
    assert set(after) == set(before)


def test_two_votes_of_one_evaluator_are_a_fault_of_their_section_alone(store: Store) -> None:
    world = rli(store)
    world.vote("h1", "s-ann-0-1", 0, 2)
    found = {s.id: s for s in measure(store, (), MeasureConfig(how=QUICK))}
    faulty = [s for s in found.values() if s.fault]
    assert len(faulty) == 1 and "several votes" in faulty[0].fault and not faulty[0].rows
    assert cell(found["automation"], "ann", "automation rate").value == 0.5


# UpBench


def test_completion_and_lifts_come_from_counts(store: Store) -> None:
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


def test_the_papers_preset_counts_what_could_not_be_judged_as_a_miss(store: Store) -> None:
    upbench(store)
    found = sections(store, skips="paper")["rubric"]
    rate, score = cell(found, "ann", "completion"), cell(found, "ann", "rubric score")
    assert (rate.value, rate.counts.valid) == (0.2, 5)
    assert score.value == pytest.approx((2 / 3 + 1 / 3 + 0 + 2 / 3 + 2 / 3) / 5)
    assert any("misses" in note for note in found.notes)


def test_feedback_costs_the_experts_time(store: Store) -> None:
    upbench(store)
    without = sections(store)["value"]
    assert [r.label for r in without.rows] == ["ann: AI alone", "ann: human"]
    table = sections(store, hourly=40.0)["value"]
    # Seven trials at 1 $; the gradings before the two re-attempts took half an hour each. Five jobs.
    assert cell(table, "ann: AI with feedback", "cost per job").value == pytest.approx((7 + 2 * 20) / 5)
    assert cell(table, "ann: AI with feedback", "success").value == 0.5
    assert cell(table, "ann: AI alone", "break-even with the human").value == pytest.approx((100 - 1) / 0.75)


def test_several_graders_decide_completion_by_majority(store: Store) -> None:
    world = PeopleWorld(store, Protocol.RUBRIC, [Agent.of("ann", "worker")], [None, None])
    world.round("r1", Protocol.RUBRIC, overlap=2, rule=Rule.MEAN)
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


def test_scores_tiers_and_groups_of_a_program(store: Store) -> None:
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
    assert any("never average" in note for note in world_by.notes)


def test_by_agent_leaves_breakdowns_out(store: Store) -> None:
    program(store, 1.0, 1.0)
    assert {"tiers", "category", "roll-up"}.isdisjoint(sections(store, by="agent"))
    assert sections(store, by="tier")["scores"].columns[0] == "tier"


def test_timeouts_are_graded_and_reported_apart(store: Store) -> None:
    program(store, 1.0, 0.5, 0.0, 0.0, causes={1: Cause.LIMIT_TIME})
    table = sections(store)["timeouts"]
    assert cell(table, "ann", "timeout rate").value == 0.25
    assert cell(table, "all runs", "score of those").value == 0.5
    assert cell(table, "tier easy", "score of the others").value == pytest.approx(1 / 3)


def test_budgets_are_shared_and_what_is_dearer_counts_0(store: Store) -> None:
    program(store, 1.0, 1.0)
    table = sections(store, budgets=(0.4, 0.5))["budget-cost"]
    assert table.columns == ("$0.4", "$0.5")
    assert cell(table, "ann", "$0.4").value == 0
    assert cell(table, "ann", "$0.5").value == 1


def test_results_with_and_without_struck_trials(store: Store) -> None:
    program(store, 1.0, 0.0, 0.0, 0.0)
    assert "integrity" not in sections(store)
    strike(store, Target.TRIAL, "t0")
    strike(store, Target.SUBMISSION, "s-t1")
    found = sections(store)
    scores, table = found["scores"], found["integrity"]
    counts = cell(scores, "ann", "mean score").counts
    assert (counts.valid, counts.ungraded, counts.pending) == (2, 1, 1)
    assert cell(table, "ann", "pass, with all").value == 0.25
    assert cell(table, "ann", "pass, without").value == 0.0
    assert next(r for r in table.rows if r.label == "ann").cells[2] == "2"
    assert cell(sections(store, struck=False)["scores"], "ann", "full pass").value == 0.25


def test_models_and_harnesses_are_told_apart(store: Store) -> None:
    agents = [Agent.of(n, h, model=m) for n, h, m in (("a", "h1", "m1"), ("b", "h1", "m2"), ("c", "h2", "m1"))]
    world = PeopleWorld(store, Protocol.PROGRAM, agents, [None, None])
    world.round("p1", Protocol.PROGRAM, overlap=1)
    for agent, scores in enumerate(((1.0, 1.0), (0.0, 1.0), (0.0, 0.0))):
        for project, score in enumerate(scores):
            world.say("p1", world.work(agent, project), project, Grade(score=score))
    table = sections(store)["effects"]
    assert cell(table, "models under h1", "spread").value == 0.5
    assert cell(table, "harnesses under m1", "spread").value == 1.0


def test_illustrative_prices_and_hours(store: Store) -> None:
    program(store, *[1.0] * 8)
    plain, asked = sections(store), sections(store, illustrative=True)
    assert cell(plain["dollars"], "ann", "earned").value is None
    assert "deployable" not in plain
    assert cell(asked["dollars"], "ann", "earned").value == pytest.approx(200)
    assert cell(asked["deployable"], "ann", "saving").value == pytest.approx(0.995)
    assert any("illustrative" in note for note in asked["dollars"].notes)


def test_nothing_graded_gives_counts_and_no_number(store: Store) -> None:
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


def test_arms_are_told_apart(store: Store) -> None:
    world = PeopleWorld(store, Protocol.PROGRAM, [Agent.of("ann", "worker")], [None])
    world.round("p1", Protocol.PROGRAM, overlap=1)
    for arm, score in (("plain", 0.0), ("notes", 1.0)):
        world.say("p1", world.work(0, 0, arm=arm), 0, Grade(score=score))
    table = sections(store)["scores"]
    assert cell(table, "ann (notes)", "mean score").value == 1
    assert cell(table, "ann (plain)", "mean score").value == 0
    assert {row.agent for row in table.rows} == {world.agents[0].id}


def test_one_agent_without_prices_hours_or_rivals(store: Store) -> None:
    world = PeopleWorld(store, Protocol.HOLISTIC, [Agent.of("ann", "worker")], [None, None])
    world.round("h1", Protocol.HOLISTIC)
    for project in (0, 1):
        world.vote("h1", world.work(0, project, cost=None), project, 1, 1, 1)
    found = sections(store)
    assert {"dollars", "autoflation", "value", "budget-cost"}.isdisjoint(found)
    assert cell(found["elo"], "ann", "Elo").value is None
    assert cell(found["agreement"], "holistic votes", "alpha, nominal").value is None


def test_an_empty_store_says_what_to_type(store: Store) -> None:
    with pytest.raises(RecordMissing, match="worksample run"):
        measure(store)
