"""People's votes against figures computed by hand: the sections of the Remote Labor Index."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from reports.measuring import QUICK, cell, sections, strike
from reports.people_world import PeopleWorld, rli
from worksample.records import Agent, AmendmentTarget, Holistic, Origin, PairwiseChoice, Protocol
from worksample.reports.sections import MeasureConfig, measure
from worksample.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def test_automation_rate_counts_undecided_as_ungraded(store: Store) -> None:
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


def test_autoflation_uses_the_cheapest_accepted_work_at_each_release(store: Store) -> None:
    rli(store)
    table = sections(store)["autoflation"]
    assert [row.label for row in table.rows] == ["2026-01-01", "2026-02-01", "all agents"]
    assert cell(table, "2026-01-01", "autoflation").value == pytest.approx(280 / 600)
    assert cell(table, "2026-02-01", "autoflation").value == pytest.approx((90 + 195) / 600)
    assert any("cid" in note for note in table.notes)


def test_elo_rates_connected_agents_and_explains_the_others(store: Store) -> None:
    rli(store)
    table = sections(store)["elo"]
    human, ann, bob, cid = (cell(table, name, "Elo") for name in ("human", "ann", "bob", "cid"))
    assert human.value == 1000
    # Against the human ann has 0.5, 1, 0, 0 and bob 0, 0.5, 0: with one pair each the odds are the answer.
    assert ann.value == pytest.approx(1000 + 400 * math.log10((1.5 / 4) / (2.5 / 4)))
    assert bob.value == pytest.approx(1000 + 400 * math.log10((0.5 / 3) / (2.5 / 3)))
    assert cid.value is None and "never wins" in cid.reason
    assert any("cid" in note for note in table.notes)


def test_pairs_count_quality_only_if_both_succeeded(store: Store) -> None:
    world = rli(store)
    world.round("w1", Protocol.PAIRWISE)
    first, second = PairwiseChoice.FIRST, PairwiseChoice.SECOND
    world.pair("w1", "s-ann-1-1", "s-bob-1-1", 1, first, first, second)
    world.pair("w1", "s-bob-2-1", "s-ann-2-1", 2, first, first, first)
    world.pair("w1", "s-ann-0-1", "s-bob-0-1", 0, first)
    found = sections(store)
    over = cell(found["preferences"], "ann over bob", "preference for the first")
    assert (over.value, over.counts.valid, over.counts.ungraded) == (0.5, 2, 1)
    assert {"pairs: completion", "pairs: quality", "holistic votes"} == {r.label for r in found["agreement"].rows}
    assert cell(found["agreement"], "pairs: quality", "agreement").value == pytest.approx((1 + 3) / 6)


def test_human_is_rated_if_people_compare_the_reference(store: Store) -> None:
    world = rli(store)
    world.round("w1", Protocol.PAIRWISE, overlap=1)
    store.commit(
        world.submission("ref", 0, Origin.CONTROL, "reference", control="reference"),
        world.submission("nil", 0, Origin.CONTROL, "nothing", control="nothing"),
    )
    world.pair("w1", "s-cid-0-1", "ref", 0, PairwiseChoice.FIRST)
    world.pair("w1", "s-cid-0-1", "nil", 0, PairwiseChoice.FIRST)
    found = sections(store)
    assert [r.label for r in found["preferences"].rows] == ["cid over human"]
    assert cell(found["elo"], "cid", "Elo").value is not None
    assert any("1 votes on pairs" in note for note in found["elo"].notes)


def test_struck_evaluator_changes_all_dependent_figures(store: Store) -> None:
    rli(store)
    strike(store, AmendmentTarget.EVALUATOR, "ivo")
    rate = cell(sections(store)["automation"], "ann", "automation rate")
    # Of two votes each, (2, 1) and (1, 2) are split; (3, 2) and (1, 1) stand whatever a third would say.
    assert (rate.value, rate.counts.ungraded) == (0.5, 2)


def test_external_and_human_work_enters_under_its_own_name(store: Store) -> None:
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


def test_reviewed_fails_bound_false_negatives(store: Store) -> None:
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
    rest = {"purpose": kind, "over": "h1", "reason": kind}
    world.round(id, Protocol.HOLISTIC, 1, experiment=None, subjects=tuple(votes), **rest)
    for subject, score in votes.items():
        world.vote(id, subject, 0, score)


def test_audits_remove_passes_and_adjudications_decide(store: Store) -> None:
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
    for kind in ("calibration", "pilot", "integrity", "failures"):
        look(world, kind, kind, {"s-cid-0-1": 3, "s-cid-1-1": 3})
    look(world, "rel", "reliability", {"s-cid-0-1": 3})
    after = sections(store)
    assert after["automation"] == before["automation"]
    assert set(after) == set(before)


def test_two_votes_of_one_evaluator_are_a_fault_of_their_section_only(store: Store) -> None:
    world = rli(store)
    world.vote("h1", "s-ann-0-1", 0, 2)
    found = {s.id: s for s in measure(store, (), MeasureConfig(how=QUICK))}
    faulty = [s for s in found.values() if s.fault]
    assert len(faulty) == 1 and "several votes" in faulty[0].fault and not faulty[0].rows
    assert cell(found["automation"], "ann", "automation rate").value == 0.5


def test_store_without_slots_has_no_figures(store: Store) -> None:
    world = PeopleWorld(store, Protocol.RUBRIC, [Agent.of("ann", "worker", model="m/1")], [1.0])
    for name, protocol in (("r1", Protocol.RUBRIC), ("h1", Protocol.HOLISTIC), ("w1", Protocol.PAIRWISE)):
        world.round(name, protocol)
    assert [s.fault for s in measure(store) if s.fault] == []


def test_repeated_vote_changes_no_figure(store: Store) -> None:
    """Elo, dollars and automation all go by the verdict, and one evaluator has one vote in it."""
    world = rli(store)
    before = {s.id: s for s in measure(store, (), MeasureConfig(how=QUICK))}
    for _ in range(4):
        world.say("h1", "s-cid-0-1", 0, Holistic(score=3), "eva")
        world.say("h1", "s-ann-2-1", 2, Holistic(score=1), "ivo")
    after = {s.id: s for s in measure(store, (), MeasureConfig(how=QUICK))}
    for id in ("elo", "dollars"):
        assert after[id].rows == before[id].rows
    assert cell(after["automation"], "ann", "automation rate").value == 0.5
    assert "repeat a vote of the same evaluator" in after["automation"].notes[0]


def test_absurd_cost_leaves_the_dollars_standing(store: Store) -> None:
    world = rli(store)
    world.vote("h1", world.work(2, 0, cost=1e12, attempt=1, arm="odd"), 0, 3, 3, 3)
    found = next(s for s in measure(store, (), MeasureConfig(how=QUICK)) if s.id == "dollars")
    assert not found.fault and found.rows and any("above $100,000,000" in note for note in found.notes)


def test_approach_names_the_value_from_which_it_pays(store: Store) -> None:
    rli(store)
    found = sections(store)["value"]
    line = next(r for r in found.rows if r.label == "ann: AI alone")
    assert line.cells[found.columns.index("pays from")] == "$15.00"
    assert str(line.cells[-1]).startswith("$15.00 to")


def test_elo_and_automation_rate_share_one_table(store: Store) -> None:
    rli(store)
    found = sections(store)
    assert found["elo"].columns == ("Elo", "preferred to the human", "automation rate")
    for name in ("ann", "bob", "cid"):
        rating, chance = cell(found["elo"], name, "Elo"), cell(found["elo"], name, "preferred to the human")
        assert rating.value is None or chance.value == pytest.approx(1 / (1 + 10 ** ((1000 - rating.value) / 400)))
        both = cell(found["elo"], name, "automation rate"), cell(found["automation"], name, "automation rate")
        assert both[0] == both[1]
    assert next(r for r in found["elo"].rows if r.label == "human").cells[1] == "-"
