"""Every cause has its policy, and outcomes follow it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from worksample.errors import (
    POLICY,
    Boundary,
    Cause,
    GraderError,
    ReferenceUnreadable,
    StoreFull,
    UsageError,
    WorksampleError,
)
from worksample.records import Ending, TrialOutcome


def test_policy_covers_every_cause() -> None:
    assert set(POLICY) == set(Cause)
    assert all(policy.description for policy in POLICY.values())


def test_graded_causes_are_not_retried() -> None:
    """A slot that is served by what was left must not be run a second time."""
    assert not [cause for cause, policy in POLICY.items() if policy.retry and policy.graded]


def test_only_agent_failures_and_capture_limits_are_graded() -> None:
    graded = {policy.boundary for policy in POLICY.values() if policy.graded}
    assert graded == {Boundary.AGENT, Boundary.CAPTURE}


@pytest.mark.parametrize("cause", list(Cause))
def test_outcome_follows_its_cause(cause: Cause) -> None:
    outcome = TrialOutcome(ending=Ending.FAILED, cause=cause)
    assert (outcome.finished, outcome.retried) == (POLICY[cause].graded, POLICY[cause].retry)


def test_done_has_no_cause_and_other_outcomes_have_one() -> None:
    assert TrialOutcome(ending=Ending.DONE).finished
    with pytest.raises(ValidationError):
        TrialOutcome(ending=Ending.DONE, cause=Cause.CANCELLED)
    with pytest.raises(ValidationError):
        TrialOutcome(ending=Ending.LIMIT)


def test_errors_say_what_where_and_next() -> None:
    error = StoreFull("no space left", where="/data", next="free some")
    assert str(error) == "/data: no space left\n  next: free some"
    assert error.cause is Cause.STORE_FULL
    assert ReferenceUnreadable("x").cause is Cause.GRADER_REFERENCE
    assert GraderError("x", cause=Cause.GRADER_TIME).cause is Cause.GRADER_TIME
    assert WorksampleError("x").cause is None


def test_error_text_cannot_control_a_terminal() -> None:
    told = str(UsageError("no\x1b]0;evil\x07thing", where="a\x9bb", next="rm\x1b[2J"))
    assert told == "a\\x9bb: no\\x1b]0;evil\\x07thing\n  next: rm\\x1b[2J"
