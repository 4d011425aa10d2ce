"""Ends of an agent's turn from which a person continues, and reasons of ends."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from inspect_ai.event import ModelEvent
from inspect_ai.model import GenerateConfig, ModelOutput
from inspect_ai.util import LimitExceededError

from worksample.errors import Cause
from worksample.records import Ending, TrialOutcome
from worksample.runs.trial_outcome import (
    DONE,
    LONGEST,
    crash_outcome,
    failure_outcome,
    outcome_of_limit,
    outcome_of_turn,
)

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
OUT_OF_TIME = TrialOutcome(ending=Ending.LIMIT, cause=Cause.LIMIT_TIME, reason="30 s")


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (DONE, "the agent was done"),
        (OUT_OF_TIME, "ran out of time: 30 s"),
        (failure_outcome(Cause.AGENT_CRASH, "exit 7"), "the agent's own program failed: exit 7"),
    ],
)
def test_ended_turn_is_handed_over_with_its_end(outcome: TrialOutcome, said: str) -> None:
    over = outcome_of_turn(outcome)
    assert (over.ending, over.cause, over.reason) == (Ending.CANCELLED, Cause.PERSON_CONTINUES, said)


def test_platform_failure_is_not_handed_over() -> None:
    lost = failure_outcome(Cause.SANDBOX_LOST, "gone")
    assert outcome_of_turn(lost) is lost


def unanswered(seconds: float, limit: float) -> TrialOutcome:
    """A time limit that passed while a model was waited for."""
    call = ModelEvent(
        model="a/x", input=[], tools=[], tool_choice="auto", config=GenerateConfig(), output=ModelOutput(),
        error="busy", timestamp=BEGAN,
    )  # fmt: skip
    error = LimitExceededError("time", value=seconds, limit=limit)
    return outcome_of_limit(error, [call], BEGAN + timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("seconds", "limit", "said"),
    [
        (59.94, 60, "waited 59.9 s of 1.0 min for"),
        (61.5, 90, "waited 1.0 min of 1.5 min for"),
        (7, 59, "waited 7.0 s of 59.0 s for"),
    ],
)
def test_waiting_over_a_minute_is_given_in_minutes(seconds: float, limit: float, said: str) -> None:
    outcome = unanswered(seconds, limit)
    assert outcome.cause is Cause.MODEL_ERROR
    assert outcome.reason == f"{said} the model's service: busy"


def test_only_too_long_reasons_are_cut() -> None:
    fits, over = "x" * LONGEST, "x" * LONGEST + "y"
    assert failure_outcome(Cause.AGENT_CRASH, fits).reason == fits
    assert failure_outcome(Cause.AGENT_CRASH, over).reason == f"{fits}..."


def test_reason_keeps_lines_and_tabs_and_no_other_control() -> None:
    assert failure_outcome(Cause.AGENT_CRASH, "a\nb\tc\rd\x1be").reason == "a\nb\tc\ufffdd\ufffde"


def raised_through(*names: str) -> BaseException:
    """What is raised in the last of these files, each of which calls the next on its second line."""
    body, scope = "raise ValueError('x')", dict[str, Any]()
    for name in reversed(names):
        exec(compile(f"def made():\n    {body}", name, "exec"), scope)
        body, scope = "called()", {"called": scope["made"]}
    try:
        scope["called"]()
    except ValueError as error:
        assert error.__traceback__ is not None
        return error.with_traceback(error.__traceback__.tb_next)
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    ("files", "place"),
    [
        (("/opt/worksample/cli.py", "/opt/worksample/runs/close.py", "/opt/json.py"), "runs/close.py:2"),
        (("/opt/asyncio.py", "/opt/json.py"), "/opt/json.py:2"),
    ],
)
def test_crash_names_our_innermost_frame_or_where_it_was_raised(files: tuple[str, ...], place: str) -> None:
    assert crash_outcome(raised_through(*files)).reason == f"ValueError: x at {place}"


def test_crash_that_was_never_raised_names_no_place() -> None:
    assert crash_outcome(ValueError("x")).reason == "ValueError: x"
