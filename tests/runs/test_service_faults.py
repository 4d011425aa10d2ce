"""Failures of a model's service: blame, messages and retries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from openai_server import Answer, Fault, calls, faults, says, serving
from runs.material import Setting, setting
from worksample.agents import define
from worksample.errors import Cause, ModelKeyError
from worksample.models import Price
from worksample.records import Ending, Limits, Trial

pytestmark = pytest.mark.box
MODEL = "openai-api/local/model-1"
PRICE = Price(input=1.0, output=1.0)


async def served(
    folder: Path, answers: Sequence[Answer], *, seconds: float = 60, names: Sequence[str] = ("one",), **config: Any
) -> tuple[Setting, list[Trial], int]:
    """Trials of a worker with this service, and how many requests it made."""
    at = setting(
        folder, agent=define("worker", harness="worker", model=MODEL), limits=Limits(time=seconds), names=names
    )
    with serving(answers) as service:
        trials = await at.run(**{"tries": 1, "model_args": service.args, **config})
        return at, trials, len(service.requests)


async def test_hanging_service_is_not_the_agents_fault(tmp_path: Path) -> None:
    at, trials, _ = await served(tmp_path, [Answer(fault=Fault.HANG)], seconds=2, tries=2)
    assert [t.outcome.cause for t in trials] == [Cause.MODEL_ERROR] * 2
    assert all(t.usage["agent"].requests == t.usage["agent"].unsettled == 1 for t in trials)
    assert all(t.phases["service"] > 1 for t in trials)
    assert "for the model's service: no answer came" in trials[0].outcome.reason
    assert at.store.open_slots(at.experiment.id)


async def test_slow_model_reaches_its_time_limit(tmp_path: Path) -> None:
    _, (trial,), requests = await served(tmp_path, [calls("bash", command="true")] * 3 + [
        Answer(calls=calls("bash", command="sleep 30").calls)
    ], seconds=5)  # fmt: skip
    assert requests == 4
    assert (trial.outcome.ending, trial.outcome.cause) == (Ending.LIMIT, Cause.LIMIT_TIME)


@pytest.mark.quick("HALF_JSON", "NO_CHOICES")
@pytest.mark.parametrize("fault", ["HALF_JSON", "NO_CHOICES", "ERROR_IN_200"])
async def test_malformed_reply_is_requested_again(tmp_path: Path, fault: str) -> None:
    _, (trial,), requests = await served(tmp_path, [getattr(faults, fault), calls("submit")], model_retries=1)
    assert trial.outcome.ending is Ending.DONE
    assert requests == 2


async def test_agents_request_is_repeated_as_often_as_retries_say(tmp_path: Path) -> None:
    """The provider's own client would make three requests of each."""
    _, (trial,), requests = await served(tmp_path, [Answer(fault=Fault.BROKEN)], seconds=60, model_retries=1)
    assert trial.outcome.cause is Cause.MODEL_ERROR
    assert requests == trial.usage["agent"].requests == 2


async def test_service_that_never_replies_sensibly_is_reported(tmp_path: Path) -> None:
    _, (trial,), _ = await served(tmp_path, [faults.NO_CHOICES], model_retries=0)
    assert trial.outcome.cause is Cause.MODEL_ERROR
    assert "the service's answer has no choice in it" in trial.outcome.reason


@pytest.mark.quick("TOO_LONG")
@pytest.mark.parametrize("fault", ["TOO_LONG", "VLLM_TOO_LONG"])
async def test_conversation_that_never_fits_is_the_agents_limit(tmp_path: Path, fault: str) -> None:
    _, (trial,), _ = await served(tmp_path, [getattr(faults, fault)])
    assert trial.outcome.cause is Cause.LIMIT_OTHER
    assert "no longer fits in the model's context" in trial.outcome.reason


async def test_wrong_key_ends_the_run_with_the_providers_words(tmp_path: Path) -> None:
    names = [f"n{i}" for i in range(9)]
    agent = define("worker", harness="worker", model=MODEL)
    at = setting(tmp_path, agent=agent, limits=Limits(time=60), names=names)
    with serving([faults.WRONG_KEY]) as service, pytest.raises(ModelKeyError) as caught:
        await at.run(parallel=1, tries=3, model_args=service.args)
    assert "Incorrect API key provided: sk-abc***xyz" in str(caught.value)
    assert "worksample resume" in caught.value.next
    trials = at.trials()
    assert len(trials) == 3
    assert {t.outcome.cause for t in trials} == {Cause.MODEL_KEY}
    assert trials[0].outcome.reason.startswith("HTTP 401: Incorrect API key provided")
    with serving([calls("submit")]) as service:
        again = await at.run(parallel=3, tries=1, model_args=service.args)
    assert sum(t.outcome.ending is Ending.DONE for t in again) == len(names)


async def test_account_without_credit_is_not_waited_for(tmp_path: Path) -> None:
    _, (trial,), _ = await served(tmp_path, [faults.NO_CREDIT], tries=3)
    assert trial.outcome.cause is Cause.MODEL_KEY
    assert "You exceeded your current quota" in trial.outcome.reason


async def test_reply_after_the_time_limit_is_counted(tmp_path: Path) -> None:
    _, (trial,), requests = await served(tmp_path, [says("late", delay=4.0)], seconds=2, prices={MODEL: PRICE})
    assert trial.outcome.cause is Cause.MODEL_ERROR
    used = trial.usage["agent"]
    assert (used.calls, used.requests, used.priced, requests) == (1, 1, True, 1)
    assert used.cost == pytest.approx(120 / 1e6)
    assert trial.steps == 0


async def test_retried_failure_is_recorded_beside_replies(tmp_path: Path) -> None:
    broken = faults.Reply(status=500, content=b"{}", headers={"Retry-After": "0"})
    _, (trial,), requests = await served(tmp_path, [broken, calls("submit")], prices={MODEL: PRICE})
    used = trial.usage["agent"]
    assert (used.calls, used.unsettled, used.requests, used.priced) == (1, 1, requests, False)
    assert used.cost_at_most is not None and used.cost is not None and used.cost_at_most > used.cost
