"""Labels of people for a judge of pairs: drawn before the judge is asked, its proof, rounds for people, figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import delete

from people.test_judge_labels import Tasks
from people.worlds import Office
from reports.measuring import cell
from store.worlds import START
from worksample.experiments.rounds import pair_round
from worksample.grading import Evaluators
from worksample.grading.scripted_evaluator import ScriptedEvaluator
from worksample.people import Account, Item
from worksample.people.rounds.experiment_rounds import ExperimentRounds
from worksample.records import (
    Amendment,
    AmendmentAction,
    AmendmentTarget,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    Experiment,
    Pairwise,
    PairwiseChoice,
    Protocol,
    Purpose,
    Round,
    Submission,
)
from worksample.reports.sections import measure
from worksample.results.calibration.config import CalibrationConfig
from worksample.results.calibration.label_draw import read_draw
from worksample.results.calibration.label_rounds import count_missing_labels, labels_of
from worksample.results.pair_sampling import PAIRS, drawn_pairs, entries_of, key_of, sample_pairs
from worksample.results.second_looks import ROUTED
from worksample.store import Store, put_canonical
from worksample.store.people_tables import assignments, items, queues

Chooses = Callable[[str, str], PairwiseChoice]
CALIBRATED = {"calibration": CalibrationConfig(share=0.5, protocols=(Protocol.PAIRWISE,)).plain()}


def office(folder: Path, **rest: Any) -> Office:
    return Tasks(Store.open(folder / "s", create=True), **rest)


def planned(desk: Office, **rest: Any) -> Experiment:
    """The office's experiment with a calibration of its judge of pairs."""
    config = CalibrationConfig(**{"share": 0.5, "protocols": (Protocol.PAIRWISE,), **rest})
    found = desk.store.get(Experiment, "x1").replaced(settings={"calibration": config.plain()})
    return found.replaced(lock=found.lock.replaced(protocols=(Protocol.PAIRWISE,)))


def best(one: str, two: str) -> PairwiseChoice:
    """The truth of this file: in project n maker k's work is worth (7 n + 3 k) modulo 5."""
    worth = [(7 * int(s.rpartition("p")[2]) + 3 * int(s[len("s-maker-")])) % 5 for s in (one, two)]
    return (
        PairwiseChoice.FIRST
        if worth[0] > worth[1]
        else PairwiseChoice.SECOND
        if worth[0] < worth[1]
        else PairwiseChoice.EQUAL
    )


def loves_the_last(one: str, two: str) -> PairwiseChoice:
    """Right, but for work of maker 2, which it always prefers."""
    last = [s.startswith("s-maker-2") for s in (one, two)]
    return best(one, two) if not any(last) else PairwiseChoice.FIRST if last[0] else PairwiseChoice.SECOND


def judge(
    desk: Office, chooses: Chooses, per_pair: int = 24, only: Callable[[str], bool] = lambda s: True
) -> Round:  # fmt: skip
    """A judge's round of pairs, answered; `only`: of this work."""
    work = [s for s in desk.store.find(Submission) if only(s.id)]
    pairs = sample_pairs(entries_of(desk.store, work), per_pair, 0)
    drawn = [(p.first.subject, p.second.subject) for p in pairs]
    versions = {PAIRS: put_canonical(desk.store.blobs, [list(pair) for pair in drawn])}
    round = Round(
        id="judged", protocol=Protocol.PAIRWISE, by=EvaluatorKind.JUDGE, experiment="x1", versions=versions,
        author="me", at=START,
    )  # fmt: skip
    desk.store.commit(round)
    answer(desk, round, chooses, drawn)
    return round


def answer(desk: Office, round: Round, chooses: Chooses, pairs: Sequence[tuple[str, str]]) -> None:
    who = Evaluator(id="judge.judge@1", name="judge", type=EvaluatorKind.JUDGE, version="1", at=START)
    instances = {s.id: s.instance for s in desk.store.find(Submission)}
    said = [
        Evaluation(
            id=f"j {one} {two}", round=round.id, subject=one, second=two, evaluator=who.id, instance=instances[one],
            outcome=EvaluationOutcome.GIVEN, payload=Pairwise(completion=chooses(one, two), quality=chooses(one, two)),
            author="me", at=START,
        )
        for one, two in pairs
    ]  # fmt: skip
    desk.store.commit(who, *said)


def fill(desk: Office, experiment: Experiment) -> int:
    return ExperimentRounds(clock=desk.clock).fill(desk.store, experiment, Protocol.PAIRWISE)


