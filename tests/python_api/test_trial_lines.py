"""The line of a trial in a run's output."""

from __future__ import annotations

import pytest

from worksample.errors import Cause
from worksample.experiments.run_progress import LONGEST, outcome_of
from worksample.records import Ending, Trial, TrialOutcome


@pytest.mark.parametrize(
    ("ending", "cause", "reason", "line"),
    [
        (Ending.DONE, None, "", "done"),
        (
            Ending.FAILED, Cause.AGENT_CRASH, "ValueError: boom\n  File ...",
            "failed: the agent's own program failed (ValueError: boom)",
        ),
        (Ending.FAILED, Cause.AGENT_CRASH, " \n", "failed: the agent's own program failed"),
        (
            Ending.FAILED, Cause.AGENT_CRASH, "x" * 900,
            f"failed: the agent's own program failed ({'x' * LONGEST}...)",
        ),
        (Ending.LIMIT, Cause.LIMIT_TIME, "600 seconds", "limit: ran out of time"),
        (Ending.FAILED, Cause.MODEL_ERROR, "status 500", "failed: the model's service failed"),
    ],
)  # fmt: skip
def test_failed_agents_line_gives_the_reason(ending: Ending, cause: Cause | None, reason: str, line: str) -> None:
    outcome = TrialOutcome(ending=ending, cause=cause, reason=reason)
    assert outcome_of(Trial.model_construct(outcome=outcome)) == line
