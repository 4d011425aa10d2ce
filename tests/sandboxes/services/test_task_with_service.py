"""A task with a service, from its package to a grade of the service's state."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from worksample.agents import define
from worksample.errors import Cause, ManifestError
from worksample.experiments.config import AgentConfig, ExperimentConfig
from worksample.experiments.experiment_runner import run_experiment
from worksample.experiments.planning.agent_compatibility import why_incompatible
from worksample.experiments.planning.plan_preparation import commit_plan, prepare
from worksample.files import HashSink
from worksample.python_api.experiment_run import options_of
from worksample.records import Evaluation, GradePayload, Submission, Trial
from worksample.runs.trial_endpoints import why_unreachable
from worksample.sandboxes.endpoints import HostAllowance
from worksample.store import Store, check
from worksample.tasks import ingest, read_package

# The engine's, of a package that it uses.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

DESK = (Path(__file__).parent / "desk.py").read_text()
TASK = """
id = "ticket"
title = "A ticket"
version = "1.0"
canary = "worksample-canary-0c0ffee0-1234-4abc-8def-0123456789ac"

[environment]
network = "endpoints"

[[environment.endpoint]]
name = "desk.example.com"
port = 80
to = "service:desk"

[[environment.service]]
name = "desk"
argv = ["python3", "{files}/desk.py", "8000", "{state}", "{files}"]
ports = [8000]
files = "desk"
ready = "/given"
software = ["python3"]
{MORE}

[grading.program]

[[instance]]
name = "one"
inputs = "inputs"
reference = "reference"
"""
GRADE = """from worksample.kit import Case, Grade, checklist


def grade(case: Case) -> Grade:
    note = case.folder("exports") / "desk" / "ticket"
    return checklist(case, kept=note.is_file() and note.read_text() == case.ref_text("ticket.txt").strip())
"""
BRIEF = "# Work description\n\nPost it.\n\n# Provided material\n\nNothing.\n\n# Deliverables\n\nA ticket.\n"
ASK = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], *[a.encode() for a in sys.argv[2:]]).read())"


def steps(*words: str) -> str:
    return f"""[[step]]
run = '''python3 -c '{ASK}' {" ".join(words)} || sleep 60'''
"""


def package(folder: Path, more: str = "", old: str = "", new: str = "") -> Path:
    root = folder / "ticket"
    task = TASK.replace("{MORE}", more).replace(old, new) if old else TASK.replace("{MORE}", more)
    files = {"task.toml": task, "brief.md": BRIEF, "grade.py": GRADE, "inputs/word.txt": "word"}
    files |= {"reference/ticket.txt": "milk\n", "desk/desk.py": DESK, "desk/word.txt": "swordfish"}
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def agent(folder: Path, name: str, script: str) -> AgentConfig:
    (folder / name).mkdir()
    (folder / name / "ticket.toml").write_text(script)
    return AgentConfig(harness="scripted", name=name, script=str(folder / name))


@pytest.mark.box
def test_work_in_a_service_is_graded_by_its_state(tmp_path: Path) -> None:
    """One agent posts, one does nothing, one ends the service by a request, whenever it is tried."""
    root = package(tmp_path)
    agents = (
        agent(tmp_path, "posts", steps("http://desk.example.com/ticket", "milk")),
        agent(tmp_path, "idle", "[[step]]\nrun = 'true'\n"),
        agent(tmp_path, "ends", steps("http://desk.example.com/end")),
    )
    config = ExperimentConfig(name="tickets", agents=agents, tasks=(str(root),), author="tester", tries=2)
    with Store.open(tmp_path / "store", create=True) as store:
        plan = prepare(config, store.blobs)
        assert plan.inputs.instances[0].capture.exports == ("desk",)
        commit_plan(store, plan)
        status = run_experiment(store, plan.experiment, options_of(config)).status
        assert (status.finished, status.graded) == (3, 3)
        names = {one.id: one.name for one in plan.inputs.agents}
        causes: dict[str, list[Cause | None]] = {}
        for trial in sorted(store.find(Trial), key=lambda trial: trial.try_number):
            causes.setdefault(names[trial.agent], []).append(trial.outcome.cause)
        assert causes == {"posts": [None], "idle": [None], "ends": [Cause.SERVICE_ASKED, Cause.AGENT_SERVICE]}
        scores = {}
        for given in store.find(Evaluation):
            assert isinstance(given.payload, GradePayload), given
            scores[names[store.get(Submission, given.subject).entrant]] = given.payload.score
        assert scores == {"posts": 1.0, "idle": 0.0, "ends": 0.0}
        [posted] = [one for one in store.find(Submission) if names[one.entrant] == "posts"]
        assert {"exports", "connections", "output"} <= set(posted.parts)
        assert not check(store, deep=True)


KILLED = """
import asyncio, sys
from pathlib import Path
from worksample.records import ServiceSpec
from worksample.sandboxes.services import open_services
from worksample.sandboxes.services.service_boxes import service_boxes

