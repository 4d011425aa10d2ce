"""Every figure that is quoted: pure functions from columns to values with intervals, counts and notes.

Nothing here knows a store. Columns are polars Series, numpy arrays or sequences; what is missing is null, and NaN is an
error. Every figure is an `Estimate`, which has no value exactly where it says why. docs/metrics.md defines them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.lazy import lazily

if TYPE_CHECKING:
    from .attempts.ceiling import CeilingFit, ceiling_bound, fit_ceiling
    from .attempts.hazards import Attempt, Histories, attempts_frame, histories, passed_within
    from .attempts.lifts import RubricLifts, SuccessLifts, lifts_from_counts, rubric_lifts, success_lifts
    from .attempts.pass_at_k import pass_at_k, pass_at_k_each
    from .calibration.constant_judge import OneAnswer, one_answer_of
    from .calibration.corrected import Corrected, corrected
    from .calibration.draw import draw_labels
    from .calibration.judge_copying import Copying, find_copying
    from .calibration.judge_kindness import Kindness, kindness_of
    from .calibration.overshoot import overshoot_of
    from .calibration.ppi_preferences import rectified
    from .calibration.proof import Proof, Route, Standing, prove, prove_by, route
    from .calibration.rules import CalibrationRules
    from .calibration.sample import Kind, Sample
    from .columns import Codes, codes
    from .comparison.correlation import correlate, pearson_p, representativeness
    from .comparison.effects import Configurations, Effect, harness_effect, model_effect
    from .comparison.paired import Comparison, paired_difference
    from .comparison.power import (
        Aim,
        Plan,
        Variances,
        detectable,
        planned_variances,
        plans,
        power_of,
        tasks_needed,
        variance_components,
        with_correlation,
    )
    from .comparison.ranking import PairTest, Ranking, holm, rank_agents
    from .counts import Counts, State, count_states
    from .effort.budget import BudgetPoint, frontier, score_against_budget
    from .effort.horizon import Horizon, time_horizon
    from .effort.trend import doubling_time
    from .estimate import Estimate, Unit, tabulate
    from .judgments.agreement import HOLISTIC, PASS_FAIL, PREFERENCE, Agreement, Scale, measure_agreement
    from .judgments.false_negatives import false_negative_bound
    from .judgments.integrity import Struck, with_and_without
    from .judgments.votes import (
        THREE_VOTES,
        TIE_BREAK,
        Ballots,
        HolisticVerdict,
        VoteProtocol,
        automation_rate,
        ballot_verdicts,
        holistic_verdict,
        holistic_verdicts,
    )
    from .money.autoflation import Bundle, autoflation_over_time, measure_autoflation
    from .money.deployable import Checking, DeployableCost, break_even_success, deployable_cost
    from .money.dollars import Dollars, dollars_earned, midpoint
    from .money.prices import Calls, Price, call_costs, cost_per_instance, trial_costs
    from .money.regions import Choice, ChosenRegion, Outcomes, choose_from_jobs
    from .money.value import Approach, Decision, Region, break_even, break_even_from_jobs, decide_by_value
    from .ratings.connectivity import Connectivity, check_connectivity
    from .ratings.elo import EloOptions, EloTable, elo_ratings, win_probability
    from .ratings.pair_sums import PairSums, compare_tables, pair_sums
    from .ratings.preferences import human_comparisons, pair_preference, project_preferences
    from .rounding import percent, round_half_up
    from .scores.checkpoints import by_group, checkpoint_scores, mean_steps, success_rate, suite_score
    from .scores.median import median_amount
    from .scores.rates import apply_by, mean_score, rate
    from .scores.rollup import roll_up
    from .scores.rubric import UPBENCH, Mark, RubricRules, rubric_scores
    from .scores.tiers import Spread, Tier, Trials, full_pass, repeat_spread, tier_table
    from .scores.timeouts import Timeouts, timeout_table
    from .uncertainty.bootstrap import Resampling
    from .uncertainty.intervals import exact, exact_upper, fisher, wilson

# fmt: off
__all__ = [
    "HOLISTIC",
    "PASS_FAIL",
    "PREFERENCE",
    "THREE_VOTES",
    "TIE_BREAK",
    "UPBENCH",
    "Agreement",
    "Aim",
    "Approach",
    "Attempt",
    "Ballots",
    "BudgetPoint",
    "Bundle",
    "CalibrationRules",
    "Calls",
    "CeilingFit",
    "Checking",
    "Choice",
    "ChosenRegion",
    "Codes",
    "Comparison",
    "Configurations",
    "Connectivity",
    "Copying",
    "Corrected",
    "Counts",
    "Decision",
    "DeployableCost",
    "Dollars",
    "Effect",
    "EloOptions",
    "EloTable",
    "Estimate",
    "Histories",
    "HolisticVerdict",
    "Horizon",
    "Kind",
    "Kindness",
    "Mark",
    "OneAnswer",
    "Outcomes",
    "PairSums",
    "PairTest",
    "Plan",
    "Price",
    "Proof",
    "Ranking",
    "Region",
    "Resampling",
    "Route",
    "RubricLifts",
    "RubricRules",
    "Sample",
    "Scale",
    "Spread",
    "Standing",
    "State",
    "Struck",
    "SuccessLifts",
    "Tier",
    "Timeouts",
    "Trials",
    "Unit",
    "Variances",
    "VoteProtocol",
    "apply_by",
    "attempts_frame",
    "autoflation_over_time",
    "automation_rate",
    "ballot_verdicts",
    "break_even",
    "break_even_from_jobs",
    "break_even_success",
    "by_group",
    "call_costs",
    "ceiling_bound",
    "check_connectivity",
    "checkpoint_scores",
    "choose_from_jobs",
    "codes",
    "compare_tables",
    "corrected",
    "correlate",
    "cost_per_instance",
    "count_states",
    "decide_by_value",
    "deployable_cost",
    "detectable",
    "dollars_earned",
    "doubling_time",
    "draw_labels",
    "elo_ratings",
    "exact",
    "exact_upper",
    "false_negative_bound",
    "find_copying",
    "fisher",
    "fit_ceiling",
    "frontier",
    "full_pass",
    "harness_effect",
    "histories",
    "holistic_verdict",
    "holistic_verdicts",
    "holm",
    "human_comparisons",
    "kindness_of",
    "lifts_from_counts",
    "mean_score",
    "mean_steps",
    "measure_agreement",
    "measure_autoflation",
    "median_amount",
    "midpoint",
    "model_effect",
    "one_answer_of",
    "overshoot_of",
    "pair_preference",
    "pair_sums",
    "paired_difference",
    "pass_at_k",
    "pass_at_k_each",
    "passed_within",
    "pearson_p",
    "percent",
    "planned_variances",
    "plans",
    "power_of",
    "project_preferences",
    "prove",
    "prove_by",
    "rank_agents",
    "rate",
    "rectified",
    "repeat_spread",
    "representativeness",
    "roll_up",
    "round_half_up",
    "route",
    "rubric_lifts",
    "rubric_scores",
    "score_against_budget",
    "success_lifts",
    "success_rate",
    "suite_score",
    "tabulate",
    "tasks_needed",
    "tier_table",
    "time_horizon",
    "timeout_table",
    "trial_costs",
    "variance_components",
    "wilson",
    "win_probability",
    "with_and_without",
    "with_correlation",
]
# fmt: on

__getattr__ = lazily(__name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
