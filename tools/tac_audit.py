"""Audit TheAgentCompany's tasks as published and put what is found into docs/tac-audit.csv and docs/tac.md.

    python tools/tac_audit.py [--parallel N] [--repeats N] [--static] [TASK ...]   audit all, or these
    python tools/tac_audit.py --table                         write the table in docs/tac.md from the CSV

It takes a quarter of an hour, so it is no part of the docs' build. Rows of the CSV: task, kind, check, text. Kinds:
`needs` (to be run), `grading` (to be graded), `control` (check: which one; text: its score), `error`, `warning`,
`note`. Each task's rows are written when it is done; those of an earlier audit of it are replaced. `--static` grades
nothing.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from worksample.audit import AuditConfig, Report, check
from worksample.formats.tac import import_tac
from worksample.formats.tac.importing import available
from worksample.formats.tac.source import Published
from worksample.tasks import read_package

DOCS = Path(__file__).resolve().parent.parent / "docs"
ROWS, PAGE = DOCS / "tac-audit.csv", DOCS / "tac.md"
HEAD = ("task", "kind", "check", "text")
BEGIN, END = "<!-- audit: written by tools/tac_audit.py -->", "<!-- end of audit -->"
CONTROLS = ("nothing", "empty files", "copied inputs")
Row = tuple[str, str, str, str]


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__ or "", formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--static", action="store_true")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args(words)
    if given.table:
        return _write_table()
    known = {task.name: task for task in available()}
    for task in [known[name] for name in given.tasks or known]:
        with tempfile.TemporaryDirectory(prefix="tac-audit-") as folder:
            [made] = import_tac(Path(folder), tasks=[task.name], as_published=True)
            package = read_package(made.package)
            report = check(package, AuditConfig(parallel=given.parallel, repeats=given.repeats, static=given.static))
        _store(task.name, list(_rows(task, report)))
        sys.stdout.write(f"{task.name}: {len(report.errors)} errors, {len(report.graded)} controls\n")
        sys.stdout.flush()
    return 0


def _rows(task: Published, report: Report) -> Iterator[Row]:
    for need in task.needs or ("nothing",):
        yield task.name, "needs", "", need
    looks = task.looks
    sees = [*task.lacking] or ["files and the conversation" if looks.messages else "files"]
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


def _write_table() -> int:
    rows = _load()
    names = sorted({row[0] for row in rows})
    lines = ["| task | grading needs | nothing / empty files / inputs | what the audit found |", "|---|---|---|---|"]
    lines += [_line(name, [row for row in rows if row[0] == name]) for name in names]
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}", encoding="utf-8")
    return 0


def _line(name: str, rows: list[Row]) -> str:
    needs = ", ".join(text for _, kind, _, text in rows if kind == "grading")
    scores = {which: text for _, kind, which, text in rows if kind == "control"}
    shown = " / ".join(_score(scores[c]) for c in CONTROLS if c in scores) or "not graded"
    if scores and all("ungraded" in text for text in scores.values()):
        shown = _ungraded(next(iter(scores.values())))
    errors = [(check, text) for _, kind, check, text in rows if kind == "error"]
    said = [_short(check, text) for check, text in errors if check not in ("controls", "coverage", "leak")]
    leaks = [m[1] for check, text in errors if (m := re.match(r"the reference file (\S+) lies whole", text))]
    if leaks:
        said.insert(0, "in the agent's `/utils`: " + ", ".join(f"`{leak}`" for leak in sorted(set(leaks))))
    return f"| `{name}` | {needs} | {shown} | {'; '.join(dict.fromkeys(s for s in said if s)) or '-'} |"


def _score(text: str) -> str:
    return "ungraded" if text.startswith("ungraded") else f"{float(text):.3g}"


def _ungraded(text: str) -> str:
    """Why all controls are ungraded, where what grading needs does not say it already."""
    reasons = {"differ in": "parts and checkpoints.md differ", "pd.Series": "the evaluator fails", "/data/": "`/data`"}
    return "ungraded" + next((f": {says}" for mark, says in reasons.items() if mark in text), "")


def _short(check: str, text: str) -> str:
    """A finding in a table's words."""
    if check == "points" and "is worth" in text:
        return ""
    patterns = {
        r"^the deliverable '(.+?)' is required but.*": r"grader reads `\1`, never named",
        r"^the grader reads '(.+?)', which the brief.*": r"grader reads `\1`, never named",
        r"^the grader asks for the column or key '(.+?)', which.*": r"column `\1` never named",
        r"^the grader takes '(.+?)' as given from.*": r"`\1` is given, and the agent can change it",
        r"^the brief shows .+? rejects$": "the brief's own example is rejected",
        r"^empty files scores (\S+), expected .*": r"empty files earn \1",
        r"^copied inputs scores (\S+), expected .*": r"copied inputs earn \1",
        r"^nothing scores (\S+), expected .*": r"doing nothing earns \1",
    }
    for pattern, says in patterns.items():
        text = re.sub(pattern, says, text)
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
