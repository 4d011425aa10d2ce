"""Try TheAgentCompany's originals by scripted agents, and write a table of all of them.

    python tools/tac_original.py COPY FOLDER [--task NAME ...]   import into FOLDER, let agents that do nothing, a part
                                                                 and all of the work run, grade, and write ROWS
    python tools/tac_original.py COPY FOLDER --table             write ROWS from the stores in FOLDER/*/store

ROWS is docs/reference/tac-original.csv, with a row for each original: whether it can be attempted with the contents of
the public copy (`copy`), with projects written from briefs (`given`; not the original's data) or not (`no`), why not,
and the scores. `expected` is the share that the checkpoints give for the half. An interrupted run goes on where it was.
Judge and colleagues are models on the loopback. The work is that of tests/formats/tac_original_work.py.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from formats.tac_original_work import (  # noqa: E402
    answer_as_company,
    half_work,
    no_work,
    right_work,
    write_stand_ins,
)
from formats.tac_port_runs import Outcome, outcomes, run_work  # noqa: E402
from worksample.errors import ImportFailed  # noqa: E402
from worksample.formats.tac.original_import import OriginalTask, import_original, read_originals  # noqa: E402
from worksample.store import Store  # noqa: E402

ROWS = ROOT / "docs/reference/tac-original.csv"
HEAD = ("task", "attemptable", "why not", "nothing", "half", "expected", "right")
Done = Mapping[str, Mapping[str, Outcome]]


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__ or "", formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("copy", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", dest="tasks", action="append", default=[])
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args(words)
    refused: dict[str, ImportFailed] = {}
    found = read_originals(given.copy, refused)
    if not given.table:
        run(given.copy, given.folder, given.tasks)
    with tempfile.TemporaryDirectory() as folder:
        rows = list(table(found, refused, results(given.folder, found), write_stand_ins(Path(folder))))
    for row in rows:
        if not given.tasks or row[0] in given.tasks:
            sys.stdout.write(f"{', '.join(row)}\n")
    if not given.tasks:
        with ROWS.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD, *rows])
    return 0


def run(copy: Path, folder: Path, tasks: Sequence[str]) -> None:
    """Import the tasks that have scripts, and let all kinds of agents run."""
    works = [work for work in (*right_work(), *half_work()) if not tasks or work.task in tasks]
    names = list(dict.fromkeys(work.task for work in works))
    more, documents = write_stand_ins(folder / "projects"), folder / "documents"
    documents.mkdir(parents=True, exist_ok=True)
    place = folder / "scripted"
    roots = import_original(copy, place / "tac", tasks=names, overwrite=True, more=more, documents=documents)
    packages = dict(zip(names, roots, strict=True))
    run_work(place, packages, [*works, *map(no_work, names)], goes_on=True, answers=answer_as_company)


def results(folder: Path, tasks: Sequence[OriginalTask]) -> Done:
    """Return task -> agent -> outcome of all stores in a folder. A store whose name comes later wins."""
    found: dict[str, dict[str, Outcome]] = {}
    for place in sorted(folder.glob("*/store")):
        with Store.open(place) as store:
            for task, by_agent in outcomes(store, {task.id: task.name for task in tasks}).items():
                graded = {who: one for who, one in by_agent.items() if one.cause != "grader.sandbox"}
                found.setdefault(task, {}).update(graded)
    return found


def table(
    tasks: Sequence[OriginalTask], refused: Mapping[str, ImportFailed], done: Done, more: Path
) -> Iterator[tuple[str, ...]]:
    """Yield a row for each original, sorted by name."""
    expected = {work.task: f"{work.share:.2f}" for work in half_work() if work.share is not None}
    known = {task.name: task for task in tasks}
    for name in sorted({*known, *refused}):
        if name in refused:
            version = f"{sys.version_info[0]}.{sys.version_info[1]}"
            yield name, "no", f"Python {version} cannot read its evaluator", "", "", "", ""
            continue
        task = known[name]
        here, given = task.obstacles(), task.obstacles(None, more)
        # Documents that a task only may use are not given either.
        attemptable = "copy" if not here else "given" if not given or name in done else "no"
        why = "; ".join(given.values()) if attemptable == "no" else ""
        scores = [_score(done.get(name, {}).get(kind)) for kind in ("nothing", "half", "right")]
        yield name, attemptable, why, scores[0], scores[1], expected.get(name, ""), scores[2]


def _score(one: Outcome | None) -> str:
    if one is None:
        return ""
    return f"ungraded ({one.cause})" if one.score is None else f"{one.score:.2f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
