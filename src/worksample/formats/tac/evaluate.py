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
from .evaluator_analysis import DATA, UTILS, WORKSPACE
from .judge_model import EvaluatorJudge
from .published_task import PublishedTask, find_source, read_one

_LOGGER = "inspect_evals.theagentcompany"


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
    a
    retry would not help. `grader.reference`: the evaluator's reference is missing. `grader.malformed`: its result is
    not a
    list of checkpoints. `grader.crash`: it failed. If the judge does not answer, the cause is the judge's.
    """
    published = _require_prerequisites(case, name)
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_evals.theagentcompany.scoring import get_scorer_for_task

    scorer = get_scorer_for_task(name)
    _require_sound_annotations(published)
    asking = EvaluatorJudge(case)

    def answered(messages: Any, *_: Any) -> ModelOutput:
        output = ModelOutput.from_content("judge", asking.answer(messages))
        output.usage = ModelUsage()  # counted where the judge is asked
        return output

    model = get_model("mockllm/model", custom_outputs=answered)
    said = _WarningCollector()
    logging.getLogger(_LOGGER).addHandler(said)
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
        # Samples are read from the log's file on first use, so while its folder is there.
        found = _read_log(log, asking.failed, said.lines, case.criteria)
    require_served(case, published.looks.services)
    return found


def _require_prerequisites(case: Case, name: str) -> PublishedTask:
    """Raise GraderError if anything is missing that the evaluator would count as the agent's failure."""
    folder, version = find_source()
    if not (folder / name / "evaluator.py").is_file():
        raise GraderError(f"inspect_evals {version} has no task {name!r}")
    task = read_one(folder / name, version)
    if str(case.folder("output")) != WORKSPACE:
        raise GraderError(f"the evaluator reads {WORKSPACE}, which only a sandbox has", cause=Cause.GRADER_LACKS)
    lacks = [name for name in task.looks.services if name not in SERVICES or not standing()]
    if lacks:
        what = f"the evaluator asks {', '.join(lacks)}, and the grading box has no services"
        raise GraderError(what, cause=Cause.GRADER_LACKS)
    require_programs(task.looks.services)
    if task.looks.messages and not steps_of(case):
        what = "the evaluator looks at the conversation, and this submission came without one"
        raise GraderError(what, cause=Cause.GRADER_LACKS)
    modules = [m for m in task.looks.modules if importlib.util.find_spec(m.split(".")[0]) is None]
    if modules:
        what = f"the evaluator needs {', '.join(modules)}: pip install 'worksample[tac]'"
        raise GraderError(what, cause=Cause.GRADER_LACKS)
    held = [c.target.removeprefix(f"{UTILS}/") for c in task.copied if c.target.startswith(f"{UTILS}/")]
    lost = [n for n in dict.fromkeys((*task.looks.references, *held)) if not (Path(UTILS) / n).is_file()]
    if lost:
        raise GraderError(f"{UTILS} has no {', '.join(lost)}", cause=Cause.GRADER_REFERENCE)
    beyond = [n for n in task.looks.outside if not (Path(DATA) / n).is_file()]
    if beyond:
        what = f"the evaluator reads {DATA}/{', '.join(beyond)}, which no submission holds"
        raise GraderError(what, cause=Cause.GRADER_LACKS)
    return task


def require_programs(services: Iterable[str]) -> None:
    """Raise GraderError (`grader.lacks`) if services are needed and a program by which evaluators call them is
    missing.
    """
    gone = [name for name in ("bash", "curl", "base64") if any(services) and shutil.which(name) is None]
    if gone:
        raise GraderError(f"the evaluator needs {', '.join(gone)}", cause=Cause.GRADER_LACKS)


def require_served(case: Case, services: Iterable[str]) -> None:
    """Raise GraderError (`grader.lacks`) if a service refused a request of the evaluator, which it counts as missing
    work.
    """
    for name in (one for one in services if one in SERVICES):
        refused = case.services().json(SERVICES[name], "/.worksample/refused")["refused"]
        if refused:
            told = "; ".join(f"{one['method']} {one['path']}: {one['why']}" for one in refused[:3])
            raise GraderError(f"the evaluator asks what {name} has not here: {told}", cause=Cause.GRADER_LACKS)


def _require_sound_annotations(task: PublishedTask) -> None:
    """Raise GraderError if the evaluator cannot define one of its inner functions: it would mark every answer wrong."""
    if sys.version_info >= (3, 14) or not task.looks.annotations:
        return
    names = vars(importlib.import_module(f"inspect_evals.theagentcompany.tasks.{task.name}.evaluator"))
    for text in task.looks.annotations:
        try:
            eval(text, dict(names))
        except TypeError as fault:
            what = f"the evaluator cannot define a function of its own: {text}: {fault} (before Python 3.14)"
            raise GraderError(what, cause=Cause.GRADER_CRASH) from fault
        except NameError:
            # A name of the enclosing function, which is there when it is called.
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
        # Evaluators catch this, and would call it the agent's failure.
        raise failed
    sample = log.samples[0] if log.samples else None
    if sample is None or sample.error or not sample.scores:
        fault = sample.error.message if sample and sample.error else str(log.error.message if log.error else "no score")
        raise GraderError(f"the evaluator failed: {fault[-800:]}", cause=Cause.GRADER_CRASH)
    score = next(iter(sample.scores.values()))
    checkpoints = (score.metadata or {}).get("checkpoints")
    if (score.explanation or "").startswith("Original scoring failed"):
        # One evaluator reads its own reference wrongly, whatever was delivered.
        raise GraderError(f"the evaluator failed by itself: {score.explanation}", cause=Cause.GRADER_CRASH)
    if checkpoints == [] and score.value == {"score": "I", "checkpoints": 0.0}:
        # So some evaluators answer where a deliverable is missing or cannot be read.
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
    def replayed() -> Any:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            for step in steps_of(case):
                calls = json.dumps(step.get("tool_calls") or [], ensure_ascii=False)
                if step.get("source") == "agent":
                    state.messages.append(ChatMessageAssistant(content=f"{step.get('message') or ''}\n{calls}"))
                for result in (step.get("observation") or {}).get("results", []):
                    state.messages.append(ChatMessageTool(content=str(result.get("content") or "")))
            return state

        return solve

    return replayed()


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
        raise GraderError("the evaluator gave no checkpoints", cause=Cause.GRADER_MALFORMED)
    parts = []
    for number, item in enumerate(checkpoints, start=1):
        total, result = _points_of(item)
        if total <= 0:
            raise GraderError(f"checkpoint {number} is worth {total:g} points", cause=Cause.GRADER_MALFORMED)
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
