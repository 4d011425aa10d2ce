"""A task with an image: agents work in it, and their results are run and graded in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agents.test_installed_programs import put
from experiments.material import an_instance
from sandboxes.images import machine
from worksample.errors import Cause, ImageError, ManifestError
from worksample.experiments.config import AgentConfig, ExperimentConfig
from worksample.experiments.experiment_runner import run_experiment
from worksample.experiments.planning.agent_compatibility import why_incompatible
from worksample.experiments.planning.plan_preparation import commit_plan, prepare
from worksample.files import HashSink
from worksample.python_api.experiment_run import options_of
from worksample.records import Agent, Evaluation, GradePayload, ImageSource, Trial
from worksample.store import Store, check
from worksample.tasks import ingest, read_package

# The engine's, of a package that it uses.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

TASK = """
id = "note"
title = "A note"
version = "1.0"
canary = "worksample-canary-0c0ffee0-1234-4abc-8def-0123456789ac"

[environment]
image = "{image}"
software = ["only-in-the-image"]

[deliverables]
"note.sh" = {{ format = "sh", about = "prints the image's note" }}

[grading.program]

[[instance]]
name = "one"
inputs = "inputs"
reference = "reference"
"""
GRADE = """from worksample.kit import Case, Grade, checklist


def grade(case: Case) -> Grade:
    ran = case.run(["sh", str(case.output("note.sh"))], files={"beside.txt": "x"})
    return checklist(case, same=ran.stdout == case.ref_text("note.txt") + "beside.txt\\n")
"""
BRIEF = "# Work description\n\nPrint it.\n\n# Provided material\n\nNothing.\n\n# Deliverables\n\nnote.sh\n"
STEPS = """[[step]]
run = '''test "$(id -u)" = 0 && test "$(cat {input}/word.txt)" = word && rm -rf /home && cp -r /etc/note /new'''

[[step]]
run = '''printf 'cat /etc/note; ls' > {output}/note.sh'''
"""


def package(folder: Path, image: str = "image.tar") -> Path:
    root = folder / "note"
    files = {"task.toml": TASK.format(image=image), "brief.md": BRIEF, "grade.py": GRADE, "inputs/word.txt": "word"}
    files |= {"reference/note.txt": "of the image\n", "../scripts/note.toml": STEPS}
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.mark.box
def test_task_is_worked_on_and_graded_in_its_image(tmp_path: Path) -> None:
    root = package(tmp_path)
    (root / "image.tar").write_bytes(machine.tarred(machine.make(tmp_path / "root")))
    agent = AgentConfig(harness="scripted", name="good", script=str(tmp_path / "scripts"))
    config = ExperimentConfig(name="notes", agents=(agent,), tasks=(str(root),), author="tester")
    with Store.open(tmp_path / "store", create=True) as store:
        plan = prepare(config, store.blobs)
        commit_plan(store, plan)
        status = run_experiment(store, plan.experiment, options_of(config)).status
        [trial] = store.find(Trial)
        assert trial.outcome.cause is None and (status.finished, status.graded) == (1, 1)
        [given] = store.find(Evaluation)
        assert isinstance(given.payload, GradePayload), given
        assert given.payload.score == 1.0
        assert not check(store, deep=True)


def test_agents_without_their_requirements_cannot_work_in_an_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    image = ImageSource(name=f"docker://example.com/a@sha256:{'0' * 64}")
    in_image, plain = an_instance("task", "case", image=image, software=("only-there",)), an_instance("task", "case")
    put("codex", "1.0")
    put("aider", "1.0", anywhere=True)
    for harness, works in (
        ("worker", True),
        ("command", True),
        ("codex", False),
        ("aider", True),
        ("qwen-code", False),
    ):
        agent = Agent.of(harness, harness)
        assert bool(why_incompatible(agent, in_image, frozenset({"only-there"}))) is not works
        assert not why_incompatible(agent, plain)


def test_image_is_part_of_the_works_digest(tmp_path: Path) -> None:
    root = package(tmp_path)
    found = []
    for content in (b"one", b"one", b"two"):
        (root / "image.tar").write_bytes(content)
        [instance] = ingest(read_package(root), HashSink()).instances
        found.append(instance)
    assert found[0].id == found[1].id != found[2].id
    assert found[0].grading == found[2].grading
    [plain] = ingest(
        read_package(package(tmp_path, f"docker://example.com/a/b@sha256:{'0' * 64}")), HashSink()
    ).instances
    assert plain.work.environment.image.files is None


@pytest.mark.parametrize(
    ("image", "says"),
    [
        ("docker://debian:bookworm", "does not name one image"),
        ("http://example.com/x.tar", "does not name one image"),
        ("absent.tar", "is missing"),
        ("../image.tar", "inside the package"),
        ("inputs", "no OCI layout"),
    ],
)
def test_invalid_image_name_is_a_fault(image: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as told:
        read_package(package(tmp_path, image))
    assert "environment.image" in str(told.value) and says in str(told.value)


def test_run_does_not_begin_without_its_image(tmp_path: Path) -> None:
    root = package(tmp_path)
    (root / "image.tar").write_bytes(b"no archive")
    agent = AgentConfig(harness="scripted", name="good", script=str(tmp_path / "scripts"))
    config = ExperimentConfig(name="notes", agents=(agent,), tasks=(str(root),), author="tester")
    with Store.open(tmp_path / "store", create=True) as store:
        plan = prepare(config, store.blobs)
        commit_plan(store, plan)
        with pytest.raises(ImageError, match="not a tar file"):
            run_experiment(store, plan.experiment, options_of(config))
        assert not store.find(Trial)


@pytest.mark.box
def test_broken_image_holds_up_no_other_work(tmp_path: Path) -> None:
    sound = package(tmp_path)
    (sound / "image.tar").write_bytes(machine.tarred(machine.make(tmp_path / "root")))
    broken = tmp_path / "broken"
    shutil.copytree(sound, broken)
    (broken / "task.toml").write_text((sound / "task.toml").read_text().replace('"note"', '"broken"'))
    (broken / "image.tar").write_bytes(b"no archive")
    (tmp_path / "scripts/broken.toml").write_text(STEPS)
    agent = AgentConfig(harness="scripted", name="good", script=str(tmp_path / "scripts"))
    config = ExperimentConfig(name="notes", agents=(agent,), tasks=(str(sound), str(broken)), author="tester", tries=3)
    with Store.open(tmp_path / "store", create=True) as store:
        plan = prepare(config, store.blobs)
        commit_plan(store, plan)
        status = run_experiment(store, plan.experiment, options_of(config)).status
        assert (status.finished, status.graded) == (1, 1)
        causes = {trial.instance.partition("/")[0]: trial.outcome for trial in store.find(Trial)}
        assert causes["note"].cause is None
        assert causes["broken"].cause is Cause.SANDBOX_IMAGE and "not a tar file" in causes["broken"].reason
        assert len(store.find(Trial)) == 2  # it is not tried again by itself
        assert len(store.open_slots(plan.experiment.id)) == 1
        assert not check(store, deep=True)
        with pytest.raises(ImageError, match="not a tar file"):
            run_experiment(store, plan.experiment, options_of(config))
