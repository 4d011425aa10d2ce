"""Grading with an unmodified evaluator from a copy of TheAgentCompany's own repository, inside the grading box.

The evaluator's modules `common`, `config` and `scoring` come from the same copy. A workplace with the state that the
submission left answers under the original host name. Requests to a language model go to the platform's judge.

These evaluators give 0 points for every failure, so their needs are checked before the run, and requests that a service
refused are checked after it.

The `grade.py` of imported packages imports this module by its name.
"""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import importlib.util
import logging
import os
import sys
import types
from pathlib import Path
from typing import Any

from worksample.errors import Cause, GraderError
from worksample.kit import Case, Grade, GradePart
from worksample.kit.live_services import PORTS

from .conversation import ORIGINAL_HOST, SearchedTrajectory, TrajectoryUse, use_of_conversation, visited_pages
from .evaluate import (
    EXTRA,
    outside_box_error,
    require_conversation,
    require_programs,
    require_served,
    require_services,
    steps_of,
)
from .evaluator_analysis import UTILS, WORKSPACE, analyse_evaluator
from .judge_model import LEAVE_OUT, EvaluatorJudge
from .original_import import SHARED

ORIGINS = {service: f"http://{ORIGINAL_HOST}:{port}" for service, port in PORTS.items()}
"""Service -> the beginning of its addresses in the original's evaluators."""
_PROVIDED_MODULES = frozenset({"litellm", "evaluator", *(name.removesuffix(".py") for name in SHARED)})
"""Modules that are provided without being installed."""


def evaluate(case: Case) -> Grade:
    """Grade with the evaluator in the reference.

    Raises GraderError with one of these causes. `grader.lacks`: a service, module or conversation is missing.
    `grader.malformed`: the evaluator's result is not a list of checkpoints. `grader.crash`: it failed. If the judge
    does not answer, the cause is the judge's.
    """
    folder = case.folder("reference")
    services = _require_prerequisites(case, folder)
    judge = EvaluatorJudge(case)
    sys.modules["litellm"] = _litellm(judge)
    sys.path.insert(0, str(folder))
    os.chdir(case.folder("output"))
    conversation = SearchedTrajectory(steps_of(case), visited_pages(case, ORIGINS))
    try:
        found = importlib.import_module("evaluator").grade_checkpoints(conversation)
    except Exception as fault:
        what = f"the evaluator failed: {type(fault).__name__}: {str(fault)[-800:]}"
        raise judge.failure or GraderError(what, cause=Cause.GRADER_CRASH, next=LEAVE_OUT) from fault
    if judge.failure is not None:
        raise judge.failure
    if conversation.unknown:
        require_conversation(case)
    require_served(case, services)
    return _grade(found)


def _require_prerequisites(case: Case, folder: Path) -> list[str]:
    """Return the services that the evaluator calls.

    Raises GraderError if anything is missing that the evaluator would count as the agent's failure.
    """
    if (str(folder), str(case.folder("output"))) != (UTILS, WORKSPACE):
        raise outside_box_error()
    source = (folder / "evaluator.py").read_text(encoding="utf-8")
    needs = [*case.settings.get("dependencies", ()), *analyse_evaluator(source, start="grade_checkpoints").services]
    require_services(sorted(set(needs)))
    given = [source, *((folder / name).read_text(encoding="utf-8") for name in SHARED)]
    modules = {name for text in given for name in _imports(text)} - _PROVIDED_MODULES - sys.stdlib_module_names
    own = {path.stem for path in folder.glob("*.py")}
    if absent := sorted(name for name in modules - own if importlib.util.find_spec(name) is None):
        what = f"the evaluator needs Python modules that are not installed: {', '.join(absent)}"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next=f"pip install {' '.join(absent)}")
    if "rocketchat_API" in modules and (version := importlib.metadata.version("rocketchat_API")).split(".")[0] != "1":
        # Later versions raise other errors. Evaluators catch them and count them as the agent's failure.
        what = f"the evaluator needs rocketchat_API 1, and {version} is installed"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next=EXTRA)
    if use_of_conversation(source) is TrajectoryUse.READ:
        require_conversation(case)
    require_programs(needs)
    return sorted(set(needs))


def _imports(source: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def _litellm(judge: EvaluatorJudge) -> types.ModuleType:
    """Return a replacement for the library by which these evaluators call a model, with the functions that they use."""

    class Completion(dict[str, Any]):
        def json(self) -> dict[str, Any]:
            return self

    def completion(*, messages: list[dict[str, Any]], **_: Any) -> Completion:
        answer = judge.answer_chat(messages)
        return Completion(choices=[{"message": {"role": "assistant", "content": answer}}])

    module = types.ModuleType("litellm")
    module.completion = completion  # type: ignore[attr-defined]
    module.logging = logging  # type: ignore[attr-defined]  # two evaluators take it from there
    return module


def _grade(found: Any) -> Grade:
    """Return the checkpoints as a grade, whose score is the evaluator's own.

    Bonus points of the task's strategy are added to the checkpoints in order, up to the points of each.
    """
    try:
        pairs = [(float(one.total), float(one.result)) for one in found.checkpoints]
        final = found.final_score
        total, result = float(final["total"]), float(final["result"])
    except (AttributeError, KeyError, TypeError, ValueError) as fault:
        what = f"the evaluator's result is not a list of checkpoints: {fault}"
        raise GraderError(what, cause=Cause.GRADER_MALFORMED, next=LEAVE_OUT) from fault
    if not pairs or total <= 0 or any(worth <= 0 for worth, _ in pairs) or total != sum(worth for worth, _ in pairs):
        what = "the evaluator's checkpoints have no points, or their points differ from its total"
        raise GraderError(what, cause=Cause.GRADER_MALFORMED, next=LEAVE_OUT)
    bonus = result - sum(earned for _, earned in pairs)
    parts = []
    for number, (worth, earned) in enumerate(pairs, start=1):
        added = max(0.0, min(bonus, worth - earned))
        bonus -= added
        reason = f"{added:g} by the task's own bonus" if added else ""
        fraction = min(1.0, max(0.0, (earned + added) / worth))
        parts.append(GradePart(name=f"checkpoint-{number}", points=worth, fraction=fraction, reason=reason))
    score = sum(p.points * (p.fraction or 0.0) for p in parts) / total
    return Grade(score=score, parts=tuple(parts), composition="checkpoints", reason=f"{result:g} of {total:g} points")
