"""A task with several steps in one box: each is announced, captured and graded by its own verifier."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from sandboxes.images import machine
from worksample.audit.control_submissions import control
from worksample.errors import Cause, ManifestError
from worksample.experiments.config import AgentConfig, ExperimentConfig
from worksample.experiments.experiment_runner import run_experiment
from worksample.experiments.planning.agent_compatibility import why_incompatible
from worksample.experiments.planning.plan_preparation import commit_plan, prepare
from worksample.grading import grade, open_round, run_solution
from worksample.python_api.experiment_run import options_of
from worksample.records import Agent, Ending, Evaluation, GradePayload, Protocol, Submission, Trial
from worksample.store import Store, check
from worksample.tasks import ingest, read_package

pytestmark = [pytest.mark.box, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

TASK = """
id = "bread"
title = "Bread in three steps"
version = "1"
canary = "worksample-canary-0c0ffee0-1234-4abc-8def-0123456789ae"

[environment]
image = "image.tar"
paths = { output = "/logs/artifacts" }

[[environment.step]]
name = "flour"
folder = "steps/flour"

[[environment.step]]
name = "dough"
folder = "steps/dough"
time = 5

[environment.step.health]
command = "test -e /srv/flour"
interval = 0.05
retries = 2

[[environment.step]]
name = "loaf"
folder = "steps/loaf"

[capture]
root = true

[[capture.collect]]
command = "cp /proc/1/comm /srv/collected-$(cat /srv/count 2>/dev/null | wc -l)"

[[capture.collect]]
command = "COLLECT"
step = "dough"

[grading.program]
timeout = 60

[grading.program.verifier]
strategy = "STRATEGY"

[[grading.program.verifier.step]]
name = "flour"
command = ["bash", "/tests/test.sh"]
tests = "tests/flour"
solution = ["bash", "/solution/solve.sh"]
min_reward = 0.5

[[grading.program.verifier.step]]
name = "dough"
command = ["bash", "/tests/test.sh"]
tests = "tests/dough"
solution = ["bash", "/solution/solve.sh"]
min_reward = { soft = 0.5 }

[[grading.program.verifier.step]]
name = "loaf"
command = ["bash", "/tests/test.sh"]
tests = "tests/loaf"
solution = ["bash", "/solution/solve.sh"]

