"""Programs in a box call their model through the gateway, in each provider's dialect, without key or network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openai_server import Answer, Fault, calls, says, serving
from runs.material import Setting, setting
from worksample.agents import define
from worksample.errors import Cause
from worksample.formats.atif import export_trajectories, find_faults
from worksample.models import Price
from worksample.records import Ending, Limits, Submission, Trial

PROGRAM = (Path(__file__).parent / "gateway_program.py").read_text()
MODEL = "openai-api/local/model-1"
DIALECTS = ("chat", "responses", "messages", "gemini")


def program(dialect: str, **env: str) -> Any:
    return define(
        "program",
        harness="command",
        model=MODEL,
        settings={"argv": ["python3", "-c", PROGRAM, "{output}", "{model}"], "env": {"DIALECT": dialect, **env}},
    )


async def worked(
    folder: Path, answers: list[Answer], dialect: str = "chat", limits: Limits | None = None, **env: str
) -> tuple[Setting, Trial, list[dict[str, Any]]]:
    with serving(answers) as served:
        at = setting(folder, agent=program(dialect, **env), limits=limits)
        (trial,) = await at.run(
            tries=1, model_args=served.args, model_retries=1, prices={MODEL: Price(input=1.0, output=10.0)}
        )
        return at, trial, served.requests


def connections(at: Setting, trial: Trial) -> list[dict[str, Any]]:
    part = at.store.get(Submission, trial.id).parts["connections"]
    (entry,) = at.store.manifest(part.manifest).files
    return [json.loads(line) for line in at.store.blobs.read(entry.blob or "").splitlines()]


@pytest.mark.box
@pytest.mark.parametrize("streamed", ["", "yes"])
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_program_works_in_every_dialect(tmp_path: Path, dialect: str, streamed: str) -> None:
    answers = [calls("write", path="hello.txt", text="hi ü\n"), says("All done.")]
    at, trial, requests = await worked(tmp_path, answers, dialect, STREAM=streamed)
    assert trial.outcome.ending is Ending.DONE, trial.outcome
    assert at.output(trial) == {"hello.txt": "hi ü\n".encode()}
    used = trial.usage["agent"]
    assert (used.calls, used.input_tokens, used.output_tokens) == (2, 200, 40)
    assert used.cost == pytest.approx((200 * 1.0 + 40 * 10.0) / 1e6)
    assert trial.steps == 2
    first, second = requests
    assert [m["role"] for m in first["messages"]] == ["system", "user"]
    assert first["tools"][0]["function"]["parameters"]["required"] == ["path", "text"]
    assert [m["role"] for m in second["messages"]] == ["system", "user", "assistant", "tool"]
    assert second["messages"][3]["content"] == "written"
    rows = connections(at, trial)
    assert {row["endpoint"] for row in rows} == {"model.internal:80"}
    assert all(row["sent"] > 100 and row["received"] > 100 for row in rows)
    (path,) = export_trajectories(at.store, at.experiment.id, tmp_path / "out")
    document = json.loads(path.read_text())
    assert find_faults(document) == []
    sources = [s["source"] for s in document["steps"]]
    assert sources == ["system", "user", "agent", "agent", "agent"]
    assert document["steps"][2]["observation"]["results"][0]["content"] == "written"
    assert "the program ends" in document["steps"][4]["message"]


@pytest.mark.box
async def test_failing_service_is_not_the_agents_fault(tmp_path: Path) -> None:
    _, trial, requests = await worked(tmp_path, [Answer(fault=Fault.LIMIT)])
    assert (trial.outcome.ending, trial.outcome.cause) == (Ending.FAILED, Cause.MODEL_ERROR)
    assert "slow down" in trial.outcome.reason
    assert trial.outcome.finished is False
    assert len(requests) > 1


@pytest.mark.box
async def test_request_rejected_by_the_service_is_left_to_the_program(tmp_path: Path) -> None:
    """A program could otherwise have its work left out of the rates by asking what no service takes."""
    _, trial, _ = await worked(tmp_path, [Answer(fault=Fault.REJECTED)])
    assert (trial.outcome.ending, trial.outcome.cause) == (Ending.FAILED, Cause.AGENT_CRASH)
    assert "HTTP Error 400" in trial.outcome.reason


@pytest.mark.box
async def test_two_trials_never_meet_at_a_gateway(tmp_path: Path) -> None:
    """Each box has a gateway of its own: what one says and spends is not the other's."""

    def answer(request: dict[str, Any], count: int) -> Answer:
        own = next(m["content"] for m in request["messages"] if m["role"] == "user")
        last = request["messages"][-1]["role"] == "tool"
        return says("done") if last else calls("write", path="hello.txt", text=own)

    with serving(answer) as served:
        agents = [program("chat", TASK=f"task of {name}") for name in ("a", "b")]
        agents = [one.replaced(name=f"p{n}", id=f"p{n}@0123456789abcdef") for n, one in enumerate(agents)]
        at = setting(tmp_path, agent=agents[0], more=agents[1:], repeats=2)
        trials = await at.run(tries=1, parallel=4, model_args=served.args)
    assert len(trials) == 4
    for trial in trials:
        wanted = "a" if trial.agent.startswith("p0") else "b"
        assert at.output(trial) == {"hello.txt": f"task of {wanted}".encode()}
        assert trial.usage["agent"].calls == 2


@pytest.mark.box
@pytest.mark.parametrize(
    ("limits", "cause"),
    [
        (Limits(time=60, turns=1), Cause.LIMIT_TURNS),
        (Limits(time=60, tokens=150), Cause.LIMIT_TOKENS),
        (Limits(time=60, cost=0.0004), Cause.LIMIT_COST),
    ],
)
async def test_limits_hold_for_programs(tmp_path: Path, limits: Limits, cause: Cause) -> None:
    answers = [calls("write", path="hello.txt", text="hi\n"), says("All done.")]
    at, trial, _ = await worked(tmp_path, answers, limits=limits)
    assert (trial.outcome.ending, trial.outcome.cause) == (Ending.LIMIT, cause)
    assert at.output(trial) == {"hello.txt": b"hi\n"}
