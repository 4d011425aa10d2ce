"""The work of a grader's process: read the case, call the grader, and put its grade or failure into a result file."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from worksample.errors import Cause, DeliverableError, GraderError

from .broker_client import BrokerClient
from .case import Case
from .check_score import shorten
from .criteria import CaseCriteria
from .grade import Grade
from .grade_check import check_result
from .source import UnreadableSource
from .task_function import call_function, function_of

TAIL = 3_000
"""Maximum number of characters of a traceback in a reason; only the end of a longer traceback is stored."""


def load_case(data: Mapping[str, Any]) -> Case:
    """Build a `Case` from the parsed content of CASE.json."""
    broker = data.get("broker")
    return Case(
        {name: Path(path) for name, path in data["folders"].items()},
        settings=data.get("settings"),
        criteria=CaseCriteria.of(data.get("criteria") or {}),
        broker=BrokerClient(Path(broker)) if broker else None,
    )


def outcome(data: Mapping[str, Any]) -> dict[str, Any]:
    """Grade one case and return the content of the result file.

    If a deliverable is missing or malformed, the result is a grade with the score 0. If the grader fails, the result
    holds the cause and the reason of the failure. This function never raises an error.
    """
    try:
        case = load_case(data)
        function = function_of(case.folder("grader"), data.get("entry", "grade.py"), "grade", "evaluate")
        return {"grade": check_result(call_function(function, case), case.criteria).plain()}
    except DeliverableError as error:
        return {"grade": Grade(score=0.0, composition="deliverable", reason=shorten(str(error))).plain()}
    except BaseException as error:  # noqa: BLE001 - imported code: any exception is its result
        cause, reason = classify(error)
        return {"failed": str(cause), "reason": reason}


def classify(error: BaseException) -> tuple[Cause, str]:
    """Return the cause and the reason of an exception that a grader raised."""
    import traceback

    tail = shorten("".join(traceback.format_exception(error))[-TAIL:])
    if isinstance(error, GraderError):
        return error.cause or Cause.GRADER_CRASH, shorten(str(error))
    if isinstance(error, UnreadableSource):
        return Cause.GRADER_REFERENCE, f"a file of the task: {shorten(str(error))}\n{tail}"
    if isinstance(error, MemoryError):
        return Cause.GRADER_MEMORY, f"the grader ran out of memory\n{tail}"
    if said := _validation_message(error):
        return Cause.GRADER_MALFORMED, f"{_grader_line(error)}the grade is malformed: {shorten(said)}"
    if isinstance(error, SystemExit):
        return Cause.GRADER_CRASH, f"the grader ended with sys.exit({error.code!r})\n{tail}"
    return Cause.GRADER_CRASH, f"{_grader_line(error)}{type(error).__name__}: {shorten(_message(error))}\n{tail}"


def _validation_message(error: BaseException) -> str:
    """Describe why a grade is malformed if `error` is pydantic's ValidationError for a grade; otherwise return "".

    Never imports pydantic if the grader has not loaded it.
    """
    if "pydantic" not in sys.modules:
        return ""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError) or error.title not in ("GradePayload", "PartPayload"):
        return ""
    from worksample.files.config_files import describe_errors
    from worksample.records import grade

    return describe_errors(error, getattr(grade, error.title))


def _grader_line(error: BaseException) -> str:
    """Return the place of an error in the grader's own code, such as `grade.py:12: `.

    Returns "" if no line of the traceback belongs to the grader.
    """
    import traceback

    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return f"{Path(error.filename).name}:{error.lineno}: "
    grader = sys.modules.get("worksample_task")
    folder = Path(getattr(grader, "__file__", None) or "/nowhere/x").parent
    own = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(folder)]
    return f"{Path(own[-1].filename).relative_to(folder)}:{own[-1].lineno}: " if own else ""


def _message(error: BaseException) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)


def case_data(path: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the content of CASE.json, with the paths that the words NAME=PATH replace."""
    data: dict[str, Any] = json.loads(Path(path).read_bytes())
    named = dict(word.split("=", 1) for word in words)
    data |= {name: named.pop(name) for name in ("result", "broker") if name in named}
    data["folders"] = {**data.get("folders", {}), **named}
    return data


def write_result(path: Path, text: str) -> None:
    """Write a result file, which appears under its name when it is complete."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.rename(path)
