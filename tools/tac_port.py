"""Carry out the port's 39 tasks of TheAgentCompany, right and wrong, from import to grade.

Scores are in docs/reference/tac-port.csv.

    python tools/tac_port.py FOLDER [TASK ...]   run all, or these, in FOLDER, which keeps the store; writes the CSV
                                                 where all ran
    python tools/tac_port.py --table FOLDER      write the CSV from FOLDER's store

An hour of processor time or less. The work is that of tests/formats/tac_port_work.py; judge and colleagues are models
on the loopback.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from formats.tac_port_runs import WHO, Outcome, outcomes, run_port_tasks  # noqa: E402
from worksample.formats.tac.port_import import installed_tasks  # noqa: E402
from worksample.store import Store  # noqa: E402

ROWS = ROOT / "docs/reference/tac-port.csv"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__ or "", formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args(words)
    names = {f"tac-{task.name.replace('_', '-')}": task.name for task in installed_tasks()}
    if given.table:
        with Store.open(given.folder / "store") as store:
            found = outcomes(store, names)
    else:
        found = run_port_tasks(given.folder, tuple(given.tasks))
    for task, both in sorted(found.items()):
        sys.stdout.write(f"{task}: {' / '.join(_score(both.get(who)) for who in WHO)}\n")
    if len(found) == len(names):
        _write(found)
    return 0


def _score(one: Outcome | None) -> str:
    return "not run" if one is None else "ungraded" if one.score is None else f"{one.score:.2f}"


def _write(found: dict[str, dict[str, Outcome]]) -> None:
    with ROWS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("task", "right", "wrong", "why not more"))
        for task, both in sorted(found.items()):
            right = both.get("right")
            why = right.reason.splitlines()[0][:160] if right is not None and right.score is None else ""
            writer.writerow((task, _score(right), _score(both.get("wrong")), why))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
