"""`python -m worksample.kit CASE.json [NAME=PATH ...]`: grade one submission in this process and write the result to a
file.

CASE.json has this form: `{"folders": {name: path}, "entry": "grade.py", "settings": {}, "criteria": {...}, "result":
path, "broker": path or null}`. The folder `grader` contains the entry, which is the grader's main file.

The result is `{"grade": {...}}`, or `{"failed": cause, "reason": text}` if the grader failed. Each NAME=PATH on the
command line replaces a path of CASE.json: that of the folder NAME, of `result` or of `broker`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .grader_process import case_data, outcome, write_result


def main(argv: list[str]) -> int:
    """Read CASE.json, grade the submission, and write the result file.

    Readers never see half of a result: the file appears under its name when it is complete. Returns the exit code: 0 if
    a result was written, 2 for wrong arguments.
    """
    if len(argv) < 2 or any("=" not in word for word in argv[2:]):
        sys.stderr.write("usage: python -m worksample.kit CASE.json [NAME=PATH ...]\n")
        return 2
    data = case_data(argv[1], argv[2:])
    write_result(Path(data["result"]), json.dumps(outcome(data), allow_nan=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
