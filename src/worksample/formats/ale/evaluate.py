"""Grading with the unmodified `evaluate` of an ALE package, inside the grading box.

The package gets a session over the box's own files: inputs, software, output and reference have the paths that the
package names. The `grade.py` of imported packages imports this module by its name.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from worksample.errors import Cause, GraderError
from worksample.kit import Case, Grade, GradePart

from .evaluation_evidence import (
    LEAVE_OUT,
    EvaluationEvidence,
    ExceptionTrace,
    failed_commands,
    missing_program,
    score_of,
)
from .in_box.package_loader import function_of, load_package, plain_task, plain_value
from .in_box.session import LocalSession, SessionCall, run_shell

CODE = "checkout"
"""Folder of the grader with the files of the checkout."""
JUDGE_MODULE = "tasks.utils.evaluation"
SELF_GRADING = frozenset({"demo/tool_smoke"})
"""Packages that were read and need no reference."""
CONTROL_SECONDS = 300.0


def evaluate(case: Case) -> Grade:
    """Grade with the package's own `evaluate`.

    Raises GraderError with one of these causes. `grader.lacks`: the reference, a library, a program or a judge is
    missing. `grader.reference`: the reference is unreadable. `grader.malformed`: the result is not one score.
    `grader.crash`: the package failed, or differs from what was imported.
    """
    checkout = case.folder("grader") / CODE
    place, index = str(case.setting("package")), int(case.setting("ale_index", default=0) or 0)
    judges = JudgeCalls()
    sys.modules[JUDGE_MODULE] = judges.module()
    sys.path.insert(0, str(Path(__file__).parent / "in_box"))
    os.environ.pop("REMOTE_ROOT_DIR", None)
    session = LocalSession()
    fault: Exception | None = None
    result: Any = None
    with ExceptionTrace(str(checkout), str(case.folder("output"))) as trace:
        try:
            module = load_package(checkout / "tasks" / place, checkout)
            task = function_of(module, "load")()[index]
        except Exception as error:
            raise _not_loaded(error) from error
        if digest_of(task) != case.setting("ale_digest"):
            what = f"load() gives another instance {index} than when the package was imported"
            raise GraderError(what, cause=Cause.GRADER_CRASH, next=LEAVE_OUT)
        try:
            result = asyncio.run(function_of(module, "evaluate")(task, session))
        except Exception as error:  # noqa: BLE001 - foreign code raises anything
            fault = error
    if judges.asked:
        what = f"the evaluator asks a language model ({judges.asked[0]}), which imported packages cannot"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next=LEAVE_OUT)
    evidence = EvaluationEvidence(
        case.folder("reference"), session.calls, trace.found, task.metadata, place in SELF_GRADING
    )
    if fault is not None:
        evidence.require_gradable(full=False)
        for call in failed_commands(session.calls):
            _require_control(case, call, 0.0)
        what = f"evaluate() failed: {type(fault).__name__}: {str(fault)[-800:]}"
        raise GraderError(what, cause=Cause.GRADER_CRASH, next=LEAVE_OUT) from fault
    score = score_of(result)
    evidence.require_gradable(full=score > 0)
    for call in failed_commands(session.calls):
        _require_control(case, call, score)
    part = GradePart(name="evaluate", points=1.0, fraction=score)
    return Grade(score=score, parts=(part,), composition="ale", reason=f"evaluate() gave {score:g}")


def digest_of(task: Any) -> str:
    """Return the digest of an element of `load()`, as the import computes it."""
    text = json.dumps(plain_task(task), default=plain_value, sort_keys=True)
    plain = json.dumps(json.loads(text), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def _not_loaded(error: Exception) -> GraderError:
    lacks = isinstance(error, (ImportError, SyntaxError))
    what = f"the package cannot be loaded: {type(error).__name__}: {str(error)[-500:]}"
    step = "install the library beside worksample, then grade again" if isinstance(error, ImportError) else LEAVE_OUT
    return GraderError(what, cause=Cause.GRADER_LACKS if lacks else Cause.GRADER_CRASH, next=step)


def _require_control(case: Case, call: SessionCall, score: float) -> None:
    """Run a failed command again over the reference in place of the submission.

    Raise GraderError if that shows that the command cannot succeed here: a command that does not read the submission,
    or fails for the reference too. Above 0, only a missing program or library counts.
    """
    output, reference = str(case.folder("output")), str(case.folder("reference"))
    code, fault = call.code, call.fault
    if output in call.about:
        control = run_shell(call.about.replace(output, reference), CONTROL_SECONDS)
        code, fault = control["return_code"], control["stderr"]
    if code == 0:
        return  # the submission made it fail
    if missing := missing_program(fault, code):
        what = f"a command of the evaluator needs {missing}, which is not installed: {call.about[:200]}"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next="install it beside worksample, then grade again")
    if score == 0 and output not in call.about:
        what = f"a command of the evaluator failed without reading the submission: {call.about[:200]}"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next=LEAVE_OUT)
    if score == 0:
        what = f"a command of the evaluator fails for the reference too: {call.about[:200]}"
        raise GraderError(what, cause=Cause.GRADER_CRASH, next=LEAVE_OUT)


class JudgeCalls:
    """A replacement for the helpers by which packages ask a language model. `asked`: the helpers that were called."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def module(self) -> types.ModuleType:
        """Return the module. Each of its functions notes the call and raises RuntimeError."""
        found = _JudgeModule(JUDGE_MODULE)
        found.helper = self._helper
        return found

    def _helper(self, name: str) -> Callable[..., Any]:
        def ask(*given: Any, **named: Any) -> Any:
            if name == "resolve_llm_judge_model":
                return named.get("default") or "judge"
            self.asked.append(name)
            raise RuntimeError(f"no language model answers {name}")

        return ask


class _JudgeModule(types.ModuleType):
    helper: Callable[[str], Callable[..., Any]]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.helper(name)
