"""Run one of TheAgentCompany's evaluators, unmodified, inside the grading box, and read its checkpoints as a grade.

An evaluator is an Inspect scorer that looks at a sandbox: here a one-sample evaluation over the mounted submission,
with Inspect's `local` sandbox inside our own box. No model is reachable: an evaluator that asks one leaves the
submission ungraded.
"""

from __future__ import annotations

import json
import logging
import tempfile
from typing import Any

from worksample.errors import Cause, GraderError
from worksample.kit import Case
from worksample.records import Grade, GradePart

_LOGGER = "inspect_evals.theagentcompany"


class _Said(logging.Handler):
    """Keeps the evaluator's own warnings: many turn a crash of theirs into 0 and only log it."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage()[:500])


def evaluate(case: Case, name: str) -> Grade:
    """Grade `case` with the evaluator of task `name`.

    Raises GraderError: `judge.error` where it asked for a language model, `grader.malformed` where its answer is no
    list of checkpoints, `grader.crash` where it failed.
    """
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_evals.theagentcompany.scoring import get_scorer_for_task

    asked: list[str] = []

    def unreachable(*_: Any) -> ModelOutput:
        asked.append(name)
        raise GraderError("no language model is reachable from the grading box", cause=Cause.JUDGE_ERROR)

    model = get_model("mockllm/model", custom_outputs=unreachable)
    said = _Said()
    logging.getLogger(_LOGGER).addHandler(said)
    with tempfile.TemporaryDirectory() as logs:
        task = Task(
            dataset=[Sample(input=name, metadata={"eval_name": name})],
            solver=_replay(case),
            scorer=get_scorer_for_task(name),
            sandbox="local",
        )
        log = eval(
            task,
            model=model,
            model_roles={"grader": model},
            log_dir=logs,
            display="none",
            fail_on_error=False,
            score=True,
        )[0]
        # Samples are read from the log's file on first use, so while its folder is there.
        return _read(log, asked, said.lines)


def _read(log: Any, asked: list[str], warnings: list[str]) -> Grade:
    if asked:
        raise GraderError("the evaluator asks a language model, and none is reachable here", cause=Cause.JUDGE_ERROR)
    sample = log.samples[0] if log.samples else None
    if sample is None or sample.error or not sample.scores:
        fault = sample.error.message if sample and sample.error else str(log.error.message if log.error else "no score")
        raise GraderError(f"the evaluator failed: {fault[-800:]}", cause=Cause.GRADER_CRASH)
    score = next(iter(sample.scores.values()))
    return _grade((score.metadata or {}).get("checkpoints"), score.explanation or "", warnings)


def _replay(case: Case) -> Any:
    """A solver that puts the trial's conversation where evaluators look for it."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool
    from inspect_ai.solver import Generate, TaskState, solver

    @solver(name="replayed_trial")
    def replayed() -> Any:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            for step in _steps(case):
                calls = json.dumps(step.get("tool_calls") or [], ensure_ascii=False)
                if step.get("source") == "agent":
                    state.messages.append(ChatMessageAssistant(content=f"{step.get('message') or ''}\n{calls}"))
                for result in (step.get("observation") or {}).get("results", []):
                    state.messages.append(ChatMessageTool(content=str(result.get("content") or "")))
            return state

        return solve

    return replayed()


def _steps(case: Case) -> list[dict[str, Any]]:
    """The steps of the trajectory that came with the submission, or none."""
    try:
        folder = case.folder("trajectory")
    except GraderError:
        return []
    for path in sorted(folder.glob("*.json")):
        return list(json.loads(path.read_text(encoding="utf-8")).get("steps", []))
    return []


def _grade(checkpoints: Any, explanation: str, warnings: list[str]) -> Grade:
    """Checkpoints as parts; the score is points earned of points there are (TAC 4.1)."""
    if not isinstance(checkpoints, list) or not checkpoints:
        raise GraderError("the evaluator gave no checkpoints", cause=Cause.GRADER_MALFORMED)
    parts = []
    for number, item in enumerate(checkpoints, start=1):
        total, result = _pair(item)
        if total <= 0:
            raise GraderError(f"checkpoint {number} is worth {total:g} points", cause=Cause.GRADER_MALFORMED)
        parts.append(GradePart(name=f"checkpoint-{number}", points=total, fraction=min(1.0, max(0.0, result / total))))
    total = sum(p.points for p in parts)
    score = sum(p.points * (p.fraction or 0.0) for p in parts) / total
    reason = "\n".join([explanation, *(f"warned: {line}" for line in dict.fromkeys(warnings))])
    return Grade(score=min(1.0, score), parts=tuple(parts), composition="checkpoints", reason=reason[:20_000])


def _pair(item: Any) -> tuple[float, float]:
    """(total, result) of a checkpoint, which is an object or, out of a log, a mapping."""
    if isinstance(item, dict):
        total, result = item.get("total", item.get("max")), item.get("result", item.get("value"))
        return float(total or 0), float(result or 0)
    return float(item.total), float(item.result)
