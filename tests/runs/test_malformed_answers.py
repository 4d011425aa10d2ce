"""Model replies that cannot be stored: absurd usage, numbers that JSON lacks, unreadable arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openai_server import Answer, Call, calls, serving
from runs.material import Setting, setting
from worksample.agents import define
from worksample.errors import Cause
from worksample.models import Price
from worksample.records import Limits, Submission, Trial

pytestmark = pytest.mark.box

MODEL = "openai-api/local/model-1"
HELLO = calls("bash", command="echo hello > /task/output/hello.txt")


async def answered(folder: Path, *answers: Answer, **limits: Any) -> tuple[Setting, list[Trial]]:
    """The trials of a worker whose model gives these answers after one that writes `hello.txt`."""
    agent = define("worker", harness="worker", model=MODEL)
    at = setting(folder, agent=agent, limits=Limits(time=120, **limits))
    with serving([HELLO, *answers, calls("submit")]) as served:
        prices = {MODEL: Price(input=1, output=1)}
        return at, await at.run(tries=2, model_args=served.args, prices=prices, model_retries=0)


USAGE: list[dict[str, Any]] = [
    {"input_tokens": -5},
    {"output_tokens": -5000},
    {"input_tokens": 10**30},
    {"input_tokens": 2**62, "output_tokens": 2**62},
    {"cached_tokens": 10**30},
    {"output_tokens": 10**30},
]


@pytest.mark.parametrize("usage", USAGE)
async def test_absurd_usage_is_estimated_from_the_text_and_marked(tmp_path: Path, usage: dict[str, Any]) -> None:
    answer = Answer(calls=(Call("bash", {"command": "true"}),), **usage)
    at, (trial,) = await answered(tmp_path, answer, tokens=100_000, cost=1.0)
    assert trial.outcome.cause is None
    assert at.output(trial) == {"hello.txt": b"hello\n"}
    used = trial.usage["agent"]
    assert (used.calls, used.estimated, used.priced, used.requests) == (3, 1, False, 3)
    assert 200 < used.input_tokens < 5_000 and 40 <= used.output_tokens < 100
    assert used.cost == used.cost_at_most == pytest.approx(used.tokens / 1e6)
    assert trial.steps == 3


@pytest.mark.parametrize("tokens", [1.5, float("nan"), float("inf")])
async def test_non_numeric_usage_is_the_services_fault(tmp_path: Path, tokens: Any) -> None:
    _, trials = await answered(tmp_path, Answer(calls=(Call("submit"),), input_tokens=tokens))
    assert trials[0].outcome.cause is Cause.MODEL_ERROR


ARGUMENTS = {
    "no number": ("bash", '{"command": "true", "timeout": NaN}'),
    "infinite": ("bash", '{"command": "true", "timeout": 1e999}'),
    "unasked": ("bash", '{"command": "true", "x": [NaN, -Infinity]}'),
    "very large": ("bash", '{"command": "true", "timeout": 1' + "0" * 4000 + "}"),
    "very large line": ("read_file", '{"path": "/task/output/hello.txt", "first": 1' + "0" * 4000 + "}"),
    "no line": ("read_file", '{"path": "/task/output/hello.txt", "first": NaN, "last": Infinity}'),
    "deep": ("bash", '{"command": "true", "x": ' + "[" * 900 + "]" * 900 + "}"),
    "deeper": ("bash", '{"command": "true", "x": ' + "[" * 5000 + "]" * 5000 + "}"),
    "a lone surrogate": ("write_file", '{"path": "/task/output/\\ud800", "text": "\\udfff"}'),
    "a NUL": ("bash", '{"command": "echo \\u0000"}'),
    "a long path": ("write_file", '{"path": "/task/output/' + "x/" * 5000 + '", "text": ""}'),
}


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
async def test_odd_arguments_harm_nobody(tmp_path: Path, name: str) -> None:
    tool, raw = ARGUMENTS[name]
    at, trials = await answered(tmp_path, Answer(calls=(Call(tool, raw=raw),)))
    (trial,) = trials
    assert trial.outcome.cause is None, trial.outcome
    assert at.output(trial)["hello.txt"] == b"hello\n"
    part = at.store.get(Submission, trial.id).parts["trajectory"]
    entry = at.store.manifest(part.manifest).find("trajectory.json")
    assert entry is not None
    document = json.loads(at.store.blobs.read(str(entry.blob)), parse_constant=pytest.fail)
    assert document["final_metrics"]["total_steps"] == len(document["steps"]) >= 4


async def test_unreadable_number_is_the_agents_answer(tmp_path: Path) -> None:
    raw = '{"command": "true", "timeout": 1' + "0" * 5000 + "}"
    at, (trial,) = await answered(tmp_path, Answer(calls=(Call("bash", raw=raw),)))
    assert trial.outcome.cause is Cause.AGENT_MALFORMED, trial.outcome
    assert at.output(trial) == {"hello.txt": b"hello\n"}
