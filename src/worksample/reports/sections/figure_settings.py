"""Settings of figures: breakdowns, prices, whose answers count, and intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from worksample import metrics as m
from worksample.errors import UsageError
from worksample.metrics import CalibrationRules, Checking, Resampling, RubricRules
from worksample.models.price import Price
from worksample.records import JudgedBy
from worksample.records.enum_members import member
from worksample.results.calibration.config import calibration_of
from worksample.results.result_set import ResultSet, WorkRules
from worksample.results.subset import Subset

BY = ("", "agent", "category", "cohort", "domain", "platform", "tier")


@dataclass(frozen=True, slots=True)
class MeasureConfig:
    """Settings of figures. Raises UsageError for a breakdown that is not in `BY`, and for a negative wage or budget."""

    by: str = ""
    """Column of the work by which the figures of every agent are broken down. "agent" leaves out all breakdowns."""
    illustrative: bool = False
    """Whether prices and hours that are only illustrative count. If they do, notes say so."""
    struck: bool = True
    """Whether to leave out work that an integrity review struck. If False, struck trials and submissions count like all
    others.
    """
    judged_by: JudgedBy | None = None
    """Whose answers make the verdicts, as a `JudgedBy` or its text. None means: as the experiments state, or combined
    if they state nothing.
    """
    skips: Literal["cause", "paper"] = "cause"
    """How skipped criteria count: by their cause, or as misses, which is UpBench's own formula (5.2.1)."""
    pitfalls_gate: bool = False
    """Whether a pitfall must be absent for a job to be completed (UpBench A.3)."""
    budgets: tuple[float, ...] = ()
    """Budgets per trial, in US dollars, for the table of score against budget. By default, quantiles of the observed
    costs are used.
    """
    elo_weight: Literal["pair", "comparison"] = "pair"
    """What has weight 1 in Elo scores: every pair of agents (RLI B.2), or every comparison, which gives smaller errors
    if comparisons are few.
    """
    hourly: float | None = None
    """Pay in US dollars per hour of experts who give feedback and of people who judge. Without it, their time has no
    cost.
    """
    checking: Checking = field(default_factory=Checking)
    """The check that a buyer runs on every deliverable, for the deployable cost."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """List prices by model. If given, the cost of trials at list prices without caching is shown beside the billed
    cost.
    """
    where: Subset = field(default_factory=Subset)
    """The part of the work that is shown: agents, arms, categories, tiers, tags, ..."""
    calibration: CalibrationRules | None = None
    """Rules, set beforehand, for how often a judge must agree with people to be proven. None means: as the experiments
    state.
    """
    how: Resampling = field(default_factory=Resampling)
    """Number of resamples, confidence level and seed for all intervals."""

    def __post_init__(self) -> None:
        if self.judged_by is not None:
            object.__setattr__(self, "judged_by", member(JudgedBy, self.judged_by, "judged_by"))
        if self.by not in BY:
            raise UsageError(f"figures cannot be broken down by {self.by!r}", next=f"one of {', '.join(BY[1:])}")
        if self.skips not in ("cause", "paper"):
            raise UsageError(f"skips = {self.skips!r} is not allowed", next="cause or paper")
        if self.elo_weight not in ("pair", "comparison"):
            raise UsageError(f"elo_weight = {self.elo_weight!r} is not allowed", next="pair or comparison")
        if min((*self.budgets, self.hourly or 0.0)) < 0:
            raise UsageError("budget and hourly must be US dollars, 0 or more", next="--budget 1.5, --hourly 60")

    @property
    def rules(self) -> RubricRules:
        """Rules for skipped criteria and pitfalls of rubrics."""
        return RubricRules("as misses" if self.skips == "paper" else "by cause", self.pitfalls_gate)

    @property
    def work_rules(self) -> WorkRules:
        """Rules of the result set behind these figures."""
        return WorkRules(self.struck, judged_by=self.judged_by, rubric=self.rules, where=self.where)

    def table_columns(self, *names: str) -> tuple[str, ...]:
        """Return the column names of a table: `names`, preceded by the name of the breakdown if there is one."""
        return (self.by, *names) if self.by not in ("", "agent") else names

    @property
    def overlap_notes(self) -> tuple[str, ...]:
        """The note under a table whose groups overlap."""
        return ("groups overlap: do not average them",) if self.by == "platform" else ()


def hourly_rate(results: ResultSet, config: MeasureConfig) -> float | None:
    """Return the pay of people in US dollars per hour: from the config, or else from the chains of the experiments."""
    return results.chain_pay if config.hourly is None else config.hourly


def calibration_rules(results: ResultSet, config: MeasureConfig) -> m.CalibrationRules:
    """Return the calibration rules of the config, or else those set when the experiments were planned.

    Raises UsageError if the experiments have different rules.
    """
    if config.calibration is not None:
        return config.calibration
    found = {planned.rules for e in results.experiments if (planned := calibration_of(e))}
    if len(found) > 1:
        raise UsageError(
            "the experiments set different thresholds for their judges", next="worksample report EXPERIMENT"
        )
    return found.pop() if found else m.CalibrationRules()
