"""Whole trials of agents with a desktop: tools, record, and what graders see of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runs.material import setting
from worksample.kit.desktop_record import DesktopRecord
from worksample.records import DesktopSpec, Limits, Submission

pytestmark = [pytest.mark.box, pytest.mark.desktop]
BUTTON = (Path(__file__).parent / "button.py").read_text()
LIMITS = Limits(time=240, memory=1 << 30, disk=64 << 20, processes=128)
START = "python3 /task/input/button.py & while [ ! -e /task/scratch/ready ]; do sleep 0.05; done"


def click(*at: float) -> dict[str, Any]:
    return {"desktop": "computer", "args": {"action": "left_click", "coordinate": list(at)}}


async def test_trial_with_a_desktop_records_every_action_and_the_screen(tmp_path: Path) -> None:
    steps = [{"run": START}, click(320, 240), click(9999, 1), {"run": "cat /task/output/hello.txt"}]
    made = setting(
        tmp_path, steps, inputs={"button.py": BUTTON.encode()}, limits=LIMITS,
        interfaces=("terminal", "desktop"), desktop=DesktopSpec(width=640, height=480),
    )  # fmt: skip
    (trial,) = await made.run()
    assert trial.outcome.ending == "done", trial.outcome
    assert made.output(trial)["hello.txt"] == b"pressed"
    submission = made.store.get(Submission, trial.id)
    seen = DesktopRecord(made.store.folder(submission.parts["desktop"].manifest))
    first, second = seen.steps
    assert (first.action, first.by, first.error, first.given["coordinate"]) == ("left_click", "agent", "", [320, 240])
    assert "outside the screen" in second.error and seen.acts("left_click") == [first]
    folder = made.store.folder(submission.parts["desktop"].manifest)
    for name in (first.before, first.after, second.after):
        assert (folder / name).read_bytes().startswith(b"\xff\xd8\xff")
    assert trial.phases["desktop"] < 60
