"""A task as a program: `load` gives instances, `start` prepares the agent's box, `evaluate` grades the submission."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from worksample.errors import Cause, ManifestError
from worksample.experiments.config import AgentConfig, ExperimentConfig
from worksample.experiments.experiment_runner import run_experiment
from worksample.experiments.planning.agent_compatibility import why_incompatible
from worksample.experiments.planning.plan_preparation import commit_plan, prepare
from worksample.files import HashSink
from worksample.python_api.experiment_run import options_of
from worksample.records import Agent, Ending, Evaluation, GradePayload, Trial
from worksample.sandboxes.task_program import load_instances
from worksample.store import Store, check
from worksample.tasks import ingest, read_package
from worksample.tasks.loaded_instances import write_loaded

pytestmark = [pytest.mark.box, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

TASK = """
id = "stock"
title = "Count the stock"
version = "1"
canary = "worksample-canary-0c0ffee0-1234-4abc-8def-0123456789af"

[environment]
start = "task.py"
MORE

[deliverables]
"count.json" = { format = "json" }

[grading.program]
entry = "task.py"
"""
LOAD = """
def load():
    return [
        LoadedInstance(
            name=f"hall-{n}", brief="Count the boxes of {{hall}} in /task/scratch/list.txt.",
            settings={"hall": f"hall {n}", "boxes": 7 * n},
            inputs={"hall.txt": str(n)}, reference={"count.json": json.dumps({"boxes": 7 * n})},
        )
        for n in (1, 2)
    ]
"""
START = """
def start(session: Session, settings):
    session.write_text("/task/scratch/list.txt", "box\\n" * settings["boxes"])
    session.make_folder("/task/scratch/gone")
    session.write_bytes("/task/scratch/gone/x", b"", 0o600)
    session.delete("/task/scratch/gone")
    session.start_application(["sh", "-c", "touch /task/scratch/started; sleep 600"])
    counted = session.run(["wc", "-l", "/task/scratch/list.txt"])
    assert counted.exit == 0 and counted.stdout.split()[0] == str(settings["boxes"])
    assert session.is_file("/task/scratch/list.txt") and session.is_folder("/task/scratch")
    assert not session.is_file("/task/scratch/gone") and not session.is_folder("/task/scratch/gone")
    assert "list.txt" in session.list_folder("/task/scratch")
    try:
        session.read_text("/task/scratch/absent")
    except FileNotFoundError:
        session.write_text("/task/scratch/asked", session.read_text("/task/scratch/list.txt")[:3])
"""
EVALUATE = """
def evaluate(case: Case) -> Grade:
    given = case.json("count.json", like={"boxes": int})
    return Grade(score=float(given["boxes"] == case.ref_json("count.json")["boxes"]))
