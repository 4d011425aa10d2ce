"""Measure how often intervals hold the truth, on simulated worlds whose truth is known.

    python -m benchmarks.coverage TABLE [--seeds N] [--only NAME] [--sizes ...] [--keep FILE] [--write]

    figures            every figure of `worksample metrics`: docs/data/coverage.csv
    hard               worlds that break what intervals take for granted: docs/explanation/uncertainty.md
    bounds             cells of `figures` above 97 % and the least possible coverage: docs/data/coverage-above-97.csv
    feedback           lifts, feedback less retry, regions: docs/data/feedback.csv
    corrected          figures of a judge that people's labels correct; `--write`: two files of docs/data
    corrected-bounds   how much a corrected figure has to cover above 97 %: docs/data/calibration-cells.csv
    strata             corrected figures of several agents or strata, few labels: docs/data/calibration-strata.csv
    worst              the judge at which a corrected figure covers least

With `--keep FILE` a run can be stopped at any time and goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.coverage import bounds, corrected, corrected_bounds, feedback, figures, strata, worst_judges
from benchmarks.coverage.cells import Kept, Rows, markdown, read_rows, write_rows
from benchmarks.coverage.hard_worlds import HARD
from benchmarks.coverage.worlds import WORLDS

DOCS = Path(__file__).parents[2] / "docs"
CELLS = DOCS / "data/calibration-cells.csv"


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says. `sizes` is as written: `5,40`, or `70x20` for jobs and labels."""

    seeds: int
    only: str
    sizes: str
    keep: Path | None
    write: bool

    def numbers(self, default: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(size) for size in self.sizes.split(",")) if self.sizes else default


@dataclass(frozen=True, slots=True)
class Report:
    """A table that can be made. `page` and `mark`: where `--write` puts it in docs/; a CSV file has no mark."""

    make: Callable[[Options], str | Rows]
    seeds: int = 200
    page: str = ""
    mark: str = ""

    def write(self, made: str | Rows) -> None:
        """Write the file, or put the table between the marks of the page."""
        if not self.mark and not isinstance(made, str):
            write_rows(made, DOCS / self.page)
            return
        text = made if isinstance(made, str) else markdown(made)
        path, begin, end = DOCS / self.page, f"<!-- {self.mark} -->", f"<!-- /{self.mark} -->"
        before, _, rest = path.read_text(encoding="utf-8").partition(begin)
        path.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


def make_figures(options: Options, *, hard: bool = False) -> Rows:
    sizes = options.numbers(tuple(figures.SIZES))
    found = figures.run(options.seeds, sizes, options.only, Kept(options.keep), HARD if hard else WORLDS)
    return figures.table(found, sizes, options.seeds)


def make_corrected(options: Options) -> str:
    found = list(corrected.results(options.seeds, options.only, options.keep))
    summary = corrected.summary(found)
    if options.write:
        corrected.write_cells(found, CELLS)
        write_rows(summary, DOCS / "data/calibration-summary.csv")
    return "\n".join([*corrected.lines(found), markdown(summary)])


def make_corrected_bounds(options: Options) -> str:
    rows, found = corrected.read_cells(CELLS), []
    for row in corrected_bounds.fill(rows):
        found.append(" | ".join(row))
        if options.write:
            corrected.put_cells(rows, CELLS)
    return "\n".join(found)


def make_worst(options: Options) -> str:
    pairs = tuple(tuple(int(n) for n in size.split("x")) for size in options.sizes.split(",") if size)
    sizes = tuple((jobs, labels) for jobs, labels in pairs) or worst_judges.SIZES
    return "\n".join(worst_judges.table(options.seeds, options.only, sizes))


REPORTS = {
    "figures": Report(make_figures, page="data/coverage.csv"),
    "hard": Report(lambda options: make_figures(options, hard=True), page="explanation/uncertainty.md", mark="hard"),
    "bounds": Report(lambda _: bounds.table(read_rows(DOCS / "data/coverage.csv")), page="data/coverage-above-97.csv"),
    "feedback": Report(
        lambda options: feedback.tables(options.seeds, options.numbers(feedback.JOBS), Kept(options.keep)),
        page="data/feedback.csv",
    ),
    "corrected": Report(make_corrected, seeds=1000),
    "corrected-bounds": Report(make_corrected_bounds),
    "strata": Report(
        lambda options: list(strata.table(options.seeds, options.only)), page="data/calibration-strata.csv"
    ),
    "worst": Report(make_worst, seeds=4000),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=REPORTS)
    parser.add_argument("--seeds", type=int, default=None, help="benchmarks drawn for each cell")
    parser.add_argument("--only", default="", help="worlds, or kinds of figures, whose names hold this")
    parser.add_argument("--sizes", default="", help="tasks, such as 5,40; of `worst` jobs and labels, such as 70x20")
    parser.add_argument("--keep", type=Path, default=None, help="a file of what is measured, to resume from")
    parser.add_argument("--write", action="store_true", help="put the table into docs/")
    given = parser.parse_args()
    report = REPORTS[given.table]
    seeds = report.seeds if given.seeds is None else given.seeds
    began = time.process_time()
    made = report.make(Options(seeds, given.only, given.sizes, given.keep, given.write))
    print(made if isinstance(made, str) else markdown(made))
    print(f"{time.process_time() - began:.0f} s of processor time", file=sys.stderr)
    if given.write and report.page:
        report.write(made)


if __name__ == "__main__":
    main()
