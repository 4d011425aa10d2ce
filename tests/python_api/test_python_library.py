"""The library end to end in real sandboxes: run, inspect, resume, grade, submit, check, report."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

import worksample as ws
from openai_server import Answer, calls, faults, says, serving
from python_api.agents_by_hand import BEGAN, TINY, adder, asker, clumsy, helper, sleeper
from worksample.audit import AuditConfig
from worksample.errors import UsageError

pytestmark = [pytest.mark.box]
SUMS = TINY.parent / "tasks" / "sums"


@pytest.mark.long(seconds=15)
def test_script_runs_grades_inspects_and_continues(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "store"
    run = ws.run(SUMS, [adder, clumsy], store=store, parallel=2, name="first")
    assert run.complete and repr(run) == f"Run({run.experiment}: 4 graded of 4 planned, in {store})"
    assert "graded sums/small  adder  score 1.000" in capsys.readouterr().err
    scores = dict(run.slots.group_by("agent_name").agg(ws_mean()).iter_rows())
    assert scores["adder"] == 1 and scores["clumsy"] < 1
    crashed = run.trials.filter(run.trials["agent_name"] == "clumsy")
    assert set(crashed["cause"]) == {"agent.crash"} and "I lost my notes" in crashed["reason"][0]
    assert run.board.frame["agent"].to_list() == ["adder", "clumsy"]
    assert "<table>" in run._repr_html_() and "adder" in run._repr_html_()

    again = ws.resume(run, progress=False)
    assert again.experiment == run.experiment and again.trials.height == run.trials.height
    graded = ws.grade(run, reason="to be sure", progress=False)
    assert graded.adopted and graded.changes.height == 0 and "reasons" in graded.changes.columns
    with pytest.raises(UsageError, match="no option 'reasn'"):
        ws.grade(run, reasn="x")

    assert ws.report(run, tmp_path / "site").rows[0].name == "adder"
    assert (tmp_path / "site" / "index.html").is_file()
    picture = run.pictures()["pass"]
    assert picture._repr_svg_().startswith("<?xml") and picture.data.height == 2

    work = tmp_path / "work"
    work.mkdir()
    (work / "total.json").write_text(json.dumps({"count": 2, "total": 7}))
    with ws.open_store(store) as opened:
        handed = ws.submit(work, ws.task(SUMS), entrant="ann", origin="person", store=opened, instance="small")
        assert handed.evaluation is not None and handed.evaluation.payload.score == 1
        assert opened.find(type(handed.submission), entrant="ann")
    assert ws.check(SUMS, AuditConfig(static=True)).passed
    assert capsys.readouterr().out == ""


def ws_mean():
    import polars as pl

    return pl.col("score").mean()


MODEL = "openai-api/local/model-1"


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "sk-none")


async def test_inspect_agent_works_within_a_running_loop(tmp_path: Path, key: None) -> None:
    line = """awk -F, 'NR > 1 { n += 1; t += $2 } END { printf "{\\"count\\": %d, \\"total\\": %d}", n, t }'"""
    work = calls("bash", command=f"{line} /task/input/items.csv > /task/output/total.json")
    with serving([calls("ready"), work, calls("submit", answer="done")]) as service:
        run = ws.run(
            SUMS, helper(), model=MODEL, only=["sums/small"], store=tmp_path / "s", progress=False,
            services={"openai-api/local": {"base_url": service.base_url}},
        )  # fmt: skip
        assert "Input files are in /task/input" in str(service.requests[1]["messages"])
    assert run.slots["score"].to_list() == [1.0]
    assert run.trials["steps"].to_list() == [2]


@pytest.mark.parametrize(("answer", "cause"), [(faults.WRONG_KEY, "model.key"), (says("Fine."), None)])
async def test_models_failure_is_not_the_functions(tmp_path: Path, key: None, answer: Answer, cause: str) -> None:
    with serving([answer]) as service:
        run = await ws.run_async(
            SUMS, asker, model=MODEL, only=["sums/small"], store=tmp_path / "s", progress=False, tries=1,
            check_models=False,
            services={"*": {"base_url": service.base_url, "retries": 0}},
        )  # fmt: skip
    assert run.trials["cause"].to_list() == [cause]
    assert run.slots["score"].to_list() == ([None] if cause else [0.0])


async def test_concurrent_runs_take_turns(tmp_path: Path) -> None:
    runs = await asyncio.gather(
        *(
            ws.run_async(SUMS, adder, only=["sums/small"], store=tmp_path / "s", progress=False, name=name)
            for name in ("one", "two")
        )
    )
    assert [run.slots["score"].to_list() for run in runs] == [[1.0], [1.0]]


async def test_cancelled_run_keeps_finished_work_and_continues(tmp_path: Path) -> None:
    task = asyncio.create_task(
        ws.run_async(SUMS, sleeper, only=["sums/small"], store=tmp_path / "s", progress=False, name="slow")
    )
    await BEGAN.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with ws.open_store(tmp_path / "s") as store:
        assert ws.trials_df(store)["ending"].to_list() == ["cancelled"]
        assert len(store.open_slots(ws.slots_df(store)["experiment"][0])) == 1