[[instance]]
name = "one"
"""
TEXT = "cat /logs/verifier/../../srv/{0} >/dev/null 2>&1 && echo {1} > /logs/verifier/reward.txt || "
TEXT += "echo 0 > /logs/verifier/reward.txt\n"
FILES = {
    "brief.md": "Three steps.",
    "grade.py": "from worksample.kit import verified as grade\n",
    "inputs/none": "",
    "steps/flour/brief.md": "Grind.",
    "steps/dough/brief.md": "Knead.",
    "steps/dough/files/srv/water": "cold",
    "steps/dough/files/setup.sh": "set -e; tr a-z A-Z < /srv/water > /srv/warm; rm -- $0",
    "steps/loaf/brief.md": "Bake.",
    "tests/flour/test.sh": TEXT.format("flour", 1),
    "tests/dough/test.sh": "cat /srv/dough > /tmp/d && test ! -e /srv/loaf && test -e /srv/collected-0 && "
    "test \"$(cat /logs/artifacts/seen)\" = COLD && echo '{\"soft\": 1, \"reward\": 0.5}' > /logs/verifier/reward.json"
    " || echo '{\"soft\": 0, \"reward\": 0}' > /logs/verifier/reward.json\n",
    "tests/loaf/test.sh": TEXT.format("loaf", 1),
    "reference/flour/solve.sh": "echo f > /srv/flour; echo 1 > /srv/count",
    "reference/dough/solve.sh": "cp /solution/water /srv/dough; cat /srv/warm > /logs/artifacts/seen; rm /srv/count",
    "reference/dough/water": "w",
    "reference/loaf/solve.sh": "test ! -e /solution/water && echo l > /srv/loaf",
}  # fmt: skip


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return machine.tarred(machine.make(tmp_path_factory.mktemp("machine") / "root"))


def package(folder: Path, image: bytes, strategy: str = "mean", collect: str = "true", **more: str) -> Path:
    root = folder / "bread"
    text = TASK.replace("STRATEGY", strategy).replace("COLLECT", collect)
    for path, content in {"task.toml": text, **FILES, **more}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    (root / "image.tar").write_bytes(image)
    return root


def worked(folder: Path, root: Path, steps: Mapping[str, str]) -> tuple[Trial, Submission, Evaluation, Store]:
    """A run of a scripted agent whose script is, for each step, a line of shell; graded."""
    text = "".join(f"[[instance.\"one.{name}\".step]]\nrun = '''{line}'''\n" for name, line in steps.items())
    (folder / "scripts").mkdir()
    (folder / "scripts/bread.toml").write_text("[[step]]\nsubmit = true\n" + text)
    agent = AgentConfig(harness="scripted", name="baker", script=str(folder / "scripts"))
    config = ExperimentConfig(name="bread", agents=(agent,), tasks=(str(root),), author="tester")
    store = Store.open(folder / "store", create=True)
    plan = prepare(config, store.blobs)
    commit_plan(store, plan)
    run_experiment(store, plan.experiment, options_of(config))
    [trial] = store.find(Trial)
    [submission] = store.find(Submission)
    [given] = store.find(Evaluation)
    assert not check(store, deep=True)
    return trial, submission, given, store


GOOD = {
    "flour": "test ! -e /tests && test ! -e /srv/water && echo f > /srv/flour; echo 1 > /srv/count",
    "dough": "echo d > /srv/dough; cat /srv/warm > /logs/artifacts/seen; rm /srv/count",
    "loaf": "echo l > /srv/loaf",
}


def of(evaluation: Evaluation) -> tuple[float, dict[str, float | None]]:
    assert isinstance(evaluation.payload, GradePayload), (evaluation.cause, evaluation.reason)
    return evaluation.payload.score, {part.name: part.fraction for part in evaluation.payload.parts}


def test_each_step_is_announced_captured_and_graded_by_its_state(tmp_path: Path, image: bytes) -> None:
    trial, submission, given, store = worked(tmp_path, package(tmp_path, image), GOOD)
    with store:
        assert trial.outcome.ending is Ending.DONE, trial.outcome
        score, parts = of(given)
        assert parts == {"flour": 1.0, "dough": 0.5, "loaf": 1.0} and score == pytest.approx(2.5 / 3)
        held = store.folder(submission.parts["steps"].manifest)
        told = json.loads((held / "steps.json").read_text())["steps"]
        assert [(one["name"], one["ended"], one["lacks"]) for one in told] == [
            ("flour", "done", ""),
            ("dough", "done", ""),
            ("loaf", "done", ""),
        ]
        assert (held / "dough/output/seen").read_text().strip() == "COLD"
        assert [hook["exit"] for one in told for hook in one["hooks"]] == [0, 0, 0, 0]


def test_step_below_its_min_reward_ends_the_counting(tmp_path: Path, image: bytes) -> None:
    trial, _, given, store = worked(tmp_path, package(tmp_path, image), {**GOOD, "dough": "true"})
    with store:
        assert trial.outcome.ending is Ending.DONE
        score, parts = of(given)
        assert parts == {"flour": 1.0, "dough": 0.0} and score == 0.5
        assert isinstance(given.payload, GradePayload) and "soft" in given.payload.reason


def test_unstartable_step_ends_the_work_and_a_limit_does_not(tmp_path: Path, image: bytes) -> None:
    trial, submission, given, store = worked(tmp_path, package(tmp_path, image, "final"), {**GOOD, "flour": "true"})
    with store:
        assert trial.outcome.ending is Ending.DONE
        assert of(given) == (0.0, {"flour": 0.0})
        told = json.loads((store.folder(submission.parts["steps"].manifest) / "steps.json").read_text())["steps"]
        assert [one["ended"] for one in told] == ["done", "aborted"] and "health check failed 2 times" in told[1][
            "lacks"
        ]
    (tmp_path / "late").mkdir()
    late = {**GOOD, "dough": f"{GOOD['dough']}; sleep 600"}
    trial, _, given, store = worked(tmp_path / "late", package(tmp_path / "late", image, "final"), late)
    with store:
        assert trial.outcome.cause is Cause.LIMIT_TIME and trial.outcome.reason.startswith("step dough: ")
        assert of(given) == (1.0, {"flour": 1.0, "dough": 0.5, "loaf": 1.0})


def test_failed_hook_leaves_the_work_ungraded(tmp_path: Path, image: bytes) -> None:
    root = package(tmp_path, image, collect="echo no database >&2; exit 3")
    trial, _, given, store = worked(tmp_path, root, GOOD)
    with store:
        assert trial.outcome.ending is Ending.DONE
        assert given.payload is None and given.cause is Cause.GRADER_COLLECT
        assert "step dough" in given.reason and "exit code 3" in given.reason and "no database" in given.reason


async def test_solutions_of_steps_are_controls_and_empty_work_scores_zero(tmp_path: Path, image: bytes) -> None:
    with Store.open(tmp_path / "store", create=True) as store:
        taken = ingest(read_package(package(tmp_path, image)), store.blobs)
        store.commit(taken.task, *taken.instances)
        [instance] = taken.instances
        left = await run_solution(store, instance, Protocol.PROGRAM)
        assert left.note == "the solutions' exit codes: flour: 0, dough: 0, loaf: 0"

        async def graded(submission: Submission) -> Evaluation:
            round = open_round(
                store, subjects=(submission.id,), protocol=Protocol.PROGRAM, author="tester", reason="test"
            )
            return await grade(store, round, submission, instance)

        assert of(await graded(left))[1] == {"flour": 1.0, "dough": 0.5, "loaf": 1.0}
        assert of(await graded(control(store, instance, "nothing"))) == (0.0, {"flour": 0.0})
        no_reward = package(tmp_path / "other", image, **{"tests/dough/test.sh": "exit 1"})
        taken = ingest(read_package(no_reward), store.blobs)
        store.commit(taken.task, *taken.instances)
        [instance] = taken.instances
        found = await graded(await run_solution(store, instance, Protocol.PROGRAM))
        assert found.payload is None and found.reason.startswith("step dough: the verifier wrote no reward file")
        assert why_incompatible(Agent.of("w", "worker"), instance) == ""


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('image = "image.tar"\n', ""), "steps need an image"),
        (('name = "loaf"\nfolder', 'name = "dough"\nfolder'), "two steps have the same name"),
        (("root = true", "root = false"), "need the changes of the image's root to be captured"),
        (('folder = "steps/loaf"', 'folder = "steps/none"'), "is missing"),
        (('step = "dough"', 'step = "cake"'), "there is no step 'cake'"),
        (('name = "loaf"\ncommand', 'name = "cake"\ncommand'), "there is no step 'cake'"),
        (('strategy = "STRATEGY"', 'command = ["true"]'), "a verifier needs either a command, or tables"),
        (("min_reward = 0.5", 'min_reward = "much"'), "min_reward"),
        (("time = 5", "time = 0"), "time"),
    ],
)
def test_invalid_steps_are_faults(change: tuple[str, str], says: str, tmp_path: Path) -> None:
    root = package(tmp_path, b"")
    (root / "task.toml").write_text(TASK.replace(*change).replace("STRATEGY", "mean").replace("COLLECT", "true"))
    with pytest.raises(ManifestError, match=says):
        read_package(root)


def test_step_without_instructions_is_a_fault(tmp_path: Path) -> None:
    root = package(tmp_path, b"", **{"steps/loaf/brief.md": " \n"})
    with pytest.raises(ManifestError, match="is empty"):
        read_package(root)
