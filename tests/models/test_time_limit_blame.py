"""Blame for a time limit: a service that did not answer, or a slow agent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.event import ModelEvent
from inspect_ai.model import GenerateConfig, ModelOutput
from inspect_ai.util import LimitExceededError

from worksample.errors import Cause
from worksample.models.service_wait_time import ServiceWait, measure_waiting
from worksample.runs.trial_outcome import outcome_of_limit

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
LIMIT = 600.0
CUT = "RuntimeError('model call cancelled')"
HTTP = "Error code: 503 - overloaded"


def at(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def call(begin: float, end: float, error: str | None = None, model: str = "a/x", role: str | None = None) -> ModelEvent:
    return ModelEvent(
        model=model, role=role, input=[], tools=[], tool_choice="auto", config=GenerateConfig(), output=ModelOutput(),
        error=error, timestamp=at(begin), completed=at(end),
    )  # fmt: skip


TRIALS = {
    "never answered": ([call(0, 600, CUT)], True),
    "never answered, in tries that were given up": ([call(0, 300, "AttemptTimeoutError"), call(303, 600, CUT)], True),
    "worked well, then it hung": ([call(0, 20), call(60, 90), call(400, 600, CUT)], True),
    "down at the end": ([call(0, 20), call(580, 581, HTTP), call(584, 585, HTTP)], True),
    "down, and the next try is on its way": ([call(0, 20), call(580, 581, HTTP), call(590, 600, CUT)], True),
    "half of the time went to tries without an answer": (
        [call(0, 300, "AttemptTimeoutError"), call(305, 320), call(340, 350)], True,
    ),
    "a model that thinks long each time": ([call(0, 190), call(200, 390), call(400, 600, CUT)], False),
    "somewhat longer than before": ([call(0, 100), call(110, 350), call(350, 600, CUT)], False),
    "cut short in the middle of a quick call": ([call(0, 2), call(595, 600, CUT)], False),
    "busy with a command": ([call(0, 2)], False),
    "a fault long ago": ([call(0, 5, HTTP), call(8, 12), call(500, 510)], False),
    "some of the time lost, less than half": ([call(0, 200, "AttemptTimeoutError"), call(205, 220)], False),
    "no call at all": ([], False),
    "a script that sleeps": ([call(0, 1, model="script/replay"), call(1, 600, CUT, model="script/replay")], False),
    "a colleague's model hung": ([call(0, 20), call(30, 600, CUT, role="colleague")], True),
}  # fmt: skip


@pytest.mark.parametrize("name", TRIALS)
def test_time_spent_waiting_for_a_service_is_the_services_fault(name: str) -> None:
    events, services = TRIALS[name]
    outcome = outcome_of_limit(LimitExceededError("time", value=LIMIT, limit=LIMIT), events, at(LIMIT))
    assert outcome.cause is (Cause.MODEL_ERROR if services else Cause.LIMIT_TIME)
    assert outcome.finished is not services
    assert outcome.retried is services
    if services:
        assert "of 10.0 min for the model's service" in outcome.reason


@pytest.mark.parametrize(
    ("events", "services"),
    [([], False), ([call(0, 20)], False), ([call(0, 600, CUT)], False), ([call(580, 581, HTTP)], True)],
)
def test_limit_without_seconds_is_the_services_only_after_a_failure(events: list[ModelEvent], services: bool) -> None:
    """No share of nothing can be told, and whoever waited for nothing at all waited half of it too."""
    outcome = outcome_of_limit(LimitExceededError("time", value=LIMIT, limit=0), events, at(LIMIT))
    assert outcome.cause is (Cause.MODEL_ERROR if services else Cause.LIMIT_TIME)
    assert " of " not in outcome.reason


def test_lost_time_counts_tries_and_their_pauses() -> None:
    events = [call(0, 100, "AttemptTimeoutError"), call(110, 150), call(200, 260, HTTP), call(300, 600, CUT)]
    assert measure_waiting(events, at(600)) == ServiceWait(lost=110 + 400, last=400, slowest=40, failed=True)


@given(st.lists(st.floats(0.1, 30), min_size=1, max_size=20), st.floats(0, 1))
def test_agent_whose_calls_are_answered_is_never_excused(seconds: list[float], share: float) -> None:
    """However slow the model is: the request that the limit cut short waited no longer than others."""
    events, clock = [], 0.0
    for length in seconds:
        events.append(call(clock, clock + length))
        clock += length
    left = share * max(seconds)
    events.append(call(clock, clock + left, CUT))
    limit = clock + left
    outcome = outcome_of_limit(LimitExceededError("time", value=limit, limit=limit), events, at(limit))
    assert outcome.cause is Cause.LIMIT_TIME
