"""Examples of docs/frames.md, on a store whose agents differ in cost and score."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from store import worlds
from worksample.records import Usage
from worksample.store import Store

PAGE = Path(__file__).parents[2] / "docs" / "how-to/read-results.md"
COSTS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)


def examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture
def uneven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    world = worlds.World()
    world.experiment = world.experiment.replaced(name="ale-may")
    with worlds.planted(Store.open(tmp_path / "store", create=True), world) as store:
        for slot, cost in enumerate(COSTS):
            usage = {"agent": Usage(calls=1, input_tokens=1, output_tokens=1, cost=cost, priced=True)}
            trial = world.trial(slot, f"t{slot}", slot + 1, usage=usage)
            made = world.submission(trial)
            score = 1.0 if slot in (0, 1, 2) else 0.5
            store.commit(trial, made, world.evaluation(made.id, f"e{slot}", score, instance=trial.instance))
    monkeypatch.setenv("WORKSAMPLE_STORE", str(tmp_path / "store"))
    return tmp_path


def ran(example: str) -> dict[str, Any]:
    told: dict[str, Any] = {}
    exec(compile(example, str(PAGE), "exec"), told)
    return told


def test_each_agent_has_its_own_cost(uneven: Path) -> None:
    told = ran(examples()[0])
    assert dict(told["costs"].iter_rows()) == {"ann": sum(COSTS[:4]), "bob": sum(COSTS[4:])}


def test_figures_belong_to_the_agents(uneven: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = ran(examples()[1])
    rows = told["figures"].filter(column="mean score").select("agent", "value").iter_rows()
    assert {(agent.partition("@")[0], value) for agent, value in rows} == {("ann", 0.875), ("bob", 0.5)}
    assert capsys.readouterr().out.rstrip().endswith("-37.5")
    told["store"].close()


def test_every_example_runs() -> None:
    assert len(examples()) == 2
