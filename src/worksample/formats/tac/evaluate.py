"""Grading with an unmodified evaluator of the port of TheAgentCompany (`inspect_evals`), inside the grading box.

An evaluator is an Inspect scorer that examines a sandbox. It runs in a one-sample evaluation over the mounted
submission, with Inspect's sandbox `local` inside the grading box. A workplace with the state that the submission left
answers as ownCloud and Rocket.Chat. Requests to a language model go to the platform's judge (`judge_model.py`).

An evaluator gives 0 points for anything that it does not find. If something is missing that only the platform could
provide, the submission is therefore left ungraded.

The `grade.py` of imported packages imports this module by its name.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from worksample.errors import Cause, GraderError
from worksample.kit import Case, Grade, GradePart
from worksample.kit.live_services import standing
from worksample.records.grade_tree import By, CriteriaTree

from .company import SERVICES
from .conversation import PORT_ORIGINS, SearchedTrajectory, visited_pages
from .evaluator_analysis import DATA, UTILS, WORKSPACE
from .judge_model import LEAVE_OUT, EvaluatorJudge
from .published_task import PublishedTask, find_source, read_one

_LOGGER = "inspect_evals.theagentcompany"
CHECK_TASK = "worksample task check FOLDER"
"""Next command if the evaluator does not run in the grading box."""
RUN_TRIAL = "worksample run EXPERIMENT with an agent, since only trials record a conversation"
"""Next command if the submission has no trajectory."""
EXTRA = "install the extra tac (docs/how-to/install.md)"
IMPORT_AGAIN = "worksample import tac --overwrite OUT"


class _WarningCollector(logging.Handler):
    """A log handler that keeps the evaluator's warnings. Many evaluators log their own crash and return 0."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage()[:500])


def evaluate(case: Case, name: str) -> Grade:
    """Grade `case` with the evaluator of the task `name`.

    Raises GraderError with one of these causes. `grader.lacks`: a service, module, file or conversation is missing, and
    a retry would not help. `grader.reference`: the evaluator's reference is missing. `grader.malformed`: its result is
    not a list of checkpoints. `grader.crash`: it failed. If the judge does not answer, the cause is the judge's.
    """
    published = _require_prerequisites(case, name)
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_evals.theagentcompany.scoring import get_scorer_for_task

    scorer = get_scorer_for_task(name)
    conversation = SearchedTrajectory(steps_of(case), visited_pages(case, PORT_ORIGINS))
    if published.evaluator_needs.messages:
        # The evaluator's own helper joins all messages; a search in them would find addresses that nobody visited.
        evaluator = importlib.import_module(f"inspect_evals.theagentcompany.tasks.{name}.evaluator")
        vars(evaluator)["trajectory_text"] = lambda _: conversation
    _require_sound_annotations(published)
    judge = EvaluatorJudge(case)

    def answer_as_model(messages: Any, *_: Any) -> ModelOutput:
        output = ModelOutput.from_content("judge", judge.answer(messages))
        output.usage = ModelUsage()  # the judge's own usage is recorded by the platform
        return output

    model = get_model("mockllm/model", custom_outputs=answer_as_model)
    warnings = _WarningCollector()
    logging.getLogger(_LOGGER).addHandler(warnings)
    with tempfile.TemporaryDirectory() as logs, _login_shell_home(Path(logs)):
        task = Task(
            dataset=[Sample(input=name, metadata={"eval_name": name})],
            solver=_replay_solver(case),
            scorer=scorer,
            sandbox="local",
        )
        log = eval(
            task,
            model=model,
            model_roles={"grader": model},
            log_dir=f"{logs}/log",
            display="none",
            fail_on_error=False,
            score=True,
        )[0]
        # Samples are loaded lazily from the log's file, so they are read before its folder is deleted.
        found = _read_log(log, judge.failure, warnings.lines, case.criteria)
    if conversation.unknown:
        require_conversation(case)
    require_served(case, published.evaluator_needs.services)
    return found


