"""How often every interval holds the truth: simulated benchmarks of known truth, drawn again and again.

`python benchmarks/coverage.py` prints the table of docs/metrics.md; `--seeds 2000 --write` puts it there. `--only NAME`
and `--sizes 5,40` make it quick; `--hard` draws the worlds that break what intervals take for granted.
With `--keep FILE` it can be stopped at any time and goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

# A test loads this file by its path.
sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.coverage_cells import Kept, Table, World
from benchmarks.coverage_cells import run as run_worlds
from benchmarks.coverage_hard import HARD
from benchmarks.coverage_worlds import WORLDS

SIZES = {5: "5", 10: "10", 40: "40", 149: "ALE 149", 175: "TAC 175", 240: "RLI 240", 322: "UpBench 322"}


ROWS = {
    "rate": "rate, 10% pass", "automation_rate": "rate, 2 instances", "success_rate": "rate, 3 repeats",
    "full_pass": "full pass, 3 repeats", "tier_table": "full pass, 3 repeats", "by_group": "S_partial",
    "mean_score": "mean score, symmetric", "suite_score": "S_partial", "mean_steps": "steps",
    "cost_per_instance": "cost per trial", "timeout_table": "timeout rate",
    "score_against_budget": "score against budget",
    "paired_difference": "paired difference, 1 repeats, equal agents", "roll_up": "rolled up, all",
    "dollars_earned": "share of dollars, 2% pass", "measure_autoflation": "autoflation, 10% pass",
    "autoflation_over_time": "autoflation, 10% pass", "deployable_cost": "deployable cost, 3 repeats",
    "break_even_from_jobs": "break-even value", "pass_at_k": "pass@2 of 5", "success_lifts": "rescue rate",
    "lifts_from_counts": "relative lift", "rubric_lifts": "rubric lift", "passed_within": "passed within 2",
    "measure_agreement": "agreement", "false_negative_bound": "false negatives (one-sided)",
    "elo_ratings": "Elo of a weak agent", "time_horizon": "50 % time horizon", "model_effect": "model spread",
    "harness_effect": "model deviation", "correlate": "correlation", "representativeness": "correlation",
    "median_amount": "median cost",
    "rank_agents": "rank of the middle one of five", "fit_ceiling": "ceiling",
    "doubling_time": "doubling time of horizons",
}  # fmt: skip
"""By public function of `worksample.metrics` whose figures have intervals: a row that shows how often they hold."""


def run(
    seeds: int, sizes: tuple[int, ...], only: str = "", kept: Kept | None = None, worlds: tuple[World, ...] = WORLDS
) -> Table:
    """Row -> size -> cell, of the worlds whose names hold `only`."""
    chosen = [(place, world) for place, world in enumerate(worlds) if only in world.__name__]
    return run_worlds(chosen, seeds, sizes, kept)


def table(found: Table, sizes: tuple[int, ...], seeds: int) -> str:
    heads = [SIZES.get(size, str(size)) for size in sizes]
    lines = [f"| coverage in % of {seeds} benchmarks | " + " | ".join(heads) + " |", "|---" * (len(sizes) + 1) + "|"]
    for row, cells in found.items():
        lines.append(f"| {row} | " + " | ".join(str(cells.get(s, "")) for s in sizes) + " |")
        if "equal agents" in row or "10 points" in row or "planned" in row:
            name = "false alarms" if "equal" in row else "power"
            given = (cells[s] for s in sizes)
            told = ("none" if c.none == c.seeds else f"{100 * c.alarms / (c.seeds - c.none):.1f}" for c in given)
            lines.append(f"| ... {name} | " + " | ".join(told) + " |")
    return "\n".join(lines)


MARKS = {False: ("<!-- coverage -->", "<!-- /coverage -->"), True: ("<!-- hard -->", "<!-- /hard -->")}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--seeds", type=int, default=200)
    options.add_argument("--sizes", default=",".join(map(str, SIZES)))
    options.add_argument("--only", default="")
    options.add_argument("--keep", type=Path, default=None, help="a file of finished blocks, to go on from")
    options.add_argument("--hard", action="store_true", help="worlds that break what intervals take for granted")
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    sizes = tuple(int(s) for s in given.sizes.split(","))
    began = time.process_time()
    found = run(given.seeds, sizes, given.only, Kept(given.keep), HARD if given.hard else WORLDS)
    text = table(found, sizes, given.seeds)
    print(text)
    print(f"{time.process_time() - began:.0f} s of processor time", file=sys.stderr)
    if given.write:
        page = Path(__file__).parents[1] / "docs/metrics.md"
        begin, end = MARKS[given.hard]
        before, _, rest = page.read_text(encoding="utf-8").partition(begin)
        page.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
