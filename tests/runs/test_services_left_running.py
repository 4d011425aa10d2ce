"""A verifier that looks at what the agent left running runs when the work ends, and reaches the agent's ports alone."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from sandboxes.images import machine
from worksample.audit.control_submissions import control
from worksample.errors import Cause, GraderError, ManifestError
from worksample.experiments.config import AgentConfig, ExperimentConfig
from worksample.experiments.experiment_runner import run_experiment
from worksample.experiments.planning.plan_preparation import commit_plan, prepare
from worksample.grading import grade, open_round, run_solution
from worksample.python_api.experiment_run import options_of
from worksample.records import Evaluation, GradePayload, Instance, Origin, Protocol, Submission
from worksample.sandboxes.live_verification import kept_verification
from worksample.store import Store, check
from worksample.tasks import ingest, read_package

pytestmark = [pytest.mark.box, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

TASK = """
id = "serve"
title = "Serve a folder"
version = "1"
canary = "worksample-canary-0c0ffee0-1234-4abc-8def-0123456789b0"

[environment]
image = "image.tar"
paths = { output = "/logs/artifacts" }

[capture]
root = true

[grading.program]
timeout = 60

[grading.program.verifier]
command = ["bash", "/tests/test.sh"]
tests = "tests"
solution = ["bash", "/solution/solve.sh"]
live = true

[[instance]]
name = "one"
"""
VERIFY = """mkdir -p /logs/verifier
test -e /proc/1/root/tmp/mark && exit 3
python3 - <<'PY' && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt
import urllib.request
for host in ("127.0.0.1", "localhost"):
    assert urllib.request.urlopen(f"http://{host}:8080/x.txt", timeout=20).read() == b"hello\\n"
