"""`worksample --help` beside its floor, `python -c pass`: whole processes in turn, medians and their ratio."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 15
FLOOR = [sys.executable, "-c", "pass"]
HELP = [sys.executable, "-m", "worksample", "--help"]


def seconds(argv: list[str]) -> float:
    """Wall-clock seconds of one process."""
    begun = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def main() -> None:
    for argv in (FLOOR, HELP):
        seconds(argv)
    pairs = [(seconds(FLOOR), seconds(HELP)) for _ in range(RUNS)]
    floor, shown = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"python -c pass      {floor * 1000:7.1f} ms")
    print(f"worksample --help   {shown * 1000:7.1f} ms   of at most 300")
    print(f"ratio               {ratio:7.1f} x")


if __name__ == "__main__":
    main()
