"""Graders that query services restored from the submission: today, and on another store later."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from worksample.experiments.config import AgentConfig, ExperimentConfig
from worksample.experiments.experiment_runner import run_experiment
from worksample.experiments.planning.plan_preparation import commit_plan, prepare
from worksample.experiments.regrade_pipeline import Regrading, regrade
from worksample.python_api.experiment_run import options_of
from worksample.records import Evaluation, Experiment, GradePayload, Protocol, Submission
from worksample.store import Store, check

pytestmark = [
    pytest.mark.box,
    pytest.mark.workplace,
    pytest.mark.thorough(quick="workplace/test_state_stamp.py::test_incomplete_export_is_not_restored"),
    pytest.mark.long(seconds=60),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
EXAMPLES = Path(__file__).parents[2] / "examples"

GRADER = '''
"""Asks every service, and says what another part of the grading would see of a change of its own."""

from worksample.kit import Case, Check, Grade, checkpoints
from worksample.kit.workplace import Workplace


def grade(case: Case) -> Grade:
    services, kept = case.services(), Workplace(case.folder("exports") / "workplace")

    def issue() -> Check:
        found = services.json("tracker", "/issues.json?project_id=billing&status_id=*&limit=100")["issues"]
        one = next(one for one in found if one["subject"].startswith("INV-1043"))
        stored = next(one for one in kept.issues("billing") if one.subject.startswith("INV-1043"))
        assert (one["id"], one["status"]["name"]) == (stored.id, stored.status)
        return Check(float(stored.status == "Resolved"), f"the tracker says {one['status']['name']}")

    def program() -> Check:
        services.get("git", "/billing.git/info/refs?service=git-upload-pack")
        done = any(len(kept.repository("billing").commits()) > 3 for _ in (1,))
        return Check(float(done), "pushed" if done else "nothing was pushed")

    def document() -> bool:
        return b"Waterproof map" in services.get("files", "/finance/INV-1043-corrected.csv")

    def told() -> bool:
        said = services.json("chat", "/api/rooms/billing")["messages"]
        assert [one["text"] for one in said] == [one.text for one in kept.messages("billing")]
        services.ask("chat", "/api/rooms/billing?as=rosa", method="POST", body={"text": "the grader was here"})
        return any("1043" in one["text"] and one["by"] == "assistant" for one in said)

    def summed() -> bool:
        return kept.live("issues") == len(kept.issues()) and kept.live("operator")

    def meeting() -> bool:
        found = services.ask("calendar", "/assistant/calendar/", method="REPORT", body="<x/>")
        return found.status < 500 and bool(kept.events("assistant"))

    return checkpoints(
        case, sum=summed, issue=issue, program=program, document=document, told=told, meeting=meeting
    )
'''


LIVE = """
import json, os, urllib.request
who = {"X-Redmine-API-Key": os.environ["WORKPLACE_OPERATOR"]}
asked = urllib.request.Request("http://127.0.0.1:8091/issues.json?status_id=*&limit=100", headers=who)
with urllib.request.urlopen(asked) as answer:
    print(json.dumps({"issues": len(json.load(answer)["issues"]), "operator": True}))
"""


def with_asking_grader(folder: Path) -> Path:
    """The example, with a grader that asks the services, and a live check."""
    root = Path(shutil.copytree(EXAMPLES / "invoice-1043", folder / "invoice-1043"))
    text = (root / "task.toml").read_text().replace("[grading.checkpoints]", "[grading.checkpoints]\nworkplace = true")
    (root / "task.toml").write_text(text.replace('setup = "setup"', 'setup = "setup"\nlive = "live"'))
    (root / "live").mkdir()
    (root / "live/live.py").write_text(LIVE)
    (root / "grade.py").write_text(GRADER)
    return root


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_asking_grader(tmp_path_factory.mktemp("task"))


def test_grader_gets_the_same_grade_from_restored_services_elsewhere(task: Path, tmp_path: Path) -> None:
    config = ExperimentConfig(
        name="office",
        agents=tuple(
            AgentConfig(harness="scripted", name=name, script=str(EXAMPLES / "invoice-1043-agents" / name))
            for name in ("right", "wrong")
        ),
        tasks=(str(task),),
        author="tester",
        parallel=1,
    )
    with Store.open(tmp_path / "store", create=True) as store:
        plan = prepare(config, store.blobs)
        commit_plan(store, plan)
        status = run_experiment(store, plan.experiment, options_of(config)).status
        first = grades(store)
        assert (status.finished, status.graded) == (2, 2)
        assert first["right"].score == 1.0, first["right"]
        marked = {one.name for one in first["right"].leaves if one.reason.startswith("seen live, not regradable")}
        assert marked == {"sum"}
        said = [store.manifest(one.parts["colleagues"].manifest).files for one in store.find(Submission)]
        assert [len(files) for files in said] == [1, 1]
        assert {one.name: one.fraction for one in first["wrong"].leaves}["document"] == 0.0
        assert not check(store, deep=True)
    shutil.move(tmp_path / "store", tmp_path / "elsewhere")
    shutil.rmtree(task / "company")
    with Store.open(tmp_path / "elsewhere") as store:
        [experiment] = store.find(Experiment)
        for reason in ("a month later", "and once more"):
            again = regrade(store, Regrading(experiment, protocol=Protocol.CHECKPOINTS, author="tester", reason=reason))
            second = grades(store, again.round.id)
            assert {name: one.plain() for name, one in second.items()} == {
                name: one.plain() for name, one in first.items()
            }


def grades(store: Store, round: str = "") -> dict[str, GradePayload]:
    """By the agent's name."""
    found = {}
    for one in store.find(Evaluation):
        if round in ("", one.round):
            assert isinstance(one.payload, GradePayload), one
            found[store.get(Submission, one.subject).entrant.partition("@")[0]] = one.payload
    return found