def label(desk: Office, *accounts: Account, chooses: Chooses = best) -> int:
    def say(account: Account, item: Item) -> dict[str, object]:
        one, two = desk.behind(item)
        side = chooses(one, two).value
        return {"completion": side, "quality": side, "justification": "report.txt"}

    return desk.work_off(accounts, say)


def test_pairs_are_drawn_independent_of_the_judge_and_half_per_pair_of_agents(tmp_path: Path) -> None:
    drawn = []
    for n, chooses in enumerate((best, loves_the_last)):
        desk = office(tmp_path / str(n), agents=3, projects=12)
        experiment = planned(desk)
        assert fill(desk, experiment) == 0, "nobody is asked before a judge is"
        judge(desk, chooses, 10)
        assert (fill(desk, experiment), fill(desk, experiment)) == (15, 0)
        found = labels_of(desk.store, "x1", Protocol.PAIRWISE)
        assert found is not None and found.round.purpose is Purpose.CALIBRATION and found.round.over == "judged"
        assert set(found.draw.counts.values()) == {(10, 5)} and len(found.draw.counts) == 3
        drawn.append(found.draw.drawn)
        assert count_missing_labels(desk.store, experiment, found) == 15
    assert drawn[0] == drawn[1]


def test_proven_judge_decides_pairs_and_people_the_others(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=3, projects=40)
    experiment = planned(desk, share=0.7, threshold=0.75, each=3)
    judge(desk, loves_the_last, 36)
    assert fill(desk, experiment) == 76
    ann, bob, cem, dan = (desk.hire(name, "expert") for name in ("ann", "bob", "cem", "dan"))
    assert label(desk, ann, bob) == 152
    before = {s.id: s for s in measure(desk.store, [experiment])}
    standing = {row.label: row.cells[1] for row in before["proof-pairs"].rows}
    assert standing["maker-0 over maker-1"] == "proven"
    assert "proven" not in (standing["maker-0 over maker-2"], standing["maker-1 over maker-2"])

    assert fill(desk, experiment) > 0 and fill(desk, experiment) == 0
    [sent] = [r for r in desk.store.find(Round) if ROUTED in r.versions]
    why = json.loads(desk.store.blobs.read(sent.versions[ROUTED]))
    labelled = labels_of(desk.store, "x1", Protocol.PAIRWISE)
    assert labelled is not None and why and all("s-maker-2" in key for key in why)
    pairs = {key_of(*pair): pair for pair in drawn_pairs(desk.store, desk.store.get(Round, "judged"))}
    for key, reason in why.items():
        if key in labelled.draw.drawn:
            assert reason == "a person disagreed" and best(*pairs[key]) != loves_the_last(*pairs[key])
        else:
            assert reason.startswith(("refused", "unproven"))
    assert len(why) > len(pairs) * 2 // 3 - len(labelled.draw.drawn)
    assert label(desk, cem, dan) == 2 * len(why)
    after = {s.id: s for s in measure(desk.store, [experiment])}
    # People decide what went to them, and of that nothing is in an estimate.
    assert [r.cells for r in after["preferences-corrected"].rows] == [
        r.cells for r in before["preferences-corrected"].rows
    ]
    truth: dict[str, list[float]] = {}
    for one, two in pairs.values():
        a, b = sorted((one, two), key=lambda s: s[: len("s-maker-0")])
        value = {PairwiseChoice.FIRST: 1.0, PairwiseChoice.EQUAL: 0.5, PairwiseChoice.SECOND: 0.0}[best(a, b)]
        truth.setdefault(f"{a[2:9]} over {b[2:9]}", []).append(value)
    for label_, values in truth.items():
        mean = sum(values) / len(values)
        corrected = cell(after["preferences-corrected"], label_, "corrected")
        alone = cell(after["preferences-corrected"], label_, "judge alone")
        assert corrected.low is not None and corrected.high is not None and corrected.low <= mean <= corrected.high
        own = cell(after["preferences"], label_, "preference for the first")
        if "maker-2" in label_:
            assert alone.value == 0.0 < corrected.low and own.value is not None
            assert abs(own.value - mean) < abs(0.0 - mean)
        else:
            assert own.value == alone.value == mean
    kind = cell(after["elo"] if "elo" in after else before["elo"], "maker-2", "Elo")
    corrected = cell(after["elo-corrected"], "maker-2", "Elo")
    assert corrected.low is not None and corrected.high is not None and kind is not None
    assert not any(section.fault for section in after.values()), [s.fault for s in after.values()]


