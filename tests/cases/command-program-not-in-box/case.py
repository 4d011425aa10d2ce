"""A `command` agent calls a script of this machine that no sandbox shows: it ended as the agent's crash, graded 0."""

from __future__ import annotations

from pathlib import Path

import pytest

from worksample.errors import PlanError
from worksample.experiments.config import AgentConfig, ExperimentConfig
from worksample.experiments.planning.plan_preparation import prepare
from worksample.store import Store


def check(room: Path, request: pytest.FixtureRequest) -> None:
    script = room / "cmd_agent.py"
    script.write_text("print('at work')\n", encoding="utf-8")
    calls = (["python3", str(script), "{brief}"], ["sh", "-c", f"python3 {script} {{brief}}"])
    for number, argv in enumerate(calls):
        agent = AgentConfig(name="mine", harness="command", settings={"argv": argv})
        config = ExperimentConfig(name="own-cmd", suite="starter", only=("sql-cohorts/shop",), agents=(agent,))
        with Store.open(room / f"store{number}", create=True) as store, pytest.raises(PlanError) as caught:
            prepare(config, store.blobs)
        assert "{agent}/cmd_agent.py" in caught.value.next