"""
HEAD = "import json\nfrom worksample.kit import Case, Grade, LoadedInstance, Session\n"


def package(folder: Path, *, load: str = LOAD, start: str = START, more: str = "") -> Path:
    root = folder / "stock"
    (root / "inputs").mkdir(parents=True)
    (root / "task.toml").write_text(TASK.replace("MORE", more))
    (root / "task.py").write_text(HEAD + load + start + EVALUATE)
    return root


async def _load(root: Path, seconds: float = 60.0) -> None:
    write_loaded(root, await load_instances(root, "task.py", sandbox="bubblewrap", seconds=seconds))


async def test_load_makes_instances_that_a_package_keeps(tmp_path: Path) -> None:
    root = package(tmp_path)
    await _load(root)
    found = read_package(root)
    assert [(one.name, one.brief, one.inputs) for one in found.instances] == [
        ("hall-1", "Count the boxes of hall 1 in /task/scratch/list.txt.", "loaded/hall-1/inputs"),
        ("hall-2", "Count the boxes of hall 2 in /task/scratch/list.txt.", "loaded/hall-2/inputs"),
    ]
    before = ingest(found, HashSink()).instances
    (root / "task.py").write_text((root / "task.py").read_text() + "\n# a remark\n")
    after = ingest(read_package(root), HashSink()).instances
    assert [one.work_digest for one in before] != [one.work_digest for one in after]  # start lies in the same file


FAULTY_LOADS = {
    "raises": ("def load(): raise ValueError('no luck')", "no luck"),
    "none": ("def load(): return []", "0 instances; a task has 1 to 1,000"),
    "many": ("def load(): return [LoadedInstance(str(n)) for n in range(1001)]", "1,001 instances"),
    "no_list": ("def load(): return 7", "no list of LoadedInstance"),
    "other": ("def load(): return ['hall']", "something else"),
    "large": ("def load(): return [LoadedInstance('a', inputs={'x': b'0' * (65 << 20)})]", "files of 68,157,440 bytes"),
    "random": ("import random\ndef load(): return [LoadedInstance(f'a{random.random()}')]", "different instances"),
    "hash": ("def load(): return [LoadedInstance('a', brief=' '.join({str(n) for n in range(50)}))]", "different"),
    "ends": ("import os\ndef load(): os._exit(0)", "ended without a result"),
    "endless": ("def load():\n    while True: pass", "did not end within 2 seconds"),
    "twice": ("def load(): return [LoadedInstance('a'), LoadedInstance('a')]", "two instances with the name 'a'"),
    "escape": ("def load(): return [LoadedInstance('a', inputs={'../../x': ''})]", "the file name '../../x'"),
    "absolute": ("def load(): return [LoadedInstance('a', reference={'/etc/x': ''})]", "the file name '/etc/x'"),
    "name": ("def load(): return [LoadedInstance('../a')]", "the name '../a'"),
    "nan": ("def load(): return [LoadedInstance('a', settings={'x': float('nan')})]", "not JSON"),
    "missing": ("", "defines no function load()"),
}  # fmt: skip


@pytest.mark.quick("raises", "random", "endless", "escape")
@pytest.mark.parametrize("name", [*FAULTY_LOADS])
async def test_faulty_load_writes_nothing_and_says_why(tmp_path: Path, name: str) -> None:
    body, reason = FAULTY_LOADS[name]
    root = package(tmp_path, load=body + "\n")
    with pytest.raises(ManifestError, match=reason.replace("(", r"\(").replace(")", r"\)")):
        await _load(root, 2.0 if name == "endless" else 60.0)
    assert not [one for one in root.iterdir() if "loaded" in one.name]


def run(folder: Path, root: Path, line: str) -> tuple[list[Trial], list[Evaluation]]:
    """Run a scripted agent that types a line of shell on each instance."""
    (folder / "scripts").mkdir()
    (folder / "scripts/stock.toml").write_text(f"[[step]]\nrun = '''{line}'''\n[[step]]\nsubmit = true\n")
    agent = AgentConfig(harness="scripted", name="clerk", script=str(folder / "scripts"))
    config = ExperimentConfig(name="stock", agents=(agent,), tasks=(str(root),), author="tester")
    with Store.open(folder / "store", create=True) as store:
        plan = prepare(config, store.blobs)
        commit_plan(store, plan)
        run_experiment(store, plan.experiment, options_of(config))
        assert not check(store, deep=True)
        return store.find(Trial), store.find(Evaluation)


COUNT = (
    "ls /task/scratch; test ! -e /task/grader && test -e /task/scratch/started && test ! -e /task/scratch/gone && "
    'grep -q box /task/scratch/asked && echo "{\\"boxes\\": $(wc -l < /task/scratch/list.txt)}" > {output}/count.json'
)


async def test_agent_finds_what_start_prepared_and_evaluate_grades_it(tmp_path: Path) -> None:
    import asyncio

    root = package(tmp_path)
    await _load(root)
    trials, evaluations = await asyncio.to_thread(run, tmp_path, root, COUNT)
    assert [one.outcome.ending for one in trials] == [Ending.DONE] * 2
    assert all("start" in one.phases for one in trials)
    scores = [one.payload.score for one in evaluations if isinstance(one.payload, GradePayload)]
    assert scores == [1.0, 1.0], [one.reason for one in evaluations]


async def test_failed_start_is_no_fault_of_the_agent(tmp_path: Path) -> None:
    import asyncio

    root = package(tmp_path, start="def start(session, settings):\n    session.write_text('/usr/x', '')\n")
    await _load(root)
    trials, _ = await asyncio.to_thread(run, tmp_path, root, "true")
    assert {one.outcome.cause for one in trials} == {Cause.SERVICE_START}
    assert "OSError" in trials[0].outcome.reason or "Error" in trials[0].outcome.reason


def test_missing_machine_is_a_reason_that_names_the_need_alone(tmp_path: Path) -> None:
    needs = 'os = "windows"\ncores = 4096\nmemory = "100TiB"\ngpu = "cuda"'
    root = package(tmp_path, more=needs)
    (root / "loaded").mkdir()
    (root / "loaded/instances.json").write_text(json.dumps([{"name": "a", "inputs": "inputs"}]))
    (root / "brief.md").write_text("Count.")
    [instance] = ingest(read_package(root), HashSink()).instances
    assert why_incompatible(Agent(id="a", name="a", harness="scripted", model="none"), instance) == (
        "needs the operating system windows, which no sandbox provides; "
        "needs 4096 processors, which this machine does not have; "
        "needs 102400 GiB of memory, which this machine does not have; "
        "needs a graphics processor (cuda), which no sandbox provides"
    )
