"""A task's health check of the box before the agent begins, and the location of its skills."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.material import an_instance
from runs.material import setting
from worksample.agents import define
from worksample.agents.harness_settings import WorkerSettings
from worksample.agents.prompt import system_text
from worksample.agents.workspace import Workspace
from worksample.errors import Cause
from worksample.records import Ending, Environment, HealthSpec

WORK = [{"write": "{output}/hello.txt", "text": "hello"}]
COUNT = "n=$(cat /tmp/looks 2> /dev/null || echo 0); echo $((n + 1)) > /tmp/looks; test $n -ge 2"
"""Is well at the third look."""


@pytest.mark.box
@pytest.mark.parametrize(
    ("health", "says"),
    [
        (HealthSpec(command=COUNT, interval=0, retries=3), ""),
        (HealthSpec(command=COUNT, interval=0, retries=2), "failed 2 times in a row"),
        (HealthSpec(command=COUNT, start_period=600, start_interval=0, retries=1), ""),
        (HealthSpec(command="echo no server there; exit 3", interval=0, retries=1), "no server there"),
        (HealthSpec(command="sleep 600", timeout=1, retries=1), "no answer within 1 s"),
    ],
    ids=["well-at-last", "not-soon-enough", "while-it-starts", "never", "hangs"],
)
async def test_agent_begins_once_its_box_is_healthy(health: HealthSpec, says: str, tmp_path: Path) -> None:
    at = setting(tmp_path, WORK, health=health)
    (trial,) = await at.run(tries=1)
    if not says:
        assert trial.outcome.ending is Ending.DONE, trial.outcome
        assert at.output(trial) == {"hello.txt": b"hello"}
        return
    assert trial.outcome.cause is Cause.SERVICE_START and says in trial.outcome.reason
    assert not trial.outcome.finished


@pytest.mark.box
async def test_program_finds_the_tasks_skills_by_a_variable(tmp_path: Path) -> None:
    argv = ["sh", "-c", "printf %s $WORKSAMPLE_SKILLS > {output}/told"]
    at = setting(tmp_path, agent=define("one", harness="command", settings={"argv": argv}), skills="/srv/skills")
    (trial,) = await at.run(tries=1)
    assert at.output(trial) == {"told": b"/srv/skills"}


def test_other_agents_are_told_in_words_and_older_work_keeps_its_digest() -> None:
    told = system_text(Workspace(an_instance("task", "case", skills="/srv/skills")), WorkerSettings())
    assert "Skills for this work are in /srv/skills" in told
    assert "Skills" not in system_text(Workspace(an_instance("task", "case")), WorkerSettings())
    assert not {"health", "skills"} & Environment().plain().keys()
