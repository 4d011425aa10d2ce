"""An agent whose requests the model's service rejects: its trial is graded and never left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openai_server import Answer, Call, calls, says, serving
from openai_server.faults import reply
from runs.material import Setting, player, setting
from worksample.agents import define
from worksample.errors import POLICY, Cause
from worksample.models import Price
from worksample.records import Ending, Limits, Trial

pytestmark = pytest.mark.box

MODEL = "openai-api/local/model-1"
BAD = "echo wrong > /task/output/hello.txt; "
Chooser = Callable[[dict[str, Any], int], Answer]


def refused(status: int) -> Answer:
    return reply(status, {"error": {"message": "You uploaded an unsupported image", "code": "invalid_image_format"}})


def results(request: dict[str, Any]) -> list[str]:
    return [json.dumps(m["content"]) for m in request["messages"] if m["role"] == "tool"]


async def worked(folder: Path, choose: Chooser, harness: str = "worker", **rest: Any) -> tuple[Setting, list[Trial]]:
    agent = define("worker", harness=harness, model=MODEL, capabilities=("vision",), **rest)
    at = setting(folder, agent=agent, limits=Limits(time=120))
    with serving(choose) as served:
        prices = {MODEL: Price(input=1, output=1)}
        return at, await at.run(tries=2, model_args=served.args, prices=prices, model_retries=0)


@pytest.mark.parametrize("status", [400, 403, 404, 413, 422])
async def test_rejected_result_is_left_out_and_the_work_continues(tmp_path: Path, status: int) -> None:
    seen: list[list[str]] = []

    def choose(request: dict[str, Any], count: int) -> Answer:
        seen.append(results(request))
        if any("TRIGGER" in one for one in seen[-1]):
            return refused(status)
        if not seen[-1]:
            return calls("bash", command=BAD + 'echo TRIG""GER')
        return calls("submit")

    at, (trial,) = await worked(tmp_path, choose)
    assert (trial.outcome.ending, trial.outcome.cause) == (Ending.DONE, None), trial.outcome
    assert at.output(trial) == {"hello.txt": b"wrong\n"}
    assert "was left out" in seen[-1][0]
    assert "unsupported image" in seen[-1][0]


async def test_older_rejected_result_is_left_out_if_the_newest_is_not_it(tmp_path: Path) -> None:
    def choose(request: dict[str, Any], count: int) -> Answer:
        told = results(request)
        if len(told) == 2 and "TRIGGER" in told[0]:
            return refused(400)
        return (calls("bash", command=BAD + 'echo TRIG""GER'), calls("bash", command="true"), calls("submit"))[
            len(told)
        ]

    _, (trial,) = await worked(tmp_path, choose)
    assert trial.outcome.cause is None, trial.outcome


@pytest.mark.parametrize("status", [400, 403])
async def test_permanently_rejected_conversation_is_the_agents_fault(tmp_path: Path, status: int) -> None:
    def choose(request: dict[str, Any], count: int) -> Answer:
        if any(m["role"] == "assistant" for m in request["messages"]):
            return refused(status)
        return calls("bash", command=BAD)

    at, (trial,) = await worked(tmp_path, choose)
    assert trial.outcome.cause is Cause.AGENT_REJECTED, trial.outcome
    assert POLICY[Cause.AGENT_REJECTED].graded
    assert at.output(trial) == {"hello.txt": b"wrong\n"}


async def test_service_that_rejects_everything_is_to_blame(tmp_path: Path) -> None:
    def choose(request: dict[str, Any], count: int) -> Answer:
        return calls("bash", command=BAD) if count == 0 else refused(403)

    _, trials = await worked(tmp_path, choose)
    assert {trial.outcome.cause for trial in trials} == {Cause.MODEL_REFUSED}


@pytest.mark.parametrize("size", [100_000, 200_000])
async def test_impossible_command_is_reported_to_the_model(tmp_path: Path, size: int) -> None:
    def choose(request: dict[str, Any], count: int) -> Answer:
        told = results(request)
        if len(told) == 2:
            return calls("submit")
        return calls("bash", command=f": {'x' * size}") if told else calls("bash", command=BAD)

    _, (trial,) = await worked(tmp_path, choose)
    assert trial.outcome.cause is None, trial.outcome


SHADOWS = {
    "base64.py": "def b64encode(data):\n    return b'iVBORw0KGgo='\n",
    "io.py": "raise SystemExit(0)\n",
    "PIL/__init__.py": "raise SystemExit('mine')\n",
    "sitecustomize.py": "print('x')\n",
}
PICTURE = "from PIL import Image; Image.new('RGB', (3, 2)).save('/task/scratch/a.png')"


async def test_agents_own_library_reads_no_picture(tmp_path: Path) -> None:
    shadows = "".join(
        f"mkdir -p $(dirname /task/scratch/{name}); printf %s {json.dumps(text)} > /task/scratch/{name}; "
        for name, text in SHADOWS.items()
    )
    pictures: list[str] = []

    def choose(request: dict[str, Any], count: int) -> Answer:
        parts = [p for m in request["messages"] if isinstance(m["content"], list) for p in m["content"]]
        pictures.extend(p["image_url"]["url"] for p in parts if p["type"] == "image_url")
        steps = (
            calls("bash", command=f'{BAD} python3 -c "{PICTURE}"; {shadows}'),
            Answer(calls=(Call("view_image", {"path": "/task/scratch/a.png"}),)),
            calls("submit"),
        )
        return steps[len(results(request))]

    _, (trial,) = await worked(tmp_path, choose)
    assert trial.outcome.cause is None, trial.outcome
    assert len(pictures) == 1
    assert len(pictures[0]) > 60


@pytest.mark.parametrize(
    ("name", "cause"),
    [("rejected", Cause.AGENT_REJECTED), ("caught", Cause.AGENT_REJECTED), ("unsent", None)],
)
async def test_python_agent_is_to_blame_for_its_requests(tmp_path: Path, name: str, cause: Cause | None) -> None:
    def choose(request: dict[str, Any], count: int) -> Answer:
        return refused(403) if "TRIGGER" in json.dumps(request) else says("yes")

    settings = {"object": f"runs.agents_that_ask:{name}"}
    at, (trial,) = await worked(tmp_path, choose, "object", settings=settings)
    assert trial.outcome.cause is cause, trial.outcome
    assert at.output(trial) == {"hello.txt": b"wrong\n"}


async def test_service_that_rejects_every_request_of_a_python_agent_is_to_blame(tmp_path: Path) -> None:
    settings = {"object": "runs.agents_that_ask:rejected"}
    _, trials = await worked(tmp_path, lambda request, count: refused(403), "object", settings=settings)
    assert {trial.outcome.cause for trial in trials} == {Cause.MODEL_REFUSED}


@pytest.mark.parametrize(
    ("name", "cause"),
    [("at_once", Cause.MODEL_ERROR), ("in_a_group", Cause.MODEL_ERROR), ("handled", Cause.AGENT_CRASH)],
)
async def test_failed_call_among_others_is_the_services_fault(tmp_path: Path, name: str, cause: Cause) -> None:
    def choose(request: dict[str, Any], count: int) -> Answer:
        said = json.dumps(request)
        return refused(500) if "FAIL" in said else Answer(text="yes", delay=1.0 if "SLOW" in said else 0.0)

    settings = {"object": f"runs.agents_that_ask:{name}"}
    _, trials = await worked(tmp_path, choose, "object", settings=settings)
    assert {trial.outcome.cause for trial in trials} == {cause}, trials[0].outcome


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cancels", "CancelledError: the agent's own code cancelled itself, or a task that it waited for"),
        ("exits_in_a_task", "SystemExit: 4"),
        ("odd_text", "RuntimeError: \\ud800"),
        ("no_text", "Mute: (no text available)"),
        ("odd_state", ""),
    ],
)
async def test_python_agent_ends_only_its_own_trial(tmp_path: Path, name: str, said: str) -> None:
    agent = define("odd", harness="object", settings={"object": f"runs.agents_that_ask:{name}"})
    at = setting(tmp_path, agent=agent, more=[player("honest", {"run": "sleep 1; echo hi > {output}/hello.txt"})])
    first, second = sorted(await at.run(tries=2), key=lambda trial: trial.agent != agent.id)
    assert (first.outcome.cause, first.outcome.reason) == (Cause.AGENT_CRASH if said else None, said)
    assert second.outcome.finished
    assert at.output(second) == {"hello.txt": b"hi\n"}
