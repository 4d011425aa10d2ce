"""Evidence on jobs from a store: an agent's success, alone and with people's feedback, and the costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from worksample.errors import UsageError
from worksample.records import Experiment, Feedback, Worker
from worksample.reports.chosen_experiments import is_private
from worksample.reports.cost_notes import MARKS, cost_marks, mark_columns
from worksample.reports.sections.attempt_chain_rows import ChainJobs
from worksample.reports.sections.figure_settings import MeasureConfig
from worksample.reports.sections.people_versus_agents import BY_PEOPLE, beside_people
from worksample.reports.sections.result_rows import attempts_of
from worksample.results.result_set import ResultSet
from worksample.store import Store

from .job_list import words_of

SHAPE = pl.Schema(
    {
        "key": pl.String(), "task": pl.String(), "suite": pl.String(), "category": pl.String(), "text": pl.String(),
        "alone": pl.Boolean(), "alone_cost": pl.Float64(), "helped": pl.Boolean(), "helped_cost": pl.Float64(),
        **BY_PEOPLE,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Evidence:
    """Outcomes of jobs.

    `jobs` has a row per job and repeat, and for each time that people did the job. Its columns are those of `SHAPE`.
    Amounts are in US dollars, null if unknown. `notes` say what was left out.
    """

    agent: str
    jobs: pl.DataFrame
    notes: tuple[str, ...] = ()
    private: bool = False
    """Whether the suite is private. Single jobs of a private suite are not shown."""

    @property
    def has_help(self) -> bool:
        """True if an agent received feedback from people on any job."""
        return self._has("helped")

    @property
    def has_person(self) -> bool:
        """True if people did some of the jobs alone."""
        return self._has("person")

    @property
    def has_together(self) -> bool:
        """True if a person did some of the jobs with the agent."""
        return self._has("together")

    def _has(self, way: str) -> bool:
        return bool((self.jobs[way].is_not_null() & self.jobs[f"{way}_cost"].is_not_null()).any())


_WHOLE = {**SHAPE, "agent": pl.String(), "arm": pl.String(), **dict.fromkeys(MARKS, pl.Int64())}


def evidence_of(
    store: Store, experiments: Sequence[Experiment], *, agent: str = "", hourly: float | None = None
) -> Evidence:
    """Collect the evidence on one agent from these experiments. The experiments may have different locks.

    `agent` is the name of the agent; by default, the agent that passes most often at the first attempt is chosen.
    `hourly` is the pay in US dollars per hour of people who give feedback, for experiments that do not state it. Raises
    UsageError if no job is graded, or if no agent has this name.
    """
    parts = [part for e in experiments for part in _of(store, e, hourly)]
    every = pl.concat(parts) if parts else pl.DataFrame(schema=_WHOLE)
    graded = every.filter(pl.col("alone").is_not_null())
    if not graded.height:
        raise UsageError("no job of these experiments is graded yet", next="worksample list")
    rates = (
        graded.group_by("agent").agg(pl.col("alone").mean(), n=pl.len()).sort("alone", "n", "agent", descending=True)
    )
    names = rates["agent"].to_list()
    if agent and agent not in names:
        raise UsageError(f"no agent {agent!r} has graded work here", next=f"one of {', '.join(names)}")
    chosen = agent or names[0]
    mine = graded.filter(pl.col("agent") == chosen)
    several = not agent and len(names) > 1
    notes = [] if not several else [f"{chosen} passes most often of {len(names)} agents (--agent)"]
    arms = mine.filter(pl.col("arm") != "")["arm"].value_counts(sort=True)["arm"].to_list()
    if len(arms) > 1:
        notes.append(f"of {len(arms)} arms with people's feedback, only the largest is used: {arms[0]}")
    mine = mine.filter(pl.col("arm").is_in(["", *arms[:1]]))
    notes += [f"costs of {chosen}: {said}" for said in cost_marks(mine)]
    hidden = is_private(store, experiments)
    if hidden:
        notes.append("the suite is private: its similar jobs are not shown")
    return Evidence(chosen, mine.select(SHAPE.names()), tuple(notes), hidden)


def _of(store: Store, experiment: Experiment, hourly: float | None) -> list[pl.DataFrame]:
    """Return the rows of one experiment, with and without people's feedback: one per agent, job, repeat and arm."""
    config = MeasureConfig(hourly=hourly)
    results = ResultSet(store, [experiment], config.work_rules)
    frame = results.judged_frame(results.primary)
    if frame is None:
        return []
    about = results.instances
    keep = pl.col("harness") != "person"
    people: dict[str, Feedback] = {a.name: a.feedback for a in experiment.arms if a.feedback is Feedback.PEOPLE}
    chains = ChainJobs(results, config, attempts_of(frame, None).filter(keep), people).jobs if people else None
    if chains is not None and (chains["led"].is_null() & chains["passed"].is_not_null()).any():
        # Without a price of people only chains that passed at once would be left.
        chains = None
    alone = [a.name for a in experiment.arms if not a.continues and a.worker is Worker.AGENT]
    first = attempts_of(frame).filter(keep & pl.col("arm").is_in(alone))
    columns = [
        first.select(
            "agent_name", "agent", "instance", "key", "task", "category", *mark_columns(),
            alone="passed", alone_cost=pl.col("cost"),
            helped=pl.lit(None, pl.Boolean), helped_cost=pl.lit(None, pl.Float64), arm=pl.lit(""),
        )
    ]  # fmt: skip
    if chains is not None and chains.height:
        spent = (pl.col("cost") + pl.col("led")).cast(pl.Float64)
        columns = [
            chains.select(
                "agent_name", "agent", "instance", "key", "task", "category", *MARKS, alone="first", alone_cost="once",
                helped="passed", helped_cost=spent, arm="arm",
            )
        ]  # fmt: skip
    texts = {
        id: words_of(i.title, i.work.brief, i.about.job.attachments if i.about.job else ()) for id, i in about.items()
    }
    suite = experiment.lock.suite.partition("@")[0] or experiment.name
    return [
        beside_people(results, attempts_of(frame), rows.with_row_index("row")).with_columns(
            # A row for every time that somebody else did the job, too: each trial is counted once.
            *(pl.when(pl.col("row").is_first_distinct()).then(name).otherwise(0).alias(name) for name in MARKS),
            agent="agent_name", suite=pl.lit(suite),
            text=pl.col("instance").replace_strict(texts, default="", return_dtype=pl.String),
            category=pl.col("category").fill_null(""),
        ).select(*(pl.col(name).cast(kind) for name, kind in SHAPE.items()), "agent", "arm", *MARKS)
        for rows in columns
    ]  # fmt: skip
