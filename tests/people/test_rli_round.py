"""A whole round of the Remote Labor Index: three evaluators, pairs, an audit, an adjudication, integrity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from people.worlds import Office, office
from worksample.people import (
    Account,
    Conflict,
    DecidedBy,
    Item,
    RoundKind,
    export_precomputed,
    false_negatives,
    final_verdicts,
    preferences,
    strike_findings,
)
from worksample.people.quality import round_dashboard as dashboard
from worksample.records import Purpose, Round, Standing, Submission
from worksample.results.slot_results import slots_df
from worksample.store import check, rebuild

# Who delivered what: on p0 maker-0 passes, on p1 the votes are split, on p2 all pass maker-1 wrongly.
TRUTH = {"s-maker-0.p0": (2, 3, 2), "s-maker-1.p1": (1, 2, 1), "s-maker-1.p2": (2, 2, 2), "s-maker-0.p3": (1, 1, 2)}
ORDER = {"maker-0": 2, "maker-1": 1, "maker-2": 0}


def holistic(desk: Office, people: list[Account]) -> Any:
    def answer(account: Account, item: Item) -> dict[str, Any]:
        (shown,) = desk.behind(item)
        score = TRUTH.get(shown, (1, 1, 1))[people.index(account)]
        return {"score": score, "justification": "report.txt, first line"}

    return answer


def better(desk: Office) -> Any:
    def answer(account: Account, item: Item) -> dict[str, Any]:
        one, two = (ORDER[s.removeprefix("s-").partition(".")[0]] for s in desk.behind(item))
        side = "first" if one > two else "second"
        return {"completion": side, "quality": side, "justification": "the sums"}

    return answer


def always(**said: Any) -> Any:
    return lambda account, item: {"justification": "looked at all of it", **said}


@pytest.fixture
def desk(tmp_path: Path) -> Office:
    return office(tmp_path)


def test_rli_round_gives_its_verdicts(desk: Office, tmp_path: Path) -> None:
    store, people = desk.store, desk.people
    voters = [desk.hire(name) for name in ("ann", "bob", "cem")]
    reviewer = desk.hire("dana", "reviewer", "admin")

    round = desk.open()
    assert desk.work_off(voters, holistic(desk, voters)) == 12 * 3
    assert dashboard.progress(people.store, round.id).complete == 12
    verdicts = final_verdicts(people.store, round.id)
    passed = {s for s, f in verdicts.items() if f.verdict.passed}
    assert passed == {"s-maker-0.p0", "s-maker-1.p2"}
    assert verdicts["s-maker-0.p0"].verdict.label == 2
    assert all(f.verdict.standing is Standing.DECIDED for f in verdicts.values())

    # Every positive is audited; the reviewer finds that p2 of maker-1 is no good.
    audit = desk.open(RoundKind.AUDIT, over=round.id)
    assert set(audit.subjects) == passed
    judge = lambda account, item: {  # noqa: E731
        "score": 1 if desk.behind(item) == ("s-maker-1.p2",) else 2, "justification": "checked every file",
    }  # fmt: skip
    assert desk.work_off([reviewer], judge) == 2
    # What the votes contest is adjudicated by somebody who did not vote, blind at first.
    contested = desk.open(RoundKind.ADJUDICATION, over=round.id)
    assert set(contested.subjects) == {"s-maker-1.p1", "s-maker-0.p3"}
    item = people.drafting.claim(reviewer)
    assert item is not None
    with pytest.raises(Conflict, match="hand in your vote first"):
        people.judging.earlier_votes(item.id, reviewer)
    score = 2 if desk.behind(item) == ("s-maker-1.p1",) else 1
    people.judging.submit(item.id, reviewer, {"score": score, "justification": "as the brief says"}, "k1")
    assert [vote["said"]["score"] for vote in people.judging.earlier_votes(item.id, reviewer)].count(2) == 1
    last = people.drafting.claim(reviewer)
    assert last is not None
    score = 2 if desk.behind(last) == ("s-maker-1.p1",) else 1
    people.judging.submit(last.id, reviewer, {"score": score, "justification": "as the brief says"}, "k2")

    verdicts = final_verdicts(people.store, round.id)
    assert {s: f.by for s, f in verdicts.items() if f.by is not DecidedBy.VOTES} == {
        "s-maker-1.p2": DecidedBy.AUDIT,
        "s-maker-1.p1": DecidedBy.ADJUDICATION,
        "s-maker-0.p3": DecidedBy.ADJUDICATION,
    }
    assert {s for s, f in verdicts.items() if f.verdict.passed} == {"s-maker-0.p0", "s-maker-1.p1"}
    assert verdicts["s-maker-1.p2"].votes.passed

    # A sample of what failed, one per project: none of it should have passed.
    desk.open(RoundKind.FALSE_NEGATIVES, over=round.id, sample=3)
    assert desk.work_off([reviewer], always(score=1)) == 3
    bound = false_negatives(store, round.id)
    assert (bound.value, bound.counts.valid, round_to(bound.high)) == (0.0, 3, 0.632)

    # Whatever passed is looked at for honesty; the leak is struck, and the figures follow.
    desk.open(RoundKind.INTEGRITY, over=round.id, sample=1)
    leak = lambda account, item: {  # noqa: E731
        "finding": "leak" if desk.behind(item) == ("s-maker-0.p0",) else "sound", "justification": "step 3",
    }  # fmt: skip
    assert desk.work_off([reviewer], leak) == 3
    assert final_verdicts(people.store, round.id)["s-maker-0.p0"].integrity == ("leak",)
    assert [a.target_id for a in strike_findings(people.store, reviewer, round.id, clock=people.clock)] == [
        "s-maker-0.p0"
    ]
    assert final_verdicts(people.store, round.id)["s-maker-0.p0"].verdict.standing is Standing.UNGRADED

    assert export_precomputed(store, round.id, tmp_path / "scores.json") == 11
    scores = {row["id"]: row["value"] for row in json.loads((tmp_path / "scores.json").read_text())}
    assert scores["t-maker-1.p1"] == 1.0 and scores["t-maker-1.p2"] == 0.0 and "t-maker-0.p0" not in scores
    before = slots_df(store, "x1")
    assert set(before.filter("passed")["submission"]) == {"s-maker-1.p1"}, "what reports are made of"
    looks = {r.id for r in store.find(Round, over=round.id) if r.purpose in (Purpose.AUDIT, Purpose.ADJUDICATION)}
    assert set(before["rounds"].explode().drop_nulls()) == {round.id, *looks}
    rebuild(store)
    assert slots_df(store, "x1").equals(before)
    assert dashboard.progress(people.store, round.id).given == 36
    assert check(store, deep=True) == []


def round_to(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def test_pairs_rank_the_agents(desk: Office) -> None:
    voters = [desk.hire(name) for name in ("ann", "bob", "cem")]
    pairs = desk.open(RoundKind.PAIRWISE, per_pair=3)
    assert desk.work_off(voters, better(desk)) == 3 * 3 * 2
    found = preferences(desk.store, pairs.id, {})
    names = {a.id: a.name for a in desk.makers}
    wins: dict[str, float] = {}
    for row in found.iter_rows(named=True):
        assert row["votes"] == 2 and row["preference"] in (0.0, 1.0)
        winner = names[row["first"] if row["preference"] == 1 else row["second"]]
        wins[winner] = wins.get(winner, 0) + 1
    assert wins == {"maker-0": 6, "maker-1": 3}
    assert preferences(desk.people.store, pairs.id).equals(found)
    bias = dashboard.position_bias(desk.people.store, pairs.id)
    assert bias[0].completion.counts.valid == 18
    assert dashboard.agreement(desk.people.store, pairs.id).share.value == 1.0


def test_tie_break_is_asked_if_the_first_two_differ(desk: Office) -> None:
    voters = [desk.hire(name) for name in ("ann", "bob", "cem")]
    from worksample.records import ResolutionRule

    round = desk.open(rule=ResolutionRule.TIE_BREAK)
    count = desk.work_off(voters, holistic(desk, voters))
    verdicts = final_verdicts(desk.people.store, round.id)
    assert all(f.verdict.standing is Standing.DECIDED for f in verdicts.values())
    thrice = [s for s, f in verdicts.items() if len(f.verdict.evaluations) == 3]
    assert count == 2 * 12 + len(thrice)
    assert set(thrice) <= {"s-maker-1.p1", "s-maker-0.p3"}
    assert {desk.store.get(Submission, s).id for s in thrice} == set(thrice)


def test_quality_decides_between_two_that_succeeded_and_completion_otherwise(desk: Office) -> None:
    voters = [desk.hire(name) for name in ("ann", "bob", "cem")]
    passing = ("s-maker-0.p0", "s-maker-1.p0")
    round = desk.open()
    desk.work_off(
        voters,
        lambda account, item: {"score": 2 if desk.behind(item)[0] in passing else 1, "justification": "seen"},
    )
    pairs = desk.open(RoundKind.PAIRWISE, per_pair=4, holistic=round.id)

    def answer(account: Account, item: Item) -> dict[str, Any]:
        # maker-0 is always closer to completion, the other of higher quality.
        closer = "first" if desk.behind(item)[0].startswith("s-maker-0") else "second"
        other = {"first": "second", "second": "first"}[closer]
        return {"completion": closer, "quality": other, "justification": "seen"}

    desk.work_off(voters, answer)
    names = {a.id: a.name for a in desk.makers}
    for row in preferences(desk.people.store, pairs.id).iter_rows(named=True):
        sides = (names[row["first"]], names[row["second"]])
        if "maker-0" not in sides:
            continue
        toward = row["preference"] if sides[0] == "maker-0" else 1 - row["preference"]
        both = row["project"] == desk.instances[0].id and "maker-1" in sides
        assert toward == (0 if both else 1)
