"""Layout and limits of the grader's box and of the box of the agent's programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from grading.helpers_grading import Bench, bench
from worksample.box import Root
from worksample.errors import CaptureError
from worksample.grading.grading_boxes import GradingBoxes, grading_boxes, verifier_of
from worksample.records import CaptureStatus, Grading, Protocol, SubmissionPart
from worksample.sandboxes.images import CachedImage


@pytest.fixture
def made(tmp_path: Path) -> Bench:
    return bench(tmp_path, "right")


def places(boxes: GradingBoxes) -> tuple[set[str], set[str]]:
    """Where something is mounted: for the grader, for the agent's programs."""
    grading, running = ({mount.target for mount in box.mounts} for box in (boxes.grading, boxes.running))
    return grading, running


def test_agents_programs_cannot_see_the_reference(made: Bench) -> None:
    submission = made.submit({"answer.txt": "1"})
    empty = SubmissionPart(manifest=submission.parts["output"].manifest)
    parts = {
        **submission.parts,
        "trajectory": empty,
        "probes": empty.replaced(status=CaptureStatus.ABSENT, reason="it did not answer"),
    }
    grading = made.instance.grading[Protocol.PROGRAM]
    boxes = grading_boxes(made.store, submission.replaced(parts=parts), made.instance, grading)
    shown = {"/task/input", "/task/software", "/task/output"}
    assert places(boxes) == (shown | {"/task/reference", "/task/grader", "/task/trajectory"}, shown)
    assert set(boxes.folders) == {"input", "software", "output", "reference", "grader", "trajectory"}
    assert boxes.folders["output"] == "/task/output"
    assert (boxes.grading.python, boxes.running.python) == ("platform", "toolbox")
    assert boxes.grading.limits.memory == 512 << 20
    work = made.instance.work.environment.limits
    assert (boxes.running.limits.memory, boxes.running.limits.disk) == (work.memory, work.disk)
    assert boxes.verifying is None
    assert boxes.running.root is None


def test_verifier_needs_an_image_and_the_captured_root(made: Bench, tmp_path: Path) -> None:
    submission = made.submit({"answer.txt": "1"})
    plain = made.instance.grading[Protocol.PROGRAM]
    image = CachedImage("0" * 64, Root(str(tmp_path)), substituted=(("b", "2"), ("a", "1")))
    verified: Grading = plain.replaced(settings={"verifier": {"command": ["true"]}})
    assert verifier_of(made.store, submission, made.instance, plain, image) is None
    assert verifier_of(made.store, submission, made.instance, verified, None) is None
    found = verifier_of(made.store, submission, made.instance, verified, image)
    assert found is not None
    assert (found.layers, found.own, found.output) == ((), None, "/task/output")
    assert found.substituted == (("a", "1"), ("b", "2"))
    assert (found.delivered / "answer.txt").read_text() == "1"
    output = submission.parts["output"]
    left = submission.replaced(parts={"output": output, "root": output})
    found = verifier_of(made.store, left, made.instance, verified, image)
    assert found is not None and len(found.layers) == 1
    absent = output.replaced(status=CaptureStatus.ABSENT, reason="the box was lost")
    lost = submission.replaced(parts={"output": output, "root": absent})
    with pytest.raises(CaptureError, match="were not captured: the box was lost"):
        verifier_of(made.store, lost, made.instance, verified, image)
