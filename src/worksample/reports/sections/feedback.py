"""Effect of re-attempts by arm, on the same failed work: rescue rate, rescue rate of the control arm, cost and
duration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from worksample import metrics as m
from worksample.metrics import Unit
from worksample.records import Feedback
from worksample.results.attempt_chains import JOB
from worksample.results.result_set import ResultSet

from .attempt_chain_rows import ChainJobs
from .figure_settings import MeasureConfig, hourly_rate
from .rescue_by_reviewer import rescue_sections
from .result_rows import Group, agent_groups, attempts_of, groups
from .section import Section
from .value_regions import ALONE, HUMAN, approach_names, feedback_regions

_CONTROLS = (Feedback.RETRY, Feedback.UNCHANGED)


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield sections for experiments with arms that continue the first attempts of another arm."""
    frame = results.judged_frame(results.primary)
    arms = {arm.name: arm.feedback for e in results.experiments for arm in e.arms if arm.continues is not None}
    if frame is None or not arms:
        return
    chains = _Figures(results, config, attempts_of(frame, None), arms)
    if chains.jobs.height:
        yield chains.rescue()
        yield from chains.change()
        yield chains.cost()
        yield chains.pays()
        yield from feedback_regions(results, config, chains.jobs)
        yield from rescue_sections(results, config, chains.rows, chains.arms)


