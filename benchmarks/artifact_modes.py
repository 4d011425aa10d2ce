"""Grading throughput of each mode for artifacts, and the memory of its readers, beside a bare Python process.

`python benchmarks/artifact_modes.py [MODE ...]` compares a half-right file with a right one and prints processor time
per comparison, as a ratio to starting Python with NumPy (what a reader process costs before it reads), comparisons per
processor minute, and the largest memory of a reader.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kit.artifact_files import MODES
from worksample.errors import DeliverableError


def cost(work: Callable[[], object]) -> float:
    """Return the processor seconds of this process and its children for one call."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.process_time()
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() - begun + after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_own_process(name: str) -> int:
    """Measure one mode, print its line, and leave: so that the largest memory of a child is this mode's own."""
    mode = next(one for one in MODES if one.name == name)
    floor = min(cost(lambda: subprocess.run([sys.executable, "-c", "import numpy"], check=True)) for _ in range(3))
    with tempfile.TemporaryDirectory() as folder:
        got, want = Path(folder) / f"got{mode.ending}", Path(folder) / f"want{mode.ending}"
        mode.half(got)
        mode.right(want)

        def compare() -> None:
            try:
                mode.compare(got, want)
            except DeliverableError as error:
                print(error)

        compare()
        seconds = min(cost(compare) for _ in range(3))
    held = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{name:14}{seconds:8.3f} s{seconds / floor:8.1f}x{60 / seconds:10.0f}/min{held:8} MB{own:8} MB")
    return 0


def main(names: list[str]) -> int:
    """Measure the named modes, or all, each in a process of its own."""
    if names[:1] == ["--one"]:
        return in_own_process(names[1])
    print(f"{'mode':14}{'processor':>10}{'floor':>9}{'throughput':>14}{'reader':>11}{'grader':>11}")
    for mode in MODES:
        if not names or mode.name in names:
            subprocess.run([sys.executable, __file__, "--one", mode.name], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
