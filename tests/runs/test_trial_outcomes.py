"""Outcomes from exceptions and failpoints."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.event import ModelEvent
from inspect_ai.model import GenerateConfig, ModelOutput
from inspect_ai.util import LimitExceededError

from worksample import fault_injection
from worksample.errors import AgentError, Cause, PlanError, SandboxError, StoreFull, UsageError
from worksample.models.request_account import ModelAccount
from worksample.records import Ending, TrialOutcome
from worksample.runs.trial_outcome import (
    DONE,
    failure_outcome,
    outcome_after_capture,
    outcome_of_error,
    outcome_of_limit,
)


def call(error: str | None = None) -> ModelEvent:
    return ModelEvent(
        model="a/x", input=[], tools=[], tool_choice="auto", config=GenerateConfig(), output=ModelOutput(), error=error
    )


class Status(Exception):
    status_code = 429


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    """The exception with a traceback and an explicit cause."""
    try:
        raise error from cause
    except BaseException as caught:  # noqa: BLE001 - any exception is given back
        return caught


@pytest.mark.parametrize(
    ("error", "events", "ending", "cause"),
    [
        (AgentError("exit 7"), [], Ending.FAILED, Cause.AGENT_CRASH),
        (AgentError("7 steps", cause=Cause.LIMIT_TURNS), [], Ending.LIMIT, Cause.LIMIT_TURNS),
        (SandboxError("gone"), [call("late")], Ending.FAILED, Cause.SANDBOX_LOST),
        (StoreFull("full"), [], Ending.FAILED, Cause.STORE_FULL),
        (Status("busy"), [call("busy")], Ending.FAILED, Cause.MODEL_ERROR),
        (Status("busy"), [call()], Ending.FAILED, Cause.PLATFORM_CRASH),
        (KeyError("x"), [], Ending.FAILED, Cause.PLATFORM_CRASH),
        (PlanError("no cause of its own"), [], Ending.FAILED, Cause.PLATFORM_CRASH),
        (ExceptionGroup("two", [SandboxError("gone"), KeyError("x")]), [], Ending.FAILED, Cause.SANDBOX_LOST),
        (raised(RuntimeError("told otherwise"), SandboxError("gone")), [], Ending.FAILED, Cause.SANDBOX_LOST),
    ],
)
def test_errors_have_outcomes(error: BaseException, events: list[ModelEvent], ending: Ending, cause: Cause) -> None:
    outcome = outcome_of_error(error, events)
    assert (outcome.ending, outcome.cause) == (ending, cause)
    assert outcome.reason


@pytest.mark.parametrize(
    ("outcome", "cause", "expected"),
    [
        (DONE, None, None),
        (DONE, Cause.CAPTURE_TOO_MANY, None),
        (DONE, Cause.CAPTURE_UNREADABLE, None),
        (DONE, Cause.CAPTURE_TIME, None),
        (DONE, Cause.CAPTURE_FAILED, Cause.CAPTURE_FAILED),
        (DONE, Cause.SANDBOX_LOST, Cause.SANDBOX_LOST),
        (failure_outcome(Cause.AGENT_CRASH, "7"), Cause.SANDBOX_LOST, Cause.SANDBOX_LOST),
        (failure_outcome(Cause.AGENT_CRASH, "7"), Cause.CAPTURE_TOO_LARGE, Cause.AGENT_CRASH),
        (failure_outcome(Cause.MODEL_ERROR, "503"), Cause.SANDBOX_LOST, Cause.MODEL_ERROR),
    ],
)
def test_only_our_own_capture_failure_replaces_an_outcome(
    outcome: TrialOutcome, cause: Cause | None, expected: Cause | None
) -> None:
    after = outcome_after_capture(outcome, cause, "said")
    assert after.cause is expected
    assert (after == outcome) == (expected is outcome.cause)
    assert after.finished == (expected in (None, Cause.AGENT_CRASH))


@given(st.text(alphabet=st.characters(), max_size=30).map(lambda text: text + "\0\x1b[2J\ud800"))
def test_reason_contains_only_storable_and_printable_text(said: str) -> None:
    reason = outcome_of_error(AgentError(f"exit 7: {said}"), []).reason
    assert reason.startswith("exit 7: ")
    assert all(c.isprintable() or c in "\n\t" for c in reason)
    reason.encode()


def test_crash_names_its_place() -> None:
    try:
        fault_injection._read("nonsense")
    except UsageError as error:
        outcome = outcome_of_error(error, [])
    assert "fault_injection.py:" in outcome.reason
    assert "UsageError" in outcome.reason


@pytest.mark.parametrize(
    ("type", "events", "cause"),
    [
        ("time", [], Cause.LIMIT_TIME),
        ("time", [call()], Cause.LIMIT_TIME),
        ("time", [call("HTTP 500")], Cause.MODEL_ERROR),
        ("working", [], Cause.LIMIT_TIME),
        ("token", [call("HTTP 500")], Cause.LIMIT_TOKENS),
        ("cost", [], Cause.LIMIT_COST),
        ("turn", [], Cause.LIMIT_TURNS),
        ("message", [], Cause.LIMIT_OTHER),
        ("custom", [], Cause.LIMIT_OTHER),
    ],
)
def test_limits_have_outcomes(type: str, events: list[ModelEvent], cause: Cause) -> None:
    outcome = outcome_of_limit(LimitExceededError(type, value=2, limit=1), events)  # type: ignore[arg-type]
    assert outcome.cause is cause
    assert outcome.finished == (cause is not Cause.MODEL_ERROR)


@pytest.mark.parametrize("text", ["close.commit", "close.commit:explode", "nowhere:kill", "close.commit:kill:x"])
def test_impossible_failpoint_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="POINT:KIND"):
        fault_injection._read(text)


def test_failpoints_are_read_by_name_and_number() -> None:
    assert fault_injection._read("close.commit:kill,grade.begin:raise:3") == {
        ("close.commit", 1): "kill",
        ("grade.begin", 3): "raise",
    }


@pytest.mark.parametrize(
    ("charged", "cause"), [(0.0, Cause.LIMIT_COST), (0.5, Cause.LIMIT_COST), (1.5, Cause.MODEL_ERROR)]
)
def test_budget_used_up_by_unanswered_requests_is_the_services_fault(charged: float, cause: Cause) -> None:
    error = LimitExceededError("cost", value=3.0, limit=2.0, message="Cost limit exceeded")
    account = ModelAccount({}, charged=charged)
    assert outcome_of_limit(error, [], account=account).cause is cause
    assert outcome_of_limit(error, []).cause is Cause.LIMIT_COST
    tokens = LimitExceededError("token", value=300, limit=200, message="Token limit exceeded")
    assert outcome_of_limit(tokens, [], account=ModelAccount({}, charged_tokens=150)).cause is Cause.MODEL_ERROR
    assert outcome_of_limit(tokens, [], account=account).cause is Cause.LIMIT_TOKENS