class _Figures(ChainJobs):
    def rescue(self) -> Section:
        """Return the rescue rate: the share of jobs that passed in the end, among jobs whose first attempt failed. The
        rate minus that of the control arm is added.
        """
        failed = self.jobs.filter(~pl.col("first").fill_null(True))
        rows = []
        for group in agent_groups(failed):
            r = group.rows
            cells: dict[str, Any] = {"task": r["task"], "instance": r["instance_name"], "how": self.config.how}
            found = [m.rate(r["passed"], state=r["state"], name="rescue rate", **cells)]
            rows.append(group.line(*found, *(self._less(failed, group, control) for control in _CONTROLS)))
        notes = (
            "arms branch from the same failed attempts: differences are within jobs with a verdict in both arms",
            "less retry: the effect of feedback alone; less unchanged: the effect without the noise of grading again",
        )
        columns = ("rescue rate", "less retry", "less unchanged")
        title = "What feedback adds to a re-attempt"
        return Section("feedback", title, "beyond the papers", columns, tuple(rows), notes)

    def _less(self, failed: pl.DataFrame, group: Group, control: Feedback) -> m.Estimate | str:
        arm = self.arms[group.rows["arm"][0]]
        others = failed.filter(
            (pl.col("agent") == group.agent) & pl.col("arm").is_in([a for a, f in self.arms.items() if f is control])
        )
        if arm is control or not others.height:
            return "-"
        one, two = (
            m.TrialColumns(r["passed"].cast(pl.Float64), r["task"], r["instance_name"]) for r in (others, group.rows)
        )
        return m.paired_difference(one, two, name=f"less {control}", how=self.config.how).difference

    def change(self) -> Iterator[Section]:
        """Yield the change of the success rate from attempt to attempt (UpBench, Figure 6)."""
        most = int(str(self.rows["attempt"].max()))
        if most < 2:
            return
        keys = [*JOB, "arm"]
        rows = []
        for group in groups(self.results, self.config, self.rows):
            first = group.rows.filter(pl.col("attempt") == 1).select(*keys, "task", one="passed")
            cells = []
            for k in range(2, most + 1):
                tried = pl.col("attempt").is_between(2, k) & pl.col("passed").is_not_null()
                later = group.rows.filter(tried).group_by(keys).agg(two=pl.col("passed").any())
                jobs = first.join(later, on=keys, how="left", maintain_order="left")
                again = jobs.select(pl.when(pl.col("one").is_not_null()).then("two")).to_series()
                cells.append(m.success_lifts(jobs["one"], again, task=jobs["task"], how=self.config.how).absolute)
            rows.append(group.line(*cells))
        columns = self.config.table_columns(*(f"change by attempt {k}" for k in range(2, most + 1)))
        notes = ("the share of all jobs that passed at a re-attempt up to this one", *self.config.overlap_notes)
        yield Section(
            "attempt-change", "Success-rate change by attempt", "UpBench Figure 6", columns, tuple(rows), notes
        )

    def cost(self) -> Section:
        """Return the value of a job, and the cost by role and the duration of the chains of attempts (UpBench, Figure
        4).
        """
        rows = []
        for group in agent_groups(self.jobs):
            r = group.rows
            rows.append(group.line(*(self._mean(r, name, unit) for name, unit in _COSTS.values())))
        notes = [
            "per chain, over all attempts and gradings, also the first: each arm alone would have to pay for it",
            "hours from the first trial's start to the latest evaluation, including the time of waiting for people",
        ]
        if hourly_rate(self.results, self.config) is None:
            notes.append("people's hours have no price (--hourly, or people.pay in the experiment file)")
        if foreign := self.jobs.filter(pl.col("price").is_null())["key"].n_unique():
            notes.append(f"{foreign} jobs without a price in US dollars are left out of the project value")
        title = "Project value, cost and duration"
        return Section("feedback-cost", title, "UpBench Figure 4", tuple(_COSTS), tuple(rows), tuple(notes))

    def pays(self) -> Section:
        """Return the job values from which feedback pays, and from which a human pays instead, each on the same
        jobs.
        """
        spent = pl.col("cost") + pl.col("led")
        jobs = self.jobs.with_columns(spent=spent, human=pl.lit(True))
        rows, approaches = [], approach_names(self.results)
        for group in agent_groups(jobs):
            alone, helped, human = ("first", "once"), ("passed", "spent"), ("human", "price")
            names = (ALONE, approaches[group.rows["arm"][0]], HUMAN)
            found = (self._even(group, alone, helped, names[:2]), self._even(group, helped, human, names[1:]))
            rows.append(group.line(*found))
        columns = ("feedback pays from", "a human pays from")
        notes = (
            "break-even values of jobs done both ways: the dearer way's additional cost over its additional success",
            "re-attempts: model calls of all attempts, and people and judges on the gradings that led to another one",
            "a human succeeds always, at the job's price",
        )
        return Section(
            "feedback-pays", "Job values from which feedback pays", "UpBench 5.4", columns, tuple(rows), notes
        )

    def _even(self, group: Group, low: tuple[str, str], high: tuple[str, str], names: tuple[str, ...]) -> m.Estimate:
        r = group.rows
        return m.break_even_from_jobs(
            (r[low[0]], r[high[0]]),
            (r[low[1]].cast(pl.Float64), r[high[1]].cast(pl.Float64)),
            (names[0], names[1]),
            illustrative=r["illustrative"],
            include_illustrative=self.config.illustrative,
            task=r["task"],
            how=self.config.how,
        )

    def _mean(self, rows: pl.DataFrame, name: str, unit: Unit) -> m.Estimate:
        values = rows[name]
        if name == "price" and not self.config.illustrative:
            values = rows.select(pl.when(~pl.col("illustrative")).then("price")).to_series()
        cells: dict[str, Any] = {"task": rows["task"], "instance": rows["instance_name"], "how": self.config.how}
        return m.mean_score(values.cast(pl.Float64), name=name, unit=unit, **cells)


_COSTS: dict[str, tuple[str, Unit]] = {
    "project value": ("price", Unit.USD),
    "agent": ("cost", Unit.USD),
    "judges": ("judges", Unit.USD),
    "people": ("people", Unit.USD),
    "minutes of people": ("minutes", Unit.NUMBER),
    "attempts": ("attempts", Unit.NUMBER),
    "hours": ("hours", Unit.NUMBER),
}