def _require_prerequisites(case: Case, name: str) -> PublishedTask:
    """Raise GraderError if anything is missing that the evaluator would count as the agent's failure."""
    folder, version = find_source()
    if not (folder / name / "evaluator.py").is_file():
        raise GraderError(f"inspect_evals {version} has no task {name!r}", next=EXTRA)
    task = read_one(folder / name, version)
    if str(case.folder("output")) != WORKSPACE:
        raise outside_box_error()
    require_services(task.evaluator_needs.services)
    require_programs(task.evaluator_needs.services)
    modules = [m for m in task.evaluator_needs.modules if importlib.util.find_spec(m.split(".")[0]) is None]
    if modules:
        what = f"the evaluator needs Python modules that are not installed: {', '.join(modules)}"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next=EXTRA)
    held = [c.target.removeprefix(f"{UTILS}/") for c in task.copied if c.target.startswith(f"{UTILS}/")]
    lost = [n for n in dict.fromkeys((*task.evaluator_needs.references, *held)) if not (Path(UTILS) / n).is_file()]
    if lost:
        what = f"the evaluator's reference lacks {', '.join(lost)}"
        raise GraderError(what, where=UTILS, cause=Cause.GRADER_REFERENCE, next=IMPORT_AGAIN)
    beyond = [n for n in task.evaluator_needs.outside if not (Path(DATA) / n).is_file()]
    if beyond:
        what = f"the evaluator reads {', '.join(beyond)} in {DATA}, which is not part of a submission"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next=LEAVE_OUT)
    return task


def outside_box_error() -> GraderError:
    """Return the error of an evaluator that does not run in the grading box, and so does not find its folders."""
    what = f"the evaluator reads {WORKSPACE}, which exists only in the grading box"
    return GraderError(what, cause=Cause.GRADER_LACKS, next=CHECK_TASK)


def require_services(products: Iterable[str]) -> None:
    """Raise GraderError (`grader.lacks`) if the grading box has no service in place of a product."""
    products = tuple(products)
    unknown = [name for name in products if name not in SERVICES]
    if unknown:
        what = f"the evaluator calls {', '.join(unknown)}, which the grading box cannot replace"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next=LEAVE_OUT)
    if products and not standing():
        what = f"the evaluator calls {', '.join(products)}, and the grading box has no services"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next=IMPORT_AGAIN)


def require_conversation(case: Case) -> None:
    """Raise GraderError (`grader.lacks`) if the submission has no trajectory."""
    if not steps_of(case):
        what = "the evaluator reads the conversation, and this submission has no trajectory"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next=RUN_TRIAL)


def require_programs(services: Iterable[str]) -> None:
    """Raise GraderError (`grader.lacks`) if services are needed and a program by which evaluators call them is
    missing.
    """
    absent = [name for name in ("bash", "curl", "base64") if any(services) and shutil.which(name) is None]
    if absent:
        what = f"the evaluator needs programs that are not installed: {', '.join(absent)}"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next="apt install bash curl coreutils")


def require_served(case: Case, services: Iterable[str]) -> None:
    """Raise GraderError (`grader.lacks`) if a service refused a request of the evaluator, which it counts as missing
    work.
    """
    for name in (name for name in services if name in SERVICES):
        refused = case.services().json(SERVICES[name], "/.worksample/refused")["refused"]
        if refused:
            requests = "; ".join(f"{request['method']} {request['path']}: {request['why']}" for request in refused[:3])
            what = f"the evaluator sent requests that {name} does not support here: {requests}"
            raise GraderError(what, cause=Cause.GRADER_LACKS, next=LEAVE_OUT)


def _require_sound_annotations(task: PublishedTask) -> None:
    """Raise GraderError if the evaluator cannot define one of its inner functions: it would mark every answer wrong."""
    if sys.version_info >= (3, 14) or not task.evaluator_needs.annotations:
        return
    names = vars(importlib.import_module(f"inspect_evals.theagentcompany.tasks.{task.name}.evaluator"))
    for text in task.evaluator_needs.annotations:
        try:
            eval(text, dict(names))
        except TypeError as fault:
            what = f"the evaluator has a function that this Python cannot define: {text}: {fault}"
            step = f"use Python 3.14 or newer, or {LEAVE_OUT}"
            raise GraderError(what, cause=Cause.GRADER_CRASH, next=step) from fault
        except NameError:
            # A name of the enclosing function, which exists when that function is called.
            continue


@contextmanager
def _login_shell_home(folder: Path) -> Iterator[None]:
    """Set HOME to a folder whose login shells find `python`, because evaluators call it by `bash -lc`."""
    before = os.environ.get("HOME")
    (folder / ".bash_profile").write_text(f'export PATH="{Path(sys.executable).parent}:$PATH"\n', encoding="utf-8")
    os.environ["HOME"] = str(folder)
    try:
        yield
    finally:
        os.environ.pop("HOME")
        if before is not None:
            os.environ["HOME"] = before


