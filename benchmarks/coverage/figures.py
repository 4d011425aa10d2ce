"""Coverage of every figure with an interval, and the row of the table that stands for each figure that is shown.

A figure's place is `section: column` (`compare: ...` for the verb of that name). Sections that a report repeats under
another protocol (`scores-rubric`) are the same ones. A test fails for a figure without a row.
"""

from __future__ import annotations

import re

from benchmarks.coverage.cells import Kept, Rows, Table, World
from benchmarks.coverage.cells import run as run_worlds
from benchmarks.coverage.worlds import WORLDS

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


def table(found: Table, sizes: tuple[int, ...], seeds: int) -> Rows:
    rows = [[f"coverage in % of {seeds} benchmarks", *(SIZES.get(size, str(size)) for size in sizes)]]
    for row, cells in found.items():
        rows.append([row, *(str(cells.get(s, "")) for s in sizes)])
        if "equal agents" in row or "10 points" in row or "planned" in row:
            name = "false alarms" if "equal" in row else "power"
            given = (cells[s] for s in sizes)
            told = ("none" if c.none == c.seeds else f"{100 * c.alarms / (c.seeds - c.none):.1f}" for c in given)
            rows.append([f"{row}: {name}", *told])
    return rows


PASSING, SCORES, AMOUNTS = "rate, 3 repeats", "mean score, mostly 0", "cost per trial, heavy tail"
SHOWN: tuple[tuple[str, str], ...] = (
    (r"scores\S*: full pass", "full pass, 3 repeats"),
    (r"scores\S*: mean score", SCORES),
    (r"scores\S*: S_partial", "S_partial"),
    (r"leaderboard: passed", "full pass, 3 repeats"),
    (r"leaderboard: score", SCORES),
    (r"leaderboard: s_partial", "S_partial"),
    (r"leaderboard: earned", "dollars earned"),
    (r"leaderboard: (cost|seconds)", AMOUNTS),
    (r"scores\S*: steps", "steps"),
    (r"scores\S*: (cost|list price|seconds|tokens)", AMOUNTS),
    (r"scores\S*: median (cost|seconds)", "median cost"),
    (r"representativeness: r of the pass rates", "correlation"),
    (r"ranks: rank", "rank of the middle one of five"),
    (r"pairs: full pass", "paired difference, 3 repeats, equal agents"),
    (r"compare: full pass", "paired difference, 3 repeats, equal agents"),
    (r"colleagues: score .*", SCORES),
    (r"colleagues: difference", "paired difference, graded, equal agents"),
    (r"compare: score", "paired difference, graded, equal agents"),
    (r"tiers: .*: pass", "full pass, 3 repeats"),
    (r"(tiers|platform|category|domain|cohort): .*: score", "S_partial"),
    (r"(platform|category|domain|cohort): .*: success", PASSING),
    (r"roll-up: .*", "rolled up, all"),
    (r"timeouts: .*rate", "timeout rate"),
    (r"timeouts: .*", "score of late runs"),
    (r"rubric: completion", PASSING),
    (r"rubric: rubric score", SCORES),
    (r"lifts: p1", PASSING),
    (r"lifts: p overall", "p overall"),
    (r"lifts: absolute lift", "absolute lift"),
    (r"lifts: relative lift", "relative lift"),
    (r"lifts: rescue rate", "rescue rate"),
    (r"lifts: score, (first|overall)", "mean score, symmetric"),
    (r"lifts: absolute score lift", "rubric lift"),
    (r"lifts: relative score lift", "relative rubric lift"),
    (r"performance: P1", PASSING),
    (r"performance: P Overall", "p overall"),
    (r"performance: Abs Lift", "absolute lift"),
    (r"performance: Relative Lift", "relative lift"),
    (r"performance: Rescue Rate", "rescue rate"),
    (r"feedback: rescue rate", "rescue rate"),
    (r"feedback: less .*", "paired difference, 1 repeats, equal agents"),
    (r"feedback-by: passed", PASSING),
    (r"within-k: hazard of \d+", "hazard of attempt 2"),
    (r"within-k: (passed by|within) \d+", "passed within 2"),
    (r"within-k: ceiling", "ceiling"),
    (r"pass-at-k: .*", "pass@2 of 5"),
    (r"(automation|elo|rli-table-3): automation rate", "rate, 2 instances"),
    (r"automation: better than the human", "rate, 2 instances"),
    (r"preferences: .*", "preference"),
    (r"(elo\S*|rli-table-3): (Elo|preferred to the human)", "Elo of a weak agent"),
    (r"dollars\S*: earned", "dollars earned"),
    (r"dollars\S*: share", "share of dollars, 3 repeats"),
    (r"(dollars|autoflation)\S*: autoflation.*", "autoflation, 10% pass"),
    (r"deployable\S*: (deployed|human alone), per job", "deployable cost, 3 repeats"),
    (r"deployable\S*: saving", "saving when deployed, 3 repeats"),
    (r"value\S*: success", PASSING),
    (r"value\S*: value captured", "dollars earned"),
    (r"value\S*: cost per job", AMOUNTS),
    (r"value\S*: break-even with the human", "break-even value"),
    (r"(agreement|failure-agreement|side-by-side): agreement", "agreement"),
    (r"agreement: hard disagreement", "hard disagreement"),
    (r"\S+: on (positives|those that have it)", "agreement on positives"),
    (r"\S+: alpha, nominal", "alpha (nominal)"),
    (r"\S+: alpha, ordinal", "alpha (ordinal)"),
    (r"\S+: alpha, interval", "alpha (interval)"),
    (r"\S+: AC1", "AC1"),
    (r"severity: .*", "paired difference, 1 repeats, equal agents"),
    (r"position: .*", "rate, 4 instances"),
    (r"false-negatives: .*", "false negatives (one-sided)"),
    (r"failures: .*", PASSING),
    (r"criteria: .*", PASSING),
    (r"kinds\S*: (action|accuracy|collaboration)", SCORES),
    (r"judging-time: minutes.*", AMOUNTS),
    (r"effects: spread", "model spread"),
    (r"effects: deviation without chance", "model deviation"),
    (r"horizon: 50 % horizon \(h\)", "50 % time horizon"),
    (r"horizon: 80 % horizon \(h\)", "80 % time horizon"),
    (r"horizon: slope per doubling", "slope of the horizon's curve"),
    (r"horizon-trend: longest .*", "50 % time horizon"),
    (r"horizon-trend: doubling time \(days\)", "doubling time of horizons"),
    (r"budget-\S+: .*", "score against budget"),
    (r"integrity: .*", PASSING),
)


def row_of(place: str) -> str | None:
    """The row for a figure's `section: column`; None where there is none."""
    return next((row for pattern, row in SHOWN if re.fullmatch(pattern, place)), None)


WITHOUT_INTERVAL = (
    r"scores\S*: (run sd|sd of run means|sd of the mean)",
    r"tiers: .*: (sd|cost|hours|tokens)",
    r"ranks: best",
    r"dollars\S*: (possible|not graded)",
    r"representativeness: p of r",
    r"spending: cost( at most)?",
    r"deployable\S*: success needed",
    r"compare: (sign test|not worse)",
)
"""Figures that the data determine, or whose uncertainty nothing here claims to know."""


def has_none(place: str) -> bool:
    """Whether a figure is one that never has an interval."""
    return any(re.fullmatch(pattern, place) for pattern in WITHOUT_INTERVAL)
