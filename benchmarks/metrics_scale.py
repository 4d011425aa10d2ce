"""All metrics over up to ten million evaluations, beside polars reading and averaging the very same columns.

    python benchmarks/metrics_scale.py [ROWS ...]          (default 10000 100000 1000000 10000000)

Parquet files as a store gives them: evaluations (three votes on each submission, in random order), submissions of 50
agents in the order of the plan (score, price, hours, cost, tier, subdomain), and projects; every column enters a
figure. Beside the metrics stand two scans of the same columns: the mean of each per agent or vote, and per submission,
which verdicts need.

Each size runs in a process of its own, so that its peak memory is its own; metrics and scans take turns, the best of
each counts. Seconds are of the processor, with one thread for linear algebra, whose idle threads would count as work.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from worksample import metrics as m

AGENTS = 50
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
HOW = m.Resampling(1000)
TURNS = 4


def simulate(rows: int, folder: Path) -> None:
    """Write both files."""
    rng = np.random.default_rng(3)
    projects = max(2, rows // 3 // AGENTS)
    count = projects * AGENTS
    submission = np.arange(count)
    project, agent = submission % projects, submission // projects
    good = rng.random(count) < 0.7 * rng.random(projects)[project]
    price = np.exp(rng.normal(5, 1, projects)).round(2)
    hours = price / 20
    names = pl.Series([f"agent{k:02d}" for k in range(AGENTS)])
    pl.DataFrame(
        {
            "submission": submission.astype(np.int32),
            "project": project.astype(np.int32),
            "agent": names.gather(agent).cast(pl.Categorical),
            "score": np.where(good, 1.0, rng.random(count).round(2)),
            "price": price[project],
            "hours": hours[project],
            "cost": rng.exponential(3, count).round(4),
            "late": rng.random(count) < 0.03,
            "tier": (project % 3).astype(np.int8),
            "subdomain": (project % 55).astype(np.int8),
        }
    ).write_parquet(folder / "submissions.parquet")
    pl.DataFrame({"project": np.arange(projects, dtype=np.int32), "price": price}).write_parquet(
        folder / "projects.parquet"
    )
    order = rng.permutation(np.repeat(submission, 3))
    vote = 1 + np.where(rng.random(len(order)) < 0.93, good[order], ~good[order])
    vote += (vote == 2) & (rng.random(len(order)) < 0.3)
    pl.DataFrame(
        {
            "submission": order.astype(np.int32),
            "vote": vote.astype(np.int8),
        }
    ).write_parquet(folder / "evaluations.parquet")


def scan(folder: Path, votes_by: str, work_by: str) -> None:
    """Read both files and take the mean of every column."""
    work = pl.scan_parquet(folder / "submissions.parquet")
    votes = pl.scan_parquet(folder / "evaluations.parquet")
    mean = pl.all().exclude(work_by, "agent").mean()
    work.group_by(work_by).agg(mean).collect()
    votes.group_by(votes_by).agg(pl.all().exclude(votes_by).mean()).collect()


def everything(folder: Path, spent: dict[str, float]) -> int:
    """Every figure that the two tables allow; how many figures there are."""
    figures = 0

    def step(name: str, work: Callable[[], Any]) -> Any:
        nonlocal figures
        began = time.process_time()
        found = work()
        spent[name] = time.process_time() - began
        figures += len(found) if isinstance(found, (dict, list, tuple)) else 1
        return found

    votes = step("read", lambda: pl.read_parquet(folder / "evaluations.parquet").rechunk())
    work = step("read submissions", lambda: pl.read_parquet(folder / "submissions.parquet").rechunk())
    ballots = m.Ballots(votes["submission"], votes["vote"])
    verdicts = step("verdicts", lambda: m.ballot_verdicts(ballots))
    step("agreement", lambda: m.measure_agreement(ballots).all())
    passed, agent, project = verdicts["passed"], work["agent"], m.codes("project", work["project"])
    # Five figures per agent: where each agent's rows are not together, as in a plan, they are brought together once.
    mine = step("rows by agent", lambda: together(work, passed))
    for name, metric, columns in PER_AGENT:
        step(name, lambda: m.apply_by(metric, mine["agent"], {k: mine[c] for k, c in columns.items()}))  # noqa: B023
    bundle = step("bundle", lambda: pl.read_parquet(folder / "projects.parquet"))
    prices = m.Bundle(bundle["project"], bundle["price"])
    step("autoflation", lambda: m.measure_autoflation(prices, project, work["cost"], passed, HOW))
    trials = m.TrialColumns(work["score"], project, work["submission"])
    step("tiers", lambda: m.tier_table(trials, work["tier"], {"cost": work["cost"]}, how=HOW))
    step("timeouts", lambda: m.timeout_table(trials, work["late"], work["tier"], HOW))
    step("roll-up", lambda: m.roll_up(work["score"], {"subdomain": work["subdomain"]}, how=HOW))
    half = len(work) // 2 // (len(work) // AGENTS or 1) * (len(work) // AGENTS or 1)
    one = m.TrialColumns(work["score"][:half], work["project"][:half], agent[:half])
    step("repeat spread", lambda: m.repeat_spread(one))
    human = m.human_comparisons(work["project"], agent, verdicts["label"])
    sums = step("gather comparisons", lambda: m.compare_tables(human))
    step("Elo", lambda: m.elo_ratings(sums, m.EloOptions(interval="sandwich")).ratings)
    return figures


def earned(price: pl.Series, passed: pl.Series) -> m.Estimate:
    return m.dollars_earned(price, passed, how=HOW).earned


def deployed(passed: pl.Series, ai: pl.Series, human: pl.Series) -> m.Estimate:
    return m.deployable_cost(passed, ai, human, m.Checking(5), how=HOW).cost


def horizon(hours: pl.Series, passed: pl.Series) -> m.Estimate:
    return m.time_horizon(hours, passed, how=HOW).horizons[0.5]


def together(work: pl.DataFrame, passed: pl.Series) -> pl.DataFrame:
    by_agent = work["agent"].to_physical().to_numpy()
    mine = work.drop("late", "tier", "subdomain").hstack([passed])
    # As many changes from row to row as there are agents, less one: each agent's rows stand together.
    is_together = np.count_nonzero(by_agent[1:] != by_agent[:-1]) < work["agent"].n_unique()
    return mine if is_together else mine.sort(pl.col("agent").to_physical())


PER_AGENT: tuple[tuple[str, Callable[..., m.Estimate], dict[str, str]], ...] = (
    ("automation rate", m.automation_rate, {"passed": "passed"}),
    ("mean score", partial(m.mean_score, how=HOW), {"score": "score", "task": "project"}),
    ("dollars", earned, {"price": "price", "passed": "passed"}),
    ("deployable cost", deployed, {"passed": "passed", "ai": "cost", "human": "price"}),
    ("time horizon", horizon, {"hours": "hours", "passed": "passed"}),
)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it gives, and the seconds of the processor that it took."""
    began = time.process_time()
    return work(), time.process_time() - began


