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
from collections.abc import Sequence
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
from .judge_helpers import JudgeHelpers

CODE = "checkout"
"""Folder of the grader with the files of the checkout."""
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
    judges = JudgeHelpers(case)
    sys.path[:0] = [str(Path(__file__).parent / "in_box"), str(checkout)]
    os.environ.pop("REMOTE_ROOT_DIR", None)
    judges.install()
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
    if judges.failure is not None:
        raise judges.failure
    if judges.asked:
        what = f"the evaluator asks a language model for more than yes or no ({judges.asked[0]})"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next=LEAVE_OUT)
    evidence = EvaluationEvidence(
        case.folder("reference"), session.calls, trace.found, task.metadata, place in SELF_GRADING
    )
    if fault is not None:
        evidence.require_gradable(full=False)
        for call in failed_commands(session.calls):
            _require_control(case, session.calls, call, 0.0)
        what = f"evaluate() failed: {type(fault).__name__}: {str(fault)[-800:]}"
        raise GraderError(what, cause=Cause.GRADER_CRASH, next=LEAVE_OUT) from fault
    score = score_of(result)
    evidence.require_gradable(full=score > 0)
    for call in failed_commands(session.calls):
        _require_control(case, session.calls, call, score)
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


def _require_control(case: Case, calls: Sequence[SessionCall], call: SessionCall, score: float) -> None:
    """Raise GraderError if a failed command shows that this machine lacks something, or cannot have failed because of
    the submission.

    A command that names the submission runs again over the reference in its place. Only a missing program or library
    counts then: if the reference fails in another way, too, an agent could escape its 0 by a file that fails. A command
    that does not name the submission counts only if no call before it did, so that nothing of the submission is in it.
    """
    output, reference = str(case.folder("output")), str(case.folder("reference"))
    code, fault = call.code, call.fault
    if output in call.about:
        control = run_shell(call.about.replace(output, reference), CONTROL_SECONDS)
        code, fault = control["return_code"], control["stderr"]
        if code == 0:
            return  # the submission made it fail
    if missing := missing_program(fault, code):
        if output not in call.about and _has_seen(calls, call, output):
            return  # its words may be the agent's
        what = f"a command of the evaluator needs {missing}, which is not installed: {call.about[:200]}"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next="install it beside worksample, then grade again")
    if score == 0 and output not in call.about and not _has_seen(calls, call, output):
        what = f"a command of the evaluator failed without reading the submission: {call.about[:200]}"
        raise GraderError(what, cause=Cause.GRADER_LACKS, next=LEAVE_OUT)


def _has_seen(calls: Sequence[SessionCall], call: SessionCall, output: str) -> bool:
    """Return whether a call before this one named the submission, so that its content may be in this one."""
    return any(output in before.about for before in calls[: calls.index(call)])
