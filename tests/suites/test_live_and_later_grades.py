"""Every task of the shipped company: graded while its services run, and again from the export on another store."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from running.profiles import is_quick_run
from workplace.test_restored_workplace import EXAMPLES, with_asking_grader
from worksample.agents import ScriptStep
from worksample.audit.control_builder import ControlBuilder
from worksample.box import Mount
from worksample.grading import grade, open_round
from worksample.grading.grading_boxes import EXPORTS, GradingBoxes, grading_boxes
from worksample.grading.run_grader import run_grader
from worksample.grading.workplace_control_scripts import _perform_script, _ScriptStage
from worksample.records import GradePayload, Instance, Protocol, Submission
from worksample.sandboxes.services import TrialServices, open_services
from worksample.sandboxes.services.service_boxes import ServiceBox
from worksample.sandboxes.services.task_service import TaskService
from worksample.store import Store, merge
from worksample.tasks import find_suite, ingest, read_package
from worksample.tasks.workplace_settings import WORKPLACE
from worksample.workplace.workplace import LiveWorkplace, reset_services, run_setup, services_box, task_workplace

pytestmark = [pytest.mark.box, pytest.mark.workplace, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
ROOT = find_suite("quaymark").parent
TASKS = sorted(path.parent.name for path in ROOT.glob("tasks/*/task.toml"))
QUICK = "ds-fuel"


@dataclass(frozen=True)
class Live:
    """The services of the script, which a grader finds where restored ones would stand; they stay when it is done."""

    service: TaskService

    async def close(self) -> None: ...


def live_place(place: GradingBoxes, services: TrialServices, workplace: LiveWorkplace, folder: Path) -> GradingBoxes:
    """The grader's boxes with the folder of live state for its exports, and the live services for restored ones."""
    mounts = tuple(Mount(str(folder), EXPORTS) if one.target == EXPORTS else one for one in place.grading.mounts)
    own = replace(place, grading=replace(place.grading, mounts=mounts))
    if place.workplace is None:
        return own
    [(_, (service,))] = services.boxes

    async def loaded(kind: str) -> Live:
        return Live(service)

    box = ServiceBox(WORKPLACE, workplace.box.config, workplace.box.services, loaded)
    told = tuple((key, workplace.operator if key == "WORKPLACE_OPERATOR" else value) for key, value in own.grading.env)
    return replace(own, workplace=replace(workplace, box=box), grading=replace(own.grading, env=told))


async def graded_live(
    store: Store, instance: Instance, scripts: Mapping[str, Sequence[ScriptStep]], taken: Path
) -> dict[tuple[str, Protocol], GradePayload]:
    """Perform each script, and grade what stands then. By submission and protocol."""
    found: dict[tuple[str, Protocol], GradePayload] = {}
    workplace = await asyncio.to_thread(task_workplace, instance.work.environment, store.folder, "graded-live")
    assert workplace is not None
    async with open_services((workplace.box,), "bubblewrap") as services:
        for number, (name, steps) in enumerate(scripts.items()):
            if number:
                await reset_services(services_box(services))
            await run_setup(services, workplace)
            done = await _perform_script(_ScriptStage(store, instance, workplace, services, "bubblewrap"), name, steps)
            assert not done.failed, (name, done.failed)
            for protocol in {Protocol.PROGRAM, Protocol.CHECKPOINTS} & set(instance.grading):
                folder = taken / f"{number}-{protocol}"
                shutil.copytree(store.folder(done.submission.parts["exports"].manifest), folder)
                shutil.rmtree(folder / WORKPLACE)
                shutil.copytree(services_box(services).output_path / WORKPLACE, folder / WORKPLACE)
                grading = instance.grading[protocol]
                place = live_place(
                    grading_boxes(store, done.submission, instance, grading), services, workplace, folder
                )
                ended = await run_grader(place, grading, store.blobs, sandbox="bubblewrap")
                assert ended.grade is not None, (name, ended.cause, ended.reason)
                found[done.submission.id, protocol] = ended.grade
    return found


async def agree(root: Path, tmp_path: Path) -> dict[str, float]:
    """Both gradings of all scripts, which must not differ in any part; the score of each script."""
    scores: dict[str, float] = {}
    with Store.open(tmp_path / "first", create=True) as store, Store.open(tmp_path / "other", create=True) as other:
        package = read_package(root)
        taken = ingest(package, store.blobs)
        store.commit(taken.task, *taken.instances)
        for instance in taken.instances:
            scripts = ControlBuilder(store, package).scripts(instance)
            if is_quick_run():  # the right one and a wrong one
                scripts = dict(list(scripts.items())[1:3])
            live = await graded_live(store, instance, scripts, tmp_path / instance.name)
            merge(other, store)
            for (id, protocol), first in live.items():
                submission = other.get(Submission, id)
                round = open_round(other, subjects=(id,), protocol=protocol, author="tester", reason="again")
                again = await grade(other, round, submission, other.get(Instance, instance.id))
                assert isinstance(again.payload, GradePayload), (submission.control, again)
                assert again.payload.plain() == first.plain(), submission.control
                scores[f"{submission.control} {protocol}"] = first.score
    return scores


@pytest.mark.parametrize("name", [QUICK])
@pytest.mark.long(seconds=40)
async def test_task_is_graded_equally_live_and_later(name: str, tmp_path: Path) -> None:
    scores = await agree(ROOT / "tasks" / name, tmp_path)
    assert max(scores.values()) == 1 and min(scores.values()) < 1, scores


@pytest.mark.thorough(quick="suites/test_live_and_later_grades.py::test_task_is_graded_equally_live_and_later")
@pytest.mark.long(seconds=60)
@pytest.mark.parametrize("name", [name for name in TASKS if name != QUICK])
async def test_every_task_is_graded_equally_live_and_later(name: str, tmp_path: Path) -> None:
    scores = await agree(ROOT / "tasks" / name, tmp_path)
    assert max(scores.values()) == 1 and min(scores.values()) < 1, scores


@pytest.mark.thorough(quick="suites/test_live_and_later_grades.py::test_task_is_graded_equally_live_and_later")
@pytest.mark.long(seconds=60)
async def test_grader_that_queries_services_finds_the_same_live_and_later(tmp_path: Path) -> None:
    """None of the suite's does: so the example's, with a grader that asks each service and looks at a live check."""
    root = with_asking_grader(tmp_path)
    (root / "cases/reference").mkdir(parents=True)
    shutil.copyfile(EXAMPLES / "invoice-1043-agents/right/invoice-1043.toml", root / "cases/reference/script.toml")
    scores = await agree(root, tmp_path)
    assert len(scores) == 2 and max(scores.values()) == 1 and min(scores.values()) < 1, scores