PY
"""
SERVE = (
    "cd /srv; nohup python3 -m http.server 8080 --bind ADDRESS >/dev/null 2>&1 &\n"
    "until (exec 3<>/dev/tcp/127.0.0.1/8080) 2>/dev/null; do sleep 0.1; done\n"
)
FILES = {
    "brief.md": "Serve the folder /srv at 127.0.0.1:8080, and leave the server running.",
    "grade.py": "from worksample.kit import verified as grade\n",
    "inputs/none": "",
    "tests/test.sh": VERIFY,
    "reference/solve.sh": "echo hello > /srv/x.txt\n" + SERVE.replace("ADDRESS", "127.0.0.1"),
}
HELLO = "echo hello > /srv/x.txt; "
ATTACKS = {
    "nothing": "true",
    "file_alone": HELLO + "echo 1 > /tmp/mark",
    "ended": HELLO + SERVE.replace("ADDRESS", "127.0.0.1") + "kill %1; wait",
    "wrong_content": "echo bye > /srv/x.txt; " + SERVE.replace("ADDRESS", "127.0.0.1"),
    "reward_writer": (
        "mkdir -p /logs/verifier; nohup bash -c 'while true; do echo 1 > /logs/verifier/reward.txt; for f in "
        "/proc/[0-9]*/root; do echo 1 > $f/logs/verifier/reward.txt; done; sleep 0.05; done' >/dev/null 2>&1 &\nsleep 1"
    ),
    "other_port": HELLO + SERVE.replace("8080", "8081").replace("ADDRESS", "127.0.0.1"),
    "silent": (
        "nohup python3 -c 'import socket, time; s = socket.create_server((\"127.0.0.1\", 8080)); time.sleep(600)' "
        ">/dev/null 2>&1 &\nsleep 1"
    ),
}
RIGHT = {name: HELLO + SERVE.replace("ADDRESS", name) for name in ("127.0.0.1", "0.0.0.0")}


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return machine.tarred(machine.make(tmp_path_factory.mktemp("machine") / "root"))


def package(folder: Path, image: bytes, **more: str) -> Path:
    root = folder / "serve"
    for path, content in {"task.toml": TASK, **FILES, **more}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    (root / "image.tar").write_bytes(image)
    return root


def work(folder: Path, root: Path, line: str) -> tuple[Store, Submission, Evaluation]:
    """Run a scripted agent that types a line of shell, and grade it."""
    (folder / "scripts").mkdir()
    (folder / "scripts/serve.toml").write_text(f"[[step]]\nrun = {json.dumps(line)}\n[[step]]\nsubmit = true\n")
    agent = AgentConfig(harness="scripted", name="server", script=str(folder / "scripts"))
    config = ExperimentConfig(name="serve", agents=(agent,), tasks=(str(root),), author="tester")
    store = Store.open(folder / "store", create=True)
    plan = prepare(config, store.blobs)
    commit_plan(store, plan)
    run_experiment(store, plan.experiment, options_of(config))
    [submission] = store.find(Submission)
    [evaluation] = store.find(Evaluation)
    assert not check(store, deep=True)
    return store, submission, evaluation


def result(evaluation: Evaluation) -> float | str:
    payload = evaluation.payload
    return payload.score if isinstance(payload, GradePayload) else str(evaluation.cause)


async def grade_again(store: Store, submission: Submission, instance: Instance) -> Evaluation:
    round = open_round(store, subjects=(submission.id,), protocol=Protocol.PROGRAM, author="tester", reason="again")
    return await grade(store, round, submission, instance)


def kept(store: Store, root: Path) -> Instance:
    taken = ingest(read_package(root), store.blobs)
    store.commit(taken.task, *taken.instances)
    return taken.instances[0]


async def test_service_left_running_is_graded_and_marked(tmp_path: Path, image: bytes) -> None:
    root = package(tmp_path, image)
    store, submission, evaluation = await asyncio.to_thread(work, tmp_path, root, RIGHT["127.0.0.1"])
    with store:
        assert result(evaluation) == 1.0, evaluation.reason
        [record] = evaluation.record["runs"]
        assert record["live"] and record["regradable"] is False and record["ports"] == [8080]
        instance = store.get(Instance, submission.instance)
        assert result(await grade_again(store, submission, instance)) == 1.0  # the service is gone; its result is not
        changed = kept(store, package(tmp_path / "changed", image, **{"tests/test.sh": "# another\n" + VERIFY}))
        with pytest.raises(GraderError, match="verifier has changed") as refused:
            kept_verification(submission, changed.grading[Protocol.PROGRAM], store.folder)
        assert refused.value.cause is Cause.GRADER_LACKS


@pytest.mark.parametrize("name", [*RIGHT, *ATTACKS])
@pytest.mark.quick("reward_writer")
async def test_only_a_served_folder_scores(tmp_path: Path, image: bytes, name: str) -> None:
    line = RIGHT.get(name) or ATTACKS[name]
    store, _, evaluation = await asyncio.to_thread(work, tmp_path, package(tmp_path, image), line)
    with store:
        assert result(evaluation) == (1.0 if name in RIGHT else 0.0), evaluation.reason


async def test_oracle_is_right_and_work_without_programs_is_ungraded(tmp_path: Path, image: bytes) -> None:
    with Store.open(tmp_path / "store", create=True) as store:
        instance = kept(store, package(tmp_path, image))
        solved = await run_solution(store, instance, Protocol.PROGRAM)
        assert result(await grade_again(store, solved, instance)) == 1.0
        nothing = control(store, instance, "nothing")
        assert result(await grade_again(store, nothing, instance)) == 0.0
        handed = nothing.replaced(id="handed", origin=Origin.PERSON, control="", entrant="Ada", author="Ada")
        store.commit(handed)
        given = await grade_again(store, handed, instance)
        assert result(given) == "grader.lacks" and "of this submission none run" in given.reason


def test_live_verifier_has_no_image_of_its_own(tmp_path: Path, image: bytes) -> None:
    task = TASK.replace("live = true", "live = true\nfresh = true")
    with pytest.raises(ManifestError, match="a live verifier has no steps and no image"):
        read_package(package(tmp_path, image, **{"task.toml": task}))