def test_pair_round_killed_before_its_queue_is_completed(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=2, projects=10)
    experiment = planned(desk)
    judge(desk, loves_the_last, 10)
    assert fill(desk, experiment) == 5
    before = {r.id for r in desk.store.find(Round)}
    [labels] = [r for r in desk.store.find(Round) if r.purpose is Purpose.CALIBRATION]
    draw = read_draw(desk.store, labels)
    with desk.store.database.writing() as connection:
        for table in (assignments, items, queues):
            connection.execute(delete(table))
    assert (fill(desk, experiment), fill(desk, experiment)) == (5, 0)
    assert {r.id for r in desk.store.find(Round)} == before and read_draw(desk.store, labels) == draw


def test_struck_side_strikes_its_pairs(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=2, projects=10)
    experiment = planned(desk)
    judge(desk, best, 10)
    fill(desk, experiment)
    found = labels_of(desk.store, "x1", Protocol.PAIRWISE)
    assert found is not None and count_missing_labels(desk.store, experiment, found) == 5
    gone = sorted(found.draw.drawn)[0].split("\x1f")[0]
    desk.store.commit(
        Amendment(
            id="a",
            target=AmendmentTarget.SUBMISSION,
            target_id=gone,
            action=AmendmentAction.STRIKE,
            reason="not its own work",
            author="me",
            at=START,
        )
    )
    assert count_missing_labels(desk.store, experiment, found) == 4


def test_pairs_of_later_work_are_judged_and_labelled(tmp_path: Path) -> None:
    """Two agents met on ten projects; a third comes late. What was drawn before stays as it was."""
    desk = office(tmp_path, agents=3, projects=10, settings=CALIBRATED)
    late = [s for s in desk.store.find(Submission) if s.id.startswith("s-maker-2")]
    experiment = planned(desk)
    judged = judge(desk, best, 10, only=lambda s: not s.startswith("s-maker-2"))
    assert fill(desk, experiment) == 5
    ann, bob = desk.hire("ann", "expert"), desk.hire("bob", "expert")
    label(desk, ann, bob)
    first = labels_of(desk.store, "x1", Protocol.PAIRWISE)
    assert first is not None and count_missing_labels(desk.store, experiment, first) == 0

    more = ask_later(desk, experiment, judged)
    assert len(late) == 10 and len(more) == 20 and ask_later(desk, experiment, judged) == []
    assert not {key_of(*pair) for pair in more} & set(first.draw.strata)
    found = labels_of(desk.store, "x1", Protocol.PAIRWISE)
    assert found is not None and first.draw.drawn < found.draw.drawn
    assert sorted(found.draw.counts.values()) == [(10, 5), (10, 5), (10, 5)]
    assert count_missing_labels(desk.store, experiment, found) == 10
    assert fill(desk, experiment) == 10, "what is labelled comes into the same queue"
    assert fill(desk, experiment) == 0
    with desk.store.database.writing() as connection:
        for table in (assignments, items, queues):
            connection.execute(delete(table))
    assert (fill(desk, experiment), fill(desk, experiment)) == (15, 0), "made anew, with what came later"
    assert label(desk, ann, bob) == 20, "what was said is asked of nobody"
    assert count_missing_labels(desk.store, experiment, found) == 0
    rows = {s.id: s for s in measure(desk.store, [experiment])}["preferences-corrected"].rows
    assert [row.cells[4] for row in rows] == ["5", "5", "5"]


def test_labellers_of_later_pairs_do_not_depend_on_strikes(tmp_path: Path) -> None:
    desk = office(tmp_path, agents=3, projects=6, settings=CALIBRATED)
    experiment = planned(desk)
    judged = judge(desk, best, 10, only=lambda s: not s.startswith("s-maker-2"))
    fill(desk, experiment)
    ask_later(desk, experiment, judged)
    found = labels_of(desk.store, "x1", Protocol.PAIRWISE)
    assert found is not None
    gone = next(key for key in sorted(found.draw.drawn) if "s-maker-2" in key).split("\x1f")[0]
    desk.store.commit(
        Amendment(
            id="a",
            target=AmendmentTarget.SUBMISSION,
            target_id=gone,
            action=AmendmentAction.STRIKE,
            reason="a leak",
            author="me",
            at=START,
        )
    )
    again = labels_of(desk.store, "x1", Protocol.PAIRWISE)
    assert again is not None and again.draw == found.draw


def ask_later(desk: Office, experiment: Experiment, judged: Round) -> list[tuple[str, str]]:
    """Draw what a run draws, and have the judge answer; the new pairs."""
    before = drawn_pairs(desk.store, judged)
    here = Evaluators(judges=lambda round: (ScriptedEvaluator("judge", None),))
    assert pair_round(desk.store, experiment, here) == judged
    fresh = drawn_pairs(desk.store, judged)[len(before) :]
    answer(desk, judged, best, fresh)
    return fresh
