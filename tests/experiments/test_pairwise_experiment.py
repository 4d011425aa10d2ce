"""Pairs: judges compare agents' work in both orders; people's Elo is separate from theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from experiments.calibrating_material import BAD, GOOD, MODEL, config_of, text_of
from experiments.judged_by_people import hire, judge_all
from experiments.test_any_protocol import planned, run
from openai_server import Answer, judged, read, serving
from worksample.experiments.hand_in import HandInRequest, hand_in_and_grade
from worksample.models import JudgeConfig
from worksample.people import Account, People
from worksample.records import Evaluation, EvaluatorKind, Pairwise, Protocol, Purpose, Round, Submission
from worksample.reports.sections import measure
from worksample.results.calibration.config import CalibrationConfig
from worksample.results.calibration.label_rounds import count_missing_labels, labels_of
from worksample.results.pair_sampling import drawn_pairs
from worksample.results.second_looks import ROUTED
from worksample.store import Store, check

pytestmark = [pytest.mark.box, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


def polite(request: dict[str, Any], count: int) -> Answer:
    """Prefers what greets, wherever it stands; of two alike, neither."""
    one, two = ("Dear" in text for text in read(request).exhibits[:2])
    return judged("first" if one > two else "second" if two > one else "equal", "", None)


@pytest.mark.long(seconds=120)
@pytest.mark.thorough(quick="grading/test_judge_evaluators.py::test_contradicting_orders_of_a_pair_are_equal")
def test_judges_compare_pairs_that_are_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    with serving(polite) as served, Store.open(tmp_path / "store", create=True) as store:
        judges = {"judge": JudgeConfig(model=MODEL, repeats=2)}
        work = {"good": [GOOD, GOOD], "bad": [BAD, BAD]}
        config = config_of(tmp_path, served.base_url, work, "pairwise", calibration=None, judges=judges)
        experiment = planned(store, config)
        run(store, experiment, config)
        [round] = [r for r in store.find(Round) if r.by is EvaluatorKind.JUDGE]
        made = store.find(Evaluation, round=round.id)
        assert len({(e.subject, e.second) for e in made}) == 2 and len(made) == 4
        who = {s.id: s.entrant for s in store.find(Submission)}
        for e in made:
            assert isinstance(e.payload, Pairwise) and e.second is not None
            best = "first" if who[e.subject].startswith("good") else "second"
            assert (str(e.payload.completion), str(e.payload.quality)) == (best, best), e.reason
        # Two questions, each in both orders, of two pairs, twice.
        assert len(served.requests) == 16
        run(store, experiment, config)
        assert len(store.find(Evaluation, round=round.id)) == 4 and len(served.requests) == 16
        people, accounts = hire(store, "ann", "bob")
        assert judge_all(people, accounts) == 4
        found = {s.id: s for s in measure(store, [experiment.id])}
        assert not any(section.fault for section in found.values()), [s.fault for s in found.values()]
        assert found["elo-judges"].title == "Elo scores, by judges' answers alone"
        by_judges = {row.label: row.cells[0] for row in found["preferences-judges"].rows}
        assert set(found) >= {"elo", "preferences"} and len(by_judges) == 1


@pytest.mark.long(seconds=120)
@pytest.mark.thorough(quick="people/test_judge_labels_of_pairs.py::test_pairs_of_later_work_are_judged_and_labelled")
def test_judge_of_pairs_is_calibrated_from_plan_to_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """People label half of what a judge on loopback prefers; then somebody hands work in, and it goes the same way."""
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    with serving(polite) as served, Store.open(tmp_path / "store", create=True) as store:
        work = {"good": [GOOD] * 4, "bad": [BAD] * 4}
        calibration = CalibrationConfig(share=0.5, threshold=0.5, each=1, route=("unproven",))
        config = config_of(tmp_path, served.base_url, work, "pairwise", calibration=calibration)
        experiment = planned(store, config)
        run(store, experiment, config)
        [judged_round] = [r for r in store.find(Round) if r.by is EvaluatorKind.JUDGE]
        labels = labels_of(store, experiment.id, Protocol.PAIRWISE)
        assert labels is not None and list(labels.draw.counts.values()) == [(4, 2)]
        assert len(served.requests) == 16 and count_missing_labels(store, experiment, labels) == 2
        people, accounts = hire(store, "ann", "bob", "cem", "dan")
        assert compare_all(people, accounts[:2]) == 4
        run(store, experiment, config)
        # Two labels prove nothing: what they leave goes to others.
        [sent] = [r for r in store.find(Round) if ROUTED in r.versions]
        assert len(sent.subjects) == 4 and compare_all(people, accounts[2:]) == 4
        run(store, experiment, config)
        assert len(served.requests) == 16
        found = {s.id: s for s in measure(store, [experiment.id])}
        assert {row.label for row in found["proof-pairs"].rows} == {"all pairs", "bad over good"}
        assert not any(section.fault for section in found.values()), [s.fault for s in found.values()]

        made = tmp_path / "made"
        made.mkdir()
        (made / "letter.txt").write_text(GOOD)
        for n in range(2):
            hand_in_and_grade(
                store, HandInRequest(made, tmp_path / f"letter{n}", "erin", "person", experiment=experiment)
            )
        run(store, experiment, config)
        [later] = [r for r in store.find(Round) if r.purpose is Purpose.LATER_PAIRS]
        assert later.over == judged_round.id and len(drawn_pairs(store, judged_round)) == 8
        assert len(store.find(Evaluation, round=judged_round.id)) == 8 and len(served.requests) == 32
        labels = labels_of(store, experiment.id, Protocol.PAIRWISE)
        assert labels is not None and sorted(labels.draw.counts.values()) == [(2, 2), (2, 2), (4, 2)]
        assert count_missing_labels(store, experiment, labels) == 4 and compare_all(people, accounts) == 8
        run(store, experiment, config)
        assert len(served.requests) == 32 and len(store.find(Round, purpose=Purpose.LATER_PAIRS)) == 1
        found = {s.id: s for s in measure(store, [experiment.id])}
        assert len(found["preferences-corrected"].rows) == 3 and check(store, deep=True) == []


def compare_all(people: People, accounts: list[Account]) -> int:
    """Everybody prefers what greets; how many answers were handed in."""
    count = 0
    for account in accounts:
        while (item := people.drafting.claim(account)) is not None:
            one, two = (GOOD in text_of(people, item, pane) for pane in ("AD-1", "AD-2"))
            side = "first" if one > two else "second" if two > one else "equal"
            said = {"completion": side, "quality": side, "justification": "letter.txt"}
            people.judging.submit(item.id, account, said, f"{item.id} {account.id}", 45)
            count += 1
    return count
