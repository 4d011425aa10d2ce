"""What the store adds to the bare minimum, and how long its index takes to make anew.

    python benchmarks/store.py [--commits 300] [--records 10000 100000]

The floor of a commit is what any durable store must do: write the same bytes to a file, sync it, and insert one row
into SQLite (WAL, synchronous = NORMAL, as ours). Ours also makes records canonical, keeps blobs, syncs these and the
folder, checks for conflicts and settles which trial is live. Both are measured in turn, in rounds of ten, on the same
disk, and medians compared, since a busy disk's syncs vary. Rebuilding and frames are timed over trials with their
submissions and evaluations.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

# In place of this folder, where `store` would be this very file.
sys.path.remove(str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from store.worlds import World, planted
from worksample.records import SubmissionPart
from worksample.results.slot_results import slots_df
from worksample.store import Store, rebuild
from worksample.store.commit_objects import draft
from worksample.store.dataframes import evaluations_df, submissions_df, trials_df

ROUND = 10


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def commits(count: int, folder: Path) -> None:
    """Median milliseconds of a commit of a trial with its submission, beside the floor."""
    world = World(repeats=max(1, count // 4 + 1))
    store = planted(Store.open(folder / "store", create=True), world)
    floor = sqlite3.connect(folder / "floor.sqlite", isolation_level=None)
    floor.execute("PRAGMA journal_mode = WAL")
    floor.execute("PRAGMA synchronous = NORMAL")
    floor.execute("CREATE TABLE rows (id TEXT PRIMARY KEY, body TEXT)")
    took: dict[str, list[float]] = {"floor": [], "records": [], "records and two blobs": []}
    number = iter(range(10 * count))

    def bare() -> None:
        n = next(number)
        trial = world.trial(n % len(world.slots), f"bare{n}", n)
        _, data = draft([trial, world.submission(trial)])
        took["floor"].append(timed(lambda: _floor(folder, floor, n, data)))

    def ours(blobs: int) -> None:
        n = next(number)
        trial = world.trial(n % len(world.slots), f"t{n}", n)
        name = "records and two blobs" if blobs else "records"

        def work() -> None:
            digests = [store.blobs.put(os.urandom(2000)) for _ in range(blobs)]
            part = {"output": SubmissionPart(manifest=digests[0])} if digests else {}
            store.commit(trial, world.submission(trial).replaced(parts=part))

        took[name].append(timed(work))

    for _ in range(count // ROUND):
        for _ in range(ROUND):
            bare()
        for _ in range(ROUND):
            ours(0)
        for _ in range(ROUND):
            ours(2)
    base = statistics.median(took["floor"])
    print(f"{'commit of':28}{'median ms':>12}{'of the floor':>14}")
    for name, values in took.items():
        middle = statistics.median(values)
        print(f"{name:28}{middle * 1e3:12.2f}{middle / base:14.2f}")
    store.close()


def _floor(folder: Path, database: sqlite3.Connection, n: int, data: bytes) -> None:
    fd = os.open(folder / f"floor-{n}", os.O_WRONLY | os.O_CREAT)
    os.write(fd, data)
    os.fsync(fd)
    os.close(fd)
    database.execute("INSERT INTO rows VALUES (?, ?)", (str(n), data.decode()))


def scale(records: int, folder: Path) -> None:
    """Seconds to rebuild the index and to read the frames; three records per trial."""
    count = records // 3
    world = World(repeats=max(1, count // 4))
    store = planted(Store.open(folder / f"scale{records}", create=True), world)
    for start in range(0, len(world.slots), 500):
        trials = [world.trial(n, f"t{n}", n) for n in range(start, min(start + 500, len(world.slots)))]
        store.commit(
            *trials,
            *(world.submission(t) for t in trials),
            *(world.evaluation(f"s-{t.id}", f"e-{t.id}", 0.5) for t in trials),
        )
    total = 0

    def again() -> None:
        nonlocal total
        total = rebuild(store)

    seconds = timed(again)
    frames = (trials_df, submissions_df, evaluations_df, slots_df)
    read = "  ".join(f"{f.__name__} {timed(lambda f=f: f(store)):.2f}" for f in frames)  # type: ignore[misc]
    print(f"{total:9,} records: rebuilt in {seconds:.1f} s, {seconds / total * 1e4:.2f} s per 10,000;  {read} s")
    store.close()


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--commits", type=int, default=300)
    arguments.add_argument("--records", type=int, nargs="*", default=[10_000, 100_000])
    arguments.add_argument("--folder", type=Path, help="where to measure; default: a temporary folder")
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        commits(asked.commits, Path(folder))
        for records in asked.records:
            scale(records, Path(folder))


if __name__ == "__main__":
    main()
