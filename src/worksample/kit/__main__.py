"""`python -m worksample.kit CASE.json [NAME=PATH ...]`: grade one submission in this process and write the result to a
file.

CASE.json has this form: `{"folders": {name: path}, "entry": "grade.py", "settings": {}, "criteria": {...}, "result":
path, "broker": path or null}`. The folder `grader` contains the entry, which is the grader's main file.

The result is `{"grade": {...}}`, or `{"failed": cause, "reason": text}` if the grader failed. Each NAME=PATH on the
command line replaces a path of CASE.json: that of the folder NAME, of `result` or of `broker`.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Mapping
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


def load_grade(folder: Path, entry: str) -> Callable[[Case], Any]:
    """Import the file `entry` of a grader's folder and return its function `grade`.

    The file can import modules of the same folder. Raises GraderError if the file is missing or defines no such
    function.
    """
    path = folder / entry
    sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("worksample_grader", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise GraderError(
            f"no grader at {entry}",
            cause=Cause.GRADER_CRASH,
            next=f"write the grader, or correct entry = '{entry}' in task.toml, then worksample task check FOLDER",
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    grade = getattr(module, "grade", None)
    if not callable(grade):
        raise GraderError(
            f"{entry} defines no function grade(case)",
            cause=Cause.GRADER_CRASH,
            next=f"write def grade(case): in {entry}, then worksample task check FOLDER",
        )
    return grade  # type: ignore[no-any-return]


def outcome(data: Mapping[str, Any]) -> dict[str, Any]:
    """Grade one case and return the content of the result file.

    If a deliverable is missing or malformed, the result is a grade with the score 0. If the grader fails, the result
    holds the cause and the reason of the failure. This function never raises an error.
    """
    try:
        case = load_case(data)
        result = load_grade(case.folder("grader"), data.get("entry", "grade.py"))(case)
        return {"grade": check_result(result, case.criteria).plain()}
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
    grader = sys.modules.get("worksample_grader")
    folder = Path(getattr(grader, "__file__", None) or "/nowhere/x").parent
    own = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(folder)]
    return f"{Path(own[-1].filename).relative_to(folder)}:{own[-1].lineno}: " if own else ""


def _message(error: BaseException) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)


def main(argv: list[str]) -> int:
    """Read CASE.json, grade the submission, and write the result file.

    Readers never see half of a result: the file appears under its name when it is complete. Returns the exit code: 0 if
    a result was written, 2 for wrong arguments.
    """
    if len(argv) < 2 or any("=" not in word for word in argv[2:]):
        sys.stderr.write("usage: python -m worksample.kit CASE.json [NAME=PATH ...]\n")
        return 2
    data = json.loads(Path(argv[1]).read_bytes())
    named = dict(word.split("=", 1) for word in argv[2:])
    data |= {name: named.pop(name) for name in ("result", "broker") if name in named}
    data["folders"] = {**data.get("folders", {}), **named}
    result = Path(data["result"])
    text = json.dumps(outcome(data), allow_nan=False)
    part = result.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.rename(result)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