def child(rows: int) -> None:
    """Measure one size and print it as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        simulate(rows, Path(folder))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result: dict[str, Any] = {"rows": rows, "steps": {}}
        scans = {"scan by agent": ("vote", "agent"), "scan by submission": ("submission", "submission")}
        for turn in range(TURNS):
            spent: dict[str, float] = {}
            result["figures"], total = timed(lambda: everything(Path(folder), spent))  # noqa: B023
            if not turn:
                result["memory"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            if total < result.get("all", float("inf")):
                result |= {"all": total, "steps": spent}
            for name, keys in scans.items():
                _, took = timed(lambda: scan(Path(folder), *keys))  # noqa: B023
                result[name] = min(took, result.get(name, float("inf")))
    print(json.dumps(result))


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(int(sys.argv[2]))
        return
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    for rows in [int(a) for a in sys.argv[1:] if a.isdigit()] or SIZES:
        done = subprocess.run(
            [sys.executable, __file__, "--child", str(rows)],
            capture_output=True,
            text=True,
            check=True,
            env=env,
            encoding="utf-8",
            errors="replace",
        )
        found = json.loads(done.stdout)
        print(
            f"{rows:>11,} evaluations: all {found['all']:7.2f} s   scan by agent {found['scan by agent']:6.2f} s"
            f" ({found['all'] / found['scan by agent']:.1f} x)   by submission {found['scan by submission']:6.2f} s"
            f" ({found['all'] / found['scan by submission']:.1f} x)   {found['memory']:,.0f} MB more at the peak"
        )
        if "-v" in sys.argv or rows == max(SIZES):
            for name, seconds in sorted(found["steps"].items(), key=lambda item: -item[1]):
                print(f"    {name:20}{seconds:7.2f} s")


if __name__ == "__main__":
    main()