def _read_log(log: Any, failed: GraderError | None, warnings: list[str], criteria: CriteriaTree) -> Grade:
    """Return the grade in the evaluation's log. Raises GraderError if the evaluator failed."""
    if failed is not None:
        # Evaluators catch the judge's errors and would count them as the agent's failure.
        raise failed
    sample = log.samples[0] if log.samples else None
    if sample is None or sample.error or not sample.scores:
        fault = sample.error.message if sample and sample.error else str(log.error.message if log.error else "no score")
        raise GraderError(f"the evaluator failed: {fault[-800:]}", cause=Cause.GRADER_CRASH, next=LEAVE_OUT)
    score = next(iter(sample.scores.values()))
    checkpoints = (score.metadata or {}).get("checkpoints")
    if (score.explanation or "").startswith("Original scoring failed"):
        # One evaluator misreads its own reference, whatever the deliverable is.
        what = f"the evaluator cannot read its own reference: {score.explanation}"
        raise GraderError(what, cause=Cause.GRADER_CRASH, next=LEAVE_OUT)
    if checkpoints == [] and score.value == {"score": "I", "checkpoints": 0.0}:
        # Some evaluators give this result if a deliverable is missing or unreadable.
        return _zero_grade(criteria, score.explanation or "")
    return _grade(checkpoints, score.explanation or "", warnings)


def _zero_grade(criteria: CriteriaTree, explanation: str) -> Grade:
    """Return a grade of 0 with every criterion that a program checks."""
    wanted = [leaf for leaf in criteria.leaves if leaf.by is By.PROGRAM]
    parts = tuple(GradePart(name=leaf.id, points=leaf.worth, fraction=0.0) for leaf in wanted)
    reason = f"no checkpoint was reached\n{explanation}"
    return Grade(score=0.0, parts=parts, composition="checkpoints", reason=reason[:20_000])


def _replay_solver(case: Case) -> Any:
    """Return a solver that adds the trial's conversation to the messages that evaluators read."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool
    from inspect_ai.solver import Generate, TaskState, solver

    @solver(name="replayed_trial")
    def replay() -> Any:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            for step in steps_of(case):
                calls = json.dumps(step.get("tool_calls") or [], ensure_ascii=False)
                if step.get("source") == "agent":
                    state.messages.append(ChatMessageAssistant(content=f"{step.get('message') or ''}\n{calls}"))
                for result in (step.get("observation") or {}).get("results", []):
                    state.messages.append(ChatMessageTool(content=str(result.get("content") or "")))
            return state

        return solve

    return replay()


def steps_of(case: Case) -> list[dict[str, Any]]:
    """Return the steps of the submission's trajectory; an empty list if it has none."""
    try:
        folder = case.folder("trajectory")
    except GraderError:
        return []
    for path in sorted(folder.glob("*.json")):
        return list(json.loads(path.read_text(encoding="utf-8")).get("steps", []))
    return []


def _grade(checkpoints: Any, explanation: str, warnings: list[str]) -> Grade:
    """Return the checkpoints as a grade. The score is the earned points divided by the possible points (TAC 4.1)."""
    if not isinstance(checkpoints, list) or not checkpoints:
        raise GraderError("the evaluator returned no checkpoints", cause=Cause.GRADER_MALFORMED, next=LEAVE_OUT)
    parts = []
    for number, item in enumerate(checkpoints, start=1):
        total, result = _points_of(item)
        if total <= 0:
            what = f"the evaluator's checkpoint {number} is worth {total:g} points"
            raise GraderError(what, cause=Cause.GRADER_MALFORMED, next=LEAVE_OUT)
        parts.append(GradePart(name=f"checkpoint-{number}", points=total, fraction=min(1.0, max(0.0, result / total))))
    total = sum(p.points for p in parts)
    score = sum(p.points * (p.fraction or 0.0) for p in parts) / total
    reason = "\n".join([explanation, *(f"warned: {line}" for line in dict.fromkeys(warnings))])
    return Grade(score=min(1.0, score), parts=tuple(parts), composition="checkpoints", reason=reason[:20_000])


def _points_of(item: Any) -> tuple[float, float]:
    """Return (possible points, earned points) of a checkpoint: an object, or a dict from a log. A single value is a
    share.
    """
    if isinstance(item, dict) and item.keys() == {"value"}:
        return 1.0, float(item["value"])
    if isinstance(item, dict):
        total, result = item.get("total", item.get("max")), item.get("result", item.get("value"))
        return float(total or 0), float(result or 0)
    return float(item.total), float(item.result)
