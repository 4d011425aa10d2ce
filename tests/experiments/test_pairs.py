"""Pairs: judges compare agents' work two by two, in both orders; people's Elo stands apart from theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from experiments.calibrating_material import BAD, GOOD, MODEL, config_of
from experiments.judged_by_people import hire, judge_all
from experiments.test_protocols import planned, run
from openai_server import Answer, judged, read, serving
from worksample.models import JudgeConfig
from worksample.records import Evaluation, EvaluatorKind, Pairwise, Round, Submission
from worksample.reports.sections import measure
from worksample.store import Store

pytestmark = [pytest.mark.box, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


def polite(request: dict[str, Any], count: int) -> Answer:
    """Prefers what greets, wherever it stands; of two alike, neither."""
    one, two = ("Dear" in text for text in read(request).exhibits[:2])
    return judged("first" if one > two else "second" if two > one else "equal", "", None)


@pytest.mark.long(seconds=120)
@pytest.mark.thorough(quick="grading/test_judges.py::test_a_pair_is_equal_where_its_orders_contradict_each_other")
def test_judges_answer_on_pairs_that_are_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
