"""Evidence of a trial besides its output: trajectory, log, scores, and agents of other kinds."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest

from openai_server import Answer, Call, Fault, calls, serving
from runs.material import Setting, setting
from worksample.agents import define
from worksample.agents.prompt_digest import SHOWN
from worksample.errors import Cause
from worksample.formats.atif import export_trajectories, find_faults
from worksample.models import Price
from worksample.records import (
    Ending,
    Evaluation,
    EvaluationOutcome,
    GradePayload,
    Instance,
    Limits,
    PartPayload,
    Protocol,
    Round,
    Trial,
    now,
)
from worksample.runs import write_scores

pytestmark = pytest.mark.box

HELLO = {"run": "echo hello > {output}/hello.txt"}
PICTURE = {"python": "from PIL import Image; Image.new('RGB', (2000, 10), 'red').save('{output}/p.png')"}


STEP = {"step_id": 1, "source": "agent", "message": ""}


async def test_exported_trajectories_are_valid_and_include_pictures(tmp_path: Path) -> None:
    at = setting(tmp_path, [PICTURE, {"view": "{output}/p.png"}, {"fail": "malformed"}, {"say": "hm"}])
    (trial,) = await at.run()
    (path,) = export_trajectories(at.store, at.experiment.id, tmp_path / "out")
    document = json.loads(path.read_text())
    assert find_faults(document) == []
    shown = [
        part
        for step in document["steps"]
        for result in step.get("observation", {}).get("results", [])
        if isinstance(result["content"], list)
        for part in result["content"]
        if part["type"] == "image"
    ]
    assert [p["source"]["path"] for p in shown] == ["images/0001.png"]
    assert (path.parent / "images/0001.png").read_bytes().startswith(b"\x89PNG")
    assert path.parent.name == trial.id


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema_version": "X"}, "schema_version"),
        ({"agent": {"name": "a"}}, "no version"),
        ({"steps": []}, "steps is empty"),
        ({"steps": [{"step_id": 2, "source": "user", "message": ""}]}, "step_id 2"),
        ({"steps": [{"step_id": 1, "source": "robot", "message": ""}]}, "source 'robot'"),
        ({"steps": [{"step_id": 1, "source": "user", "message": "", "metrics": {}}]}, "of user has metrics"),
        ({"steps": [{**STEP, "observation": {"results": [{"source_call_id": "x"}]}}]}, "did not make"),
    ],
)
def test_format_violations_are_named(change: dict[str, Any], says: str) -> None:
    sound = {"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"}, "steps": [STEP]}
    assert find_faults(sound) == []
    assert any(says in fault for fault in find_faults({**sound, **change}))


async def test_grades_are_added_to_the_log_once(tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log

    at = setting(tmp_path, [HELLO], names=("a", "b", "c"))
    first, second, third = await at.run()
    round = Round(id="round-1", protocol=Protocol.PROGRAM, experiment=at.experiment.id, author="tests", at=now())
    at.store.commit(round)
    for trial, score in ((first, 1.0), (second, 0.25)):
        part = PartPayload(name="greets", fraction=score, reason="as it is")
        at.store.commit(
            evaluation(
                round, trial, EvaluationOutcome.GIVEN, payload=GradePayload(score=score, parts=(part,), reason="so")
            )
        )
    at.store.commit(evaluation(round, third, EvaluationOutcome.FAILED, cause=Cause.GRADER_CRASH, reason="it fell over"))
    assert write_scores(at.store, at.experiment.id, round.id) == 2
    assert write_scores(at.store, at.experiment.id, round.id) == 0
    log = read_eval_log(str(at.store.logs / first.log))
    scores = {str(s.id): s.scores for s in log.samples or []}
    assert scores[first.id]["worksample"].value == 1.0  # type: ignore[index]
    assert scores[second.id]["worksample"].explanation == "so"  # type: ignore[index]
    assert not scores[third.id]
    assert log.results is not None
    means = [m.value for s in log.results.scores for n, m in s.metrics.items() if n == "mean"]
    assert means == [pytest.approx(0.625)]
    # Written whole or not at all, and what another run is just writing is left as it is.
    path = at.store.logs / first.log
    assert list(path.parent.glob(".*")) == []
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        entries = [entry for entry in archive.infolist() if entry.filename.startswith("samples/")]
    for entry in entries:
        start = entry.header_offset + 30 + len(entry.filename)
        path.write_bytes(whole[:start] + bytes(entry.compress_size) + whole[start + entry.compress_size :])
        assert write_scores(at.store, at.experiment.id, round.id) == 0
    assert entries


def bytes_read() -> int:
    """By this process so far."""
    return int(Path("/proc/self/io").read_text().split()[1])


async def test_log_without_new_grades_is_not_read(tmp_path: Path) -> None:
    """Logs of long conversations are large, and a resumed experiment has many in which nothing happened."""
    chatter = random.Random(1).randbytes(1_000_000).hex()
    at = setting(tmp_path, [{"say": chatter}, HELLO], names=("a", "b"))
    trials = await at.run()
    round = Round(id="round-1", protocol=Protocol.PROGRAM, experiment=at.experiment.id, author="tests", at=now())
    at.store.commit(round, evaluation(round, trials[0], EvaluationOutcome.GIVEN, payload=GradePayload(score=1.0)))
    size = (at.store.logs / trials[0].log).stat().st_size
    before = bytes_read()
    assert write_scores(at.store, at.experiment.id, round.id) == 1
    first, before = bytes_read() - before, bytes_read()
    assert write_scores(at.store, at.experiment.id, round.id) == 0
    assert bytes_read() - before < size / 10 < size <= first
    at.store.commit(evaluation(round, trials[1], EvaluationOutcome.GIVEN, payload=GradePayload(score=0.5)))
    assert write_scores(at.store, at.experiment.id, round.id) == 1


def evaluation(round: Round, trial: Trial, outcome: EvaluationOutcome, **rest: Any) -> Evaluation:
    return Evaluation(
        id=f"evaluation-{trial.id}",
        round=round.id,
        subject=trial.id,
        instance=trial.instance,
        evaluator="program",
        outcome=outcome,
        author="tests",
        at=now(),
        **rest,
    )


async def test_equal_work_is_exported_equal(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO], repeats=2)
    shown = {t.shown for t in await at.run()}
    assert len(shown) == 1
    other = setting(tmp_path / "other", [HELLO], names=("other",))
    assert {t.shown for t in await other.run()} != shown
    assert SHOWN


async def commanded(folder: Path, *argv: str, limits: Limits | None = None, **settings: Any) -> tuple[Setting, Trial]:
    agent = define("program", harness="command", settings={"argv": argv, **settings})
    at = setting(folder, agent=agent, limits=limits)
    (trial,) = await at.run(tries=1)
    return at, trial


READ = {
    "file": "cat {brief} > {output}/brief",
    "stdin": "cat > {output}/brief",
    "env": 'printf %s "$WORKSAMPLE_BRIEF" > {output}/brief',
}


@pytest.mark.parametrize("given", sorted(READ))
async def test_program_reads_the_brief(tmp_path: Path, given: str) -> None:
    at, trial = await commanded(tmp_path, "sh", "-c", READ[given] + "; echo done; echo oops >&2", brief=given)
    assert trial.outcome.ending is Ending.DONE
    instance = at.store.get(Instance, trial.instance)
    assert at.output(trial) == {"brief": instance.work.brief.encode()}
    assert trial.usage == {}
    assert trial.steps == 0
    (path,) = export_trajectories(at.store, at.experiment.id, tmp_path / "out")
    document = json.loads(path.read_text())
    assert find_faults(document) == []
    assert [s["source"] for s in document["steps"]] == ["user", "agent"]
    assert document["steps"][1]["llm_call_count"] == 0
    assert "done" in document["steps"][1]["message"]
    assert "oops" in document["steps"][1]["message"]


async def test_failed_program_is_reported_and_its_work_kept(tmp_path: Path) -> None:
    at, trial = await commanded(tmp_path, "sh", "-c", "echo x > {output}/x; echo no more ideas; exit 7")
    assert trial.outcome.cause is Cause.AGENT_CRASH
    assert "exit status 7: no more ideas" in trial.outcome.reason
    assert at.output(trial) == {"x": b"x\n"}


async def test_program_that_cannot_be_started_is_reported(tmp_path: Path) -> None:
    causes = (Cause.AGENT_ABSENT, Cause.AGENT_CRASH)
    for n, argv in enumerate(
        [("/etc/passwd",), ("sh", "-c", "echo x > {output}/x; echo Permission denied >&2; exit 126")]
    ):
        at, trial = await commanded(tmp_path / str(n), *argv)
        assert trial.outcome.cause is causes[n], trial.outcome
        assert at.output(trial) == ({"x": b"x\n"} if n else {})


async def test_missing_program_is_reported(tmp_path: Path) -> None:
    for n, argv in enumerate([("no-such-agent",), ("sh", "-c", "no-such-agent --task {brief}")]):
        _, trial = await commanded(tmp_path / str(n), *argv)
        assert trial.outcome.cause is Cause.AGENT_ABSENT
        assert not trial.outcome.finished
        assert "no program 'no-such-agent'" in trial.outcome.reason


async def test_exit_code_of_a_missing_program_counts_as_failure(tmp_path: Path) -> None:
    _, trial = await commanded(tmp_path, "sh", "-c", "echo 'sh: 1: no-such-agent: not found' >&2; exit 127")
    assert trial.outcome.cause is Cause.AGENT_CRASH
    assert trial.outcome.finished


async def test_endless_program_is_ended(tmp_path: Path) -> None:
    at, trial = await commanded(tmp_path, "sh", "-c", "echo x > {output}/x; sleep 600", limits=Limits(time=1.5))
    assert trial.outcome.cause is Cause.LIMIT_TIME
    assert at.output(trial) == {"x": b"x\n"}


async def modelled(folder: Path, answers: list[Answer], limits: Limits, **config: Any) -> tuple[Setting, Trial]:
    agent = define("worker", harness="worker", model="openai-api/local/model-1")
    at = setting(folder, agent=agent, limits=limits)
    with serving(answers) as served:
        (trial,) = await at.run(tries=1, model_args=served.args, **config)
    return at, trial


async def test_worker_with_a_model_and_a_price_is_paid(tmp_path: Path) -> None:
    answers = [
        calls("bash", command="echo hello > /task/output/hello.txt"),
        Answer(calls=(Call("submit"),), input_tokens=1000, cached_tokens=400, output_tokens=50),
    ]
    prices = {"openai-api/local/model-1": Price(input=10, output=100, cache_read=1)}
    at, trial = await modelled(tmp_path, answers, Limits(time=60, cost=1), prices=prices)
    assert trial.outcome.ending is Ending.DONE
    assert at.output(trial) == {"hello.txt": b"hello\n"}
    used = trial.usage["agent"]
    assert (used.input_tokens, used.cache_read_tokens, used.output_tokens) == (700, 400, 70)
    assert used.cost == pytest.approx((700 * 10 + 400 * 1 + 70 * 100) / 1e6)
    assert used.priced


async def test_budget_ends_the_work(tmp_path: Path) -> None:
    answers = [calls("bash", command="echo hello > /task/output/hello.txt")]
    prices = {"openai-api/local/model-1": Price(input=1000, output=1000)}
    at, trial = await modelled(tmp_path, answers, Limits(time=60, cost=0.3), prices=prices)
    assert trial.outcome.cause is Cause.LIMIT_COST
    assert trial.steps == 3
    assert at.output(trial) == {"hello.txt": b"hello\n"}


async def test_service_down_until_the_time_limit_is_to_blame(tmp_path: Path) -> None:
    _, trial = await modelled(tmp_path, [Answer(fault=Fault.BROKEN)], Limits(time=4), model_retries=None)
    assert trial.outcome.cause is Cause.MODEL_ERROR
    assert "for the model's service: " in trial.outcome.reason
    assert "something broke" in trial.outcome.reason
    assert not trial.outcome.finished


async def test_service_that_rejects_the_request_is_reported(tmp_path: Path) -> None:
    _, trial = await modelled(tmp_path, [Answer(fault=Fault.REJECTED)], Limits(time=60))
    assert trial.outcome.cause is Cause.MODEL_REFUSED
    assert "400" in trial.outcome.reason


async def test_unsandboxed_trial_works_and_is_marked(tmp_path: Path) -> None:
    at = setting(tmp_path, [HELLO])
    (trial,) = await at.run(sandbox="none")
    assert trial.outcome.ending is Ending.DONE
    assert trial.sandbox == "none"
    assert at.output(trial) == {"hello.txt": b"hello\n"}
