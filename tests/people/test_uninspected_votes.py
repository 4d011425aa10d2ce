"""Votes of people who could not inspect a deliverable count only if the deliverable's own files are to blame."""

from __future__ import annotations

from pathlib import Path

import pytest

from grading.judging_material import judged_bench
from people.worlds import office
from worksample.models import Visibility
from worksample.people import final_verdicts
from worksample.people.judging.answer_submission import file_at_fault
from worksample.records import Evaluation, Standing
from worksample.results.round_evaluations import FAULT, is_unseen
from worksample.viewing.view_cache import ViewCache, key
from worksample.viewing.views import View, card

DAMAGED = card("the archive is damaged", Visibility.FILE)
STARVED = card("the server was too busy", Visibility.STARVED)
FINE = View("text", "native", {})
PEOPLE = View("model", "native", {})


@pytest.mark.parametrize(
    ("views", "fault"),
    [
        ([DAMAGED], True),
        ([FINE, DAMAGED], True),
        ([FINE], False),
        ([FINE, PEOPLE], False),
        ([DAMAGED, STARVED], False),
        ([STARVED], False),
        ([DAMAGED, None], False),
        ([None], False),
    ],
)
def test_file_is_to_blame_only_if_its_view_says_so(tmp_path: Path, views: list[View | None], fault: bool) -> None:
    """A view that is not kept is one that the server could not make."""
    made = judged_bench(tmp_path)
    submission = made.submit({f"{n}.txt": str(n) for n in range(len(views))})
    digest = submission.parts["output"].manifest
    files = made.store.manifest(digest).files
    for entry, view in zip(files, views, strict=True):
        if view is not None:
            ViewCache(made.store).put(key(digest, entry), view, "", None)
    assert file_at_fault(made.store, (submission.id, None)) is fault
    made.store.close()


@pytest.mark.parametrize("score", [1, 3])
def test_uninspected_vote_is_stored_and_decides_nothing(tmp_path: Path, score: int) -> None:
    desk = office(tmp_path)
    ann, round = desk.hire("ann"), desk.open()
    item = desk.people.drafting.claim(ann)
    assert item is not None
    said = {"score": score, "justification": "the drawing stays empty", "inspected": False}
    evaluation = desk.people.judging.submit(item.id, ann, said, "k")
    assert is_unseen(evaluation) and FAULT not in evaluation.record
    verdict = final_verdicts(desk.people.store, round.id)[evaluation.subject].verdict
    assert (verdict.standing, verdict.passed) == (Standing.UNGRADED, None)
    assert desk.people.store.get(Evaluation, evaluation.id) == evaluation
