"""Script for the grading box that grades many states one after another, each at the paths that evaluators read.

`python tac_grade_states.py CASES RESULTS`: CASES holds `cases.json` (a list of {key, task}) and a folder per key with
`workspace/`, `utils/`, `data/` and `trajectory/`; RESULTS gets {key: {score, parts, reason} or {cause, reason}}.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from worksample.errors import GraderError
from worksample.formats.tac.evaluate import evaluate
from worksample.kit import Case

PLACES = {"workspace": Path("/workspace"), "utils": Path("/utils"), "data": Path("/data")}
NAMES = {"workspace": "output", "utils": "reference", "data": "input"}


def lay_out(source: Path) -> None:
    for name, place in PLACES.items():
        for old in place.iterdir():
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        if (source / name).is_dir():
            shutil.copytree(source / name, place, dirs_exist_ok=True)


def main(cases: Path, results: Path) -> None:
    found = {}
    for item in json.loads((cases / "cases.json").read_text()):
        lay_out(cases / item["key"])
        folders = {NAMES[name]: place for name, place in PLACES.items()}
        try:
            grade = evaluate(Case({**folders, "trajectory": cases / item["key"] / "trajectory"}), item["task"])
            parts = [(p.points, p.fraction) for p in grade.parts]
            found[item["key"]] = {"score": grade.score, "parts": parts, "reason": grade.reason}
        except GraderError as fault:
            found[item["key"]] = {"cause": str(fault.cause), "reason": str(fault)}
    results.write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