async def main():
    spec = ServiceSpec(name="a", box="a", argv=("python3", "-m", "http.server", "8000", "--directory", sys.argv[1]),
                       ports=(8000,))
    async with open_services(service_boxes((spec,), Path, "killed"), "bubblewrap"):
        print("stands", flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


@pytest.mark.box
def test_leftovers_of_a_killed_platform_are_ended(tmp_path: Path) -> None:
    mark = f"/killed-{os.getpid()}-{time.monotonic_ns()}"
    with subprocess.Popen([sys.executable, "-c", KILLED, mark], stdout=subprocess.PIPE) as platform:
        assert platform.stdout is not None and platform.stdout.readline() == b"stands\n"
        assert len(_processes(mark)) > 1
        platform.send_signal(signal.SIGKILL)
    end = time.monotonic() + 300
    while _processes(mark) and time.monotonic() < end:
        time.sleep(0.02)
    assert not _processes(mark)


def _processes(mark: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if mark in text:
            found.append(text)
    return found


def test_service_is_part_of_work_and_its_export_of_capture(tmp_path: Path) -> None:
    [first] = ingest(read_package(package(tmp_path)), HashSink()).instances
    [again] = ingest(read_package(package(tmp_path)), HashSink()).instances
    assert again.id == first.id
    (tmp_path / "ticket/desk/word.txt").write_text("other")
    [other] = ingest(read_package(tmp_path / "ticket"), HashSink()).instances
    assert other.work_digest != first.work_digest and other.grading == first.grading
    [quiet] = ingest(read_package(package(tmp_path, "export = false")), HashSink()).instances
    assert quiet.work_digest == first.work_digest and quiet.capture_digest != first.capture_digest
    assert "served" not in type(first.work.environment)().plain()


SECOND = '[[environment.service]]\nname = "desk"\nargv = ["x"]\nports = [1]\n'


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('to = "service:desk"', 'to = "service:dsk"', "names the service 'dsk', which does not exist"),
        ('to = "service:desk"', 'to = "service:desk:81"', "names a port that the service lacks; its ports are: 8000"),
        ("ports = [8000]", "ports = [8000, 8001]", "must end in one of the service's ports: 8000, 8001"),
        ("ports = [8000]", "ports = [8000, 8000]", "a port appears twice"),
        ("ports = [8000]", "ports = []", "ports"),
        ("ports = [8000]", "ports = [0]", "from 1 to 65535"),
        ('files = "desk"', 'files = "reference"', "the agent could get at it"),
        ('files = "desk"', 'files = "../desk"', "inside the package"),
        ('files = "desk"', 'files = "absent"', "is missing"),
        ('ready = "/given"', 'ready = "http"', "'tcp', or a path"),
        ('name = "desk"', 'name = "Desk"', "lower case"),
        ("{MORE}", SECOND, "two services have the same name"),
        ("{MORE}", SECOND.replace('"desk"', '"b"\nbox = "desk"').replace("[1]", "[8000]"), "have the same port"),
        ("{MORE}", SECOND.replace('"desk"', f'"b"\nbox = "desk"\nimage = "docker://a/b@sha256:{"0" * 64}"'),
         "different images"),
        ('network = "endpoints"', 'network = "endpoints"\nservices = ["desk"]', "expected from a workplace"),
        ("ports = [8000]", 'ports = [8000]\nenv = { "a=b" = "c" }', "cannot be the name of a variable"),
        ("ports = [8000]", "ports = [8000]\nlimits = { memory = 0 }", "memory"),
        ("ports = [8000]", "ports = [8000]\nunknown = 1", "unknown"),
    ],
)  # fmt: skip
def test_impossible_services_are_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(ManifestError) as told:
        read_package(package(tmp_path, old, old, new) if old == "{MORE}" else package(tmp_path, "", old, new))
    assert "environment" in str(told.value) and says in str(told.value)


def test_work_is_not_attemptable_if_its_service_cannot_run(tmp_path: Path) -> None:
    [instance] = ingest(read_package(package(tmp_path)), HashSink()).instances
    worker = define("w", harness="worker", model="openai/gpt-5")
    assert not why_incompatible(worker, instance)
    assert why_incompatible(worker, instance, frozenset({"python3"})) == "the sandbox of this machine lacks python3"
    environment = instance.work.environment
    assert not why_unreachable(worker, environment, HostAllowance(), sandbox="bubblewrap")
    assert why_unreachable(worker, environment, HostAllowance(), sandbox="none") == (
        "brings its own services, which need isolation"
    )
