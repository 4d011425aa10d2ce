"""Agents with a model, through Inspect's own provider, against a service on loopback with good and bad responses."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agents.desk_material import instance_at, work_here
from openai_server import Answer, Call, Fault, calls, says, serving
from worksample.agents import define
from worksample.agents.plan_act_reflect import verdict_of
from worksample.models import ModelService, failure_of
from worksample.records import Agent, Limits

MODEL = "openai-api/local/model-1"


def worker(**settings: Any) -> Agent:
    return define("worker", harness="worker", model=MODEL, settings=settings)


async def ended(
    folder: Path, answers: list[Answer], agent: Agent | None = None, **service: Any
) -> tuple[Any, list[dict[str, Any]]]:
    """The sample after the agent worked, and the requests that it made."""
    instance = instance_at(folder, limits=Limits(time=60, turns=service.pop("turns", None)))
    with serving(answers) as served:
        log = await work_here(agent or worker(), instance, folder, ModelService(args=served.args, **service))
    return log.samples[0], served.requests


def write(folder: Path, text: str) -> Answer:
    return calls("write_file", path=str(folder / "output/hello.txt"), text=text)


def tool_results(sample: Any) -> list[str]:
    return [m.error.message if m.error else m.text for m in sample.messages if m.role == "tool"]


async def test_worker_works_until_it_submits(tmp_path: Path) -> None:
    sample, requests = await ended(
        tmp_path,
        [
            says("Let me think."),
            write(tmp_path, "hi\n"),
            calls("bash", command="cat hello.txt", timeout=5),
            calls("submit"),
        ],
    )
    assert sample.error is None
    assert (tmp_path / "output/hello.txt").read_text() == "hi\n"
    assert len(requests) == 4
    first = requests[0]
    assert [m["role"] for m in first["messages"]] == ["system", "user"]
    assert str(tmp_path / "output") in first["messages"][0]["content"]
    assert "hello.txt (txt): the greeting" in first["messages"][1]["content"]
    assert {t["function"]["name"] for t in first["tools"]} == {
        "bash", "python", "read_file", "write_file", "replace_in_file", "submit",
    }  # fmt: skip
    assert requests[1]["messages"][-1]["role"] == "user"
    assert "[exit status" in tool_results(sample)[1] or "hi" in tool_results(sample)[1]


async def test_transient_service_error_is_retried(tmp_path: Path) -> None:
    answers = [
        Answer(fault=Fault.LIMIT),
        Answer(fault=Fault.BROKEN),
        Answer(fault=Fault.CUT),
        write(tmp_path, "x"),
        calls("submit"),
    ]
    sample, requests = await ended(tmp_path, answers)
    assert sample.error is None
    assert len(requests) == 5


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        (Fault.BROKEN, "model.error"),
        (Fault.LIMIT, "model.error"),
        (Fault.NOT_JSON, "model.error"),
        (Fault.REJECTED, "model.refused"),
        (Fault.FORBIDDEN, "model.key"),
    ],
)
async def test_permanent_service_error_is_reported(tmp_path: Path, fault: Fault, cause: str) -> None:
    sample, _ = await ended(tmp_path, [Answer(fault=fault)], retries=1)
    assert sample.error is not None
    found = failure_of(error_with_status(sample), sample.events)
    assert found is not None
    assert found.cause == cause


def error_with_status(sample: Any) -> Exception:
    """What a provider raised, as far as a log tells it."""

    class Raised(Exception):
        status_code: int | None = None

    error = Raised(sample.error.message)
    for status in (400, 401, 429, 500):
        if f"Error code: {status}" in sample.error.message:
            error.status_code = status
    return error


async def test_slow_bodies_arrive(tmp_path: Path) -> None:
    sample, _ = await ended(tmp_path, [Answer(calls=(Call("submit"),), chunk_delay=0.02)])
    assert sample.error is None


async def test_hanging_service_times_out(tmp_path: Path) -> None:
    sample, requests = await ended(tmp_path, [Answer(fault=Fault.HANG)], retries=1, try_timeout=1.0)
    assert sample.error is not None
    assert len(requests) == 2
    found = failure_of(error_with_status(sample), sample.events)
    assert found is not None
    assert found.cause == "model.error"


NONSENSE = [
    Call("bash", raw="{command: ls"),
    Call("bash", raw="[]"),
    Call("bash", raw='{"command": 7, "timeout": {}}'),
    Call("bash", raw='{"cmd": "ls"}'),
    Call("read_file", raw='{"path": "/etc/\\u0000passwd"}'),
    Call("read_file", raw='{"path": "/nonexistent"}'),
    Call("replace_in_file", raw='{"path": "/etc/hostname", "old": "", "new": "x"}'),
    Call("no_such_tool", raw="{}"),
    Call("write_file", raw='{"path": "/proc/x", "text": "\\ud800"}'),
]


@pytest.mark.parametrize("call", NONSENSE, ids=[str(i) for i in range(len(NONSENSE))])
async def test_malformed_responses_are_answered_and_survived(tmp_path: Path, call: Call) -> None:
    sample, requests = await ended(tmp_path, [Answer(calls=(call,)), write(tmp_path, "still"), calls("submit")])
    assert sample.error is None
    assert (tmp_path / "output/hello.txt").read_text() == "still"
    assert tool_results(sample)[0]
    assert len(requests) == 3


async def test_only_malformed_responses_fail_the_agent(tmp_path: Path) -> None:
    sample, requests = await ended(tmp_path, [Answer(calls=(Call("bash", raw="{"),))], worker(malformed=3))
    assert "tool calls that could not be read" in sample.error.message
    assert len(requests) == 3


@pytest.mark.parametrize(
    "answer",
    [
        says("I'd rather not."),
        Answer(refusal="I cannot help with that."),
        Answer(text="", finish="length"),
        Answer(text="x", finish="content_filter"),
    ],
)
async def test_refusal_ends_the_work_after_reminders(tmp_path: Path, answer: Answer) -> None:
    sample, requests = await ended(tmp_path, [answer], worker(nudges=2))
    assert sample.error is None
    assert len(requests) == 3


async def test_steps_are_counted_exactly(tmp_path: Path) -> None:
    sample, requests = await ended(tmp_path, [calls("bash", command="true")], turns=3)
    assert "all of its 3 steps" in sample.error.message
    assert len(requests) == 3
    assert len(tool_results(sample)) == 3


async def test_long_conversation_is_compacted(tmp_path: Path) -> None:
    def choose(request: dict[str, Any], count: int) -> Answer:
        size = sum(len(str(m)) for m in request["messages"]) // 4
        if not request.get("tools"):
            return says("Summary: so far five numbers were printed.", input_tokens=size)
        if count > 14:
            return Answer(calls=(Call("submit"),), input_tokens=size)
        return Answer(calls=(Call("bash", {"command": "seq 4000"}),), input_tokens=size)

    chooser: Callable[[dict[str, Any], int], Answer] = choose
    instance = instance_at(tmp_path)
    with serving(chooser) as served:
        log = await work_here(worker(compact_at=20_000), instance, tmp_path, ModelService(args=served.args))
    assert log.samples[0].error is None
    sizes = [len(str(r["messages"])) // 4 for r in served.requests]
    assert max(sizes) < 40_000
    assert any(later < earlier / 2 for earlier, later in pairwise(sizes))
    assert all(r["messages"][1]["content"].startswith("Write hello.txt") for r in served.requests)


def reflecting(**settings: Any) -> Agent:
    return define("reflecting", harness="plan-act-reflect", model=MODEL, settings=settings)


async def test_plan_act_reflect_continues_until_satisfied(tmp_path: Path) -> None:
    (tmp_path / "input").mkdir()
    (tmp_path / "input/note.txt").write_text("Greet Ada.")
    answers = [
        says("Sub-goals: greet. Plan: write."),
        write(tmp_path, "hello\n"),
        says("Made hello.txt."),
        says("It does not name Ada.\nVERDICT: REVISE"),
        write(tmp_path, "hello Ada\n"),
        says("Changed."),
        says("All is met.\n**VERDICT: READY**"),
    ]
    sample, requests = await ended(tmp_path, answers, reflecting())
    assert sample.error is None
    assert (tmp_path / "output/hello.txt").read_text() == "hello Ada\n"
    assert len(requests) == len(answers)
    assert "Greet Ada." in requests[0]["messages"][1]["content"]
    assert "submit" not in {t["function"]["name"] for t in requests[0]["tools"]}


async def test_plan_act_reflect_ends_after_its_rounds(tmp_path: Path) -> None:
    answers = [says("plan"), *[says("VERDICT: REVISE")] * 20]
    sample, requests = await ended(tmp_path, answers, reflecting(rounds=2))
    assert sample.error is None
    assert len(requests) == 1 + 2 * 2


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("VERDICT: READY", "READY"),
        ("x\n VERDICT: revise\n", "REVISE"),
        ("VERDICT: REVISE\nfixed\nVERDICT: READY", "READY"),
        ("the VERDICT: REVISE of others", "READY"),
        ("", "READY"),
    ],
)
def test_reflection_verdicts_are_parsed(text: str, verdict: str) -> None:
    assert verdict_of(text) == verdict
