"""Results of a run do not depend on the box provider: killed, resumed and regraded under Docker."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

from cli.run_cli import cli, start
from experiments.test_killed_runs import assert_exactly_what_was_planned
from sandboxes import daemon
from worksample.records import Trial
from worksample.results.slot_results import slots_df
from worksample.sandboxes.containers import docker_daemon as containers
from worksample.store import Store

STARTER = Path(__file__).parents[2] / "src/worksample/suites/starter/scripts"
TOLD = ("instance", "standing", "score", "passed", "partial", "label", "reason")


@pytest.fixture(scope="module")
def _daemon() -> Iterator[str]:
    with daemon.running() as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", url)
        yield url


def words_of(store: Path, kind: str, script: str) -> list[object]:
    agent = ["--agent", "scripted", "--script", STARTER / script]
    return ["run", "--suite", "starter", *agent, "--store", store, "--name", script, "--sandbox", kind, "--json"]


def told(where: Path) -> pl.DataFrame:
    """All verdicts, without what differs between any two runs."""
    with Store.open(where) as store:
        return slots_df(store).select("agent_name", *TOLD).sort("agent_name", "instance")


def finished(where: Path) -> int:
    if not where.is_dir():
        return 0
    with Store.open(where) as store:
        return sum(trial.outcome.finished for trial in store.find(Trial))


@pytest.mark.box
@pytest.mark.docker
@pytest.mark.long(seconds=180)
@pytest.mark.thorough(quick="experiments/test_killed_runs.py::test_fault_between_any_two_steps_is_recovered[kill]")
def test_starter_suite_gives_the_same_results_in_docker(_daemon: str, tmp_path: Path) -> None:
    docker, plain = tmp_path / "docker", tmp_path / "bubblewrap"
    for number, script in enumerate(("good", "hasty")):
        assert cli(*words_of(plain, "bubblewrap", script)).returncode == 0
        running = start(*words_of(docker, "docker", script))
        wanted = 24 * number + 5  # it is killed with some trials done and others on their way
        while finished(docker) < wanted:
            with suppress(subprocess.TimeoutExpired):
                pytest.fail(f"it ended before it could be killed: {running.wait(0.2)}")
        running.send_signal(signal.SIGKILL)
        assert running.wait() == -signal.SIGKILL
        done = cli("resume", "--store", docker, "--json")
        assert done.returncode == 0, done.stderr[-3000:]
    assert_exactly_what_was_planned(docker)
    assert told(docker).equals(told(plain)), (told(docker), told(plain))
    assert set(told(docker)["passed"].to_list()) == {True, False}
    graded = cli("grade", "--store", docker, "--reason", "again", "--json")
    assert graded.returncode == 0, graded.stderr[-3000:]
    assert told(docker).equals(told(plain))
    left = containers.connect(_daemon).api.containers(all=True, filters={"label": containers.LABEL})
    assert left == []
