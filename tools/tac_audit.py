"""Audit TheAgentCompany's tasks as published and put what is found into docs/reference/tac-audit.csv.

    python tools/tac_audit.py [--parallel N] [--repeats N] [--static] [TASK ...]   audit all, or these

It takes a quarter of an hour, so it is no part of the docs' build. Rows of the CSV: task, kind, check, text. Kinds:
`needs` (to be run), `grading` (to be graded), `control` (check: which one; text: its score), `error`, `warning`,
`note`. Each task's rows are written when it is done; those of an earlier audit of it are replaced. `--static` grades
nothing.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from worksample.audit import AuditConfig, Report, check
from worksample.formats.tac import import_tac
from worksample.formats.tac.port_import import installed_tasks
from worksample.formats.tac.published_task import PublishedTask
from worksample.tasks import read_package

DOCS = Path(__file__).resolve().parent.parent / "docs"
ROWS = DOCS / "reference/tac-audit.csv"
HEAD = ("task", "kind", "check", "text")
Row = tuple[str, str, str, str]


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__ or "", formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--static", action="store_true")
    given = parser.parse_args(words)
    known = {task.name: task for task in installed_tasks()}
    for task in [known[name] for name in given.tasks or known]:
        with tempfile.TemporaryDirectory(prefix="tac-audit-") as folder:
            [made] = import_tac(Path(folder), tasks=[task.name], as_published=True)
            package = read_package(made.package)
            report = check(package, AuditConfig(parallel=given.parallel, repeats=given.repeats, static=given.static))
        _store(task.name, list(_rows(task, report)))
        sys.stdout.write(f"{task.name}: {len(report.errors)} errors, {len(report.graded)} controls\n")
        sys.stdout.flush()
    return 0


def _rows(task: PublishedTask, report: Report) -> Iterator[Row]:
    for need in task.needs or ("nothing",):
        yield task.name, "needs", "", need
    looks = task.evaluator_needs
    sees = [*task.grading_needs] or ["files and the conversation" if looks.messages else "files"]
    for one in sees:
        yield task.name, "grading", "", one
    for control in report.graded:
        text = f"{control.score:g}" if control.score is not None else f"ungraded: {control.reason}"
        yield task.name, "control", control.control, " ".join(text.split())[:300]
    for finding in report.findings:
        yield task.name, str(finding.severity), str(finding.check), " ".join(finding.what.split())[:400]
    for note in report.notes:
        yield task.name, "note", "", note


def _load() -> list[Row]:
    if not ROWS.is_file():
        return []
    with ROWS.open(encoding="utf-8", newline="") as file:
        return [(row[0], row[1], row[2], row[3]) for row in csv.reader(file)][1:]


def _store(task: str, rows: list[Row]) -> None:
    kept: list[Row] = sorted([row for row in _load() if row[0] != task] + rows, key=lambda row: row[0])
    with ROWS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD)
        writer.writerows(kept)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
