"""What a long list of jobs takes: reading and checking every row, and writing packages, in processor time and memory.

    python benchmarks/jobs_import.py [--rows 10000 100000 1000000] [--packages 2000]

Rows: `import jobs` reads a CSV whose jobs but one in a thousand stay out by a filter, so that nearly all of the time is
reading and checking, which is done twice; beside it polars parses the same file twice. Packages: jobs are written
whole, beside the same files written bare (a folder, three files). Each figure is of a process of its own.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

HEADER = (
    "contract_id", "job_title", "job_description", "contract_amount", "category", "subcategory", "start_ts", "end_ts",
    "contract_type", "status", "payment_verified", "hours", "acceptance_criteria",
)  # fmt: skip
WORDS = [
    "write",
    "check",
    "draw",
    "price",
    "stock",
    "letter",
    "table",
    "lamp",
    "shop",
    "report",
    "week",
    "year",
    "owner",
    "sample",
    "figure",
    "page",
]
ONE_IN = 1000


def write_list(path: Path, rows: int) -> None:
    """A list whose descriptions have about 300 characters; one job in a thousand is completed."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(HEADER)
        for n in range(rows):
            said = " ".join(WORDS[(n * 7 + k * k) % len(WORDS)] for k in range(50))
            out.writerow((
                f"c{n:07}", f"Job {n}: {WORDS[n % 16]}", said, f"${n % 900 + 10}.50", "Writing", "Content Writing",
                "2025-03-01T08:00:00Z", "2025-03-04", "fixed", "open" if n % ONE_IN else "completed", "yes",
                n % 40 + 1, f"critical - Has {n % 9} parts\nimportant - Is short",
            ))  # fmt: skip


def ours(table: Path, out: Path, filters: tuple[str, ...]) -> int:
    from worksample.formats.jobs import ImportJobs, import_jobs

    return len(import_jobs(table, out, ImportJobs(filters=filters)).written)


def floor_of_rows(table: Path) -> int:
    import polars as pl

    return sum(pl.read_csv(table).height for _ in range(2))


def floor_of_packages(table: Path, out: Path) -> int:
    """The same bytes, below folders of the same names; `table` is a suite that was written."""
    written = 0
    for package in (p for p in table.iterdir() if p.is_dir()):
        (out / package.name).mkdir(parents=True)
        for file in (p for p in package.iterdir() if p.is_file()):
            (out / package.name / file.name).write_bytes(file.read_bytes())
        written += 1
    return written


def apart(verb: str, *words: object) -> tuple[float, float]:
    """(processor seconds, MiB at the peak) of a process that does one thing, without what starting takes."""
    done = subprocess.run(
        [sys.executable, __file__, "--do", json.dumps([verb, *map(str, words)])],
        capture_output=True, text=True, check=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    seconds, peak = json.loads(done.stdout)
    return seconds, peak


def do(words: list[str]) -> None:
    verbs: dict[str, Callable[[], object]] = {
        "rows": lambda: ours(Path(words[1]), Path(words[2]), ("completed",)),
        "packages": lambda: ours(Path(words[1]), Path(words[2]), ()),
        "floor of rows": lambda: floor_of_rows(Path(words[1])),
        "floor of packages": lambda: floor_of_packages(Path(words[1]), Path(words[2])),
    }
    import polars  # noqa: F401

    import worksample.formats.jobs  # noqa: F401

    start = time.process_time()
    verbs[words[0]]()
    seconds = time.process_time() - start
    print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    asked.add_argument("--packages", type=int, default=2_000)
    asked.add_argument("--do")
    said = asked.parse_args()
    if said.do:
        do(json.loads(said.do))
        return
    with tempfile.TemporaryDirectory() as where:
        folder = Path(where)
        for rows in said.rows:
            table = folder / f"{rows}.csv"
            write_list(table, rows)
            (seconds, peak), (bare, least) = apart("rows", table, folder / f"o{rows}"), apart("floor of rows", table)
            print(
                f"{rows:>9,} rows: {seconds:7.1f} s ({seconds / rows * 1e6:.0f} us a row), {peak:.0f} MiB; "
                f"polars {bare:.2f} s, {least:.0f} MiB; {seconds / bare:.0f} x",
                flush=True,
            )
            table.unlink()
        table = folder / "packages.csv"
        write_list(table, said.packages)
        seconds, peak = apart("packages", table, folder / "suite")
        bare, _ = apart("floor of packages", folder / "suite", folder / "bare")
        print(
            f"{said.packages:>9,} packages: {seconds:.1f} s ({seconds / said.packages * 1e3:.2f} ms each), "
            f"{peak:.0f} MiB; "
            f"bare {bare:.1f} s; {seconds / bare:.1f} x"
        )


if __name__ == "__main__":
    main()
