"""Grade junk with the evaluators of a checkout of Agents' Last Exam, and count what is 0, ungraded, or passes.

    python tools/ale_grading.py CHECKOUT FOLDER [--tier NAME] [--package DOMAIN/TASK ...]

Every Linux package is imported into FOLDER. Its first instance is graded with files of junk under every output name
that its metadata give: without a reference (`absent`), and with other junk under every reference name (`junk`). Nothing
may pass, and without a reference nothing may be 0 unless the package grades itself.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from worksample.audit.control_submissions import control_case
from worksample.formats.ale import AleListing, list_packages, read_checkout
from worksample.formats.ale.obstacles import path_fault
from worksample.formats.ale.task_import import import_ale
from worksample.grading import grade, open_round
from worksample.records import Evaluation, GradePayload
from worksample.store import Store
from worksample.tasks import ingest, read_package

JUNK, OTHER_JUNK = b"junk,1\n2,3\n", b"other junk;4\n5;6\n"
ABSENT, JUNK_REFERENCE = "absent", "junk"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__ or "", formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tier", default="")
    parser.add_argument("--package", dest="packages", action="append", default=[])
    given = parser.parse_args(words)
    found = [
        one for one in read_checkout(given.checkout, given.tier) if not given.packages or one.place in given.packages
    ]
    listings = [one for one in list_packages(found, given.checkout) if _is_graded(one)]
    rows = asyncio.run(grade_all(listings, given.checkout, given.folder))
    with (given.folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("package", "reference", "score", "cause", "reason"), *rows])
    for (reference, result), count in sorted(Counter((row[1], _kind(row)) for row in rows).items()):
        sys.stdout.write(f"{reference}\t{result}\t{count}\n")
    return 0


def _is_graded(one: AleListing) -> bool:
    return bool(one.instances) and one.instances[0].system == "linux" and not path_fault(one.instances[0].paths)


def _kind(row: tuple[str, ...]) -> str:
    return row[3] or ("0" if float(row[2]) == 0 else "above 0")


async def grade_all(listings: list[AleListing], checkout: Path, folder: Path) -> list[tuple[str, ...]]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    places = asyncio.Semaphore(2)
    rows: list[tuple[str, ...]] = []
    for reference in (ABSENT, JUNK_REFERENCE):
        packages = import_ale(listings, checkout, folder / reference)
        by_place = {task.package: folder / reference / task.name for task in packages}
        for one in listings:
            _write_junk(one, by_place[one.package.place], folder / "work" / one.package.place, reference)
        with Store.open(folder / f"store-{reference}", create=True) as store:
            work = [_grade_one(places, store, by_place[one.package.place], folder, one, reference) for one in listings]
            rows += await asyncio.gather(*work)
    return rows


async def _grade_one(
    places: asyncio.Semaphore, store: Store, root: Path, folder: Path, one: AleListing, reference: str
) -> tuple[str, ...]:
    async with places:
        return (one.package.place, reference, *await _grade(store, root, folder / "work" / one.package.place))


def _write_junk(one: AleListing, root: Path, work: Path, reference: str) -> None:
    first = one.instances[0]
    (work / "output").mkdir(parents=True, exist_ok=True)
    for path in _paths(first.metadata, first.paths["output"]):
        _write(work / "output" / path, JUNK)
    if reference == JUNK_REFERENCE:
        _write(root / "reference" / first.name / "junk.txt", OTHER_JUNK)
        for path in _paths(first.metadata, first.paths["reference"]):
            _write(root / "reference" / first.name / path, OTHER_JUNK)


def _write(path: Path, data: bytes) -> None:
    if path.suffix and not path.exists() and not any(parent.is_file() for parent in path.parents):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _paths(value: Any, below: str) -> Iterator[str]:
    """Yield the paths below a folder in a task's metadata."""
    if isinstance(value, dict):
        for one in value.values():
            yield from _paths(one, below)
    elif isinstance(value, list):
        for one in value:
            yield from _paths(one, below)
    elif isinstance(value, str) and value.startswith(below + "/"):
        yield value[len(below) + 1 :]


async def _grade(store: Store, root: Path, work: Path) -> tuple[str, str, str]:
    """Return score, cause and reason."""
    taken = ingest(read_package(root), store.blobs)
    store.commit(taken.task, *taken.instances)
    instance = taken.instances[0]
    submission = control_case(store, instance, "junk", work)
    round = open_round(store, subjects=(submission.id,), author="tool")
    evaluation: Evaluation = await grade(store, round, submission, instance)
    if isinstance(evaluation.payload, GradePayload):
        return f"{evaluation.payload.score:g}", "", evaluation.payload.reason[:300]
    return "", str(evaluation.cause or ""), evaluation.reason[:300]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
