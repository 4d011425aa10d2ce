"""The result set: a table with a row for each planned slot and each submission from outside. All pages and figures are
computed from this table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl
from sqlalchemy import select

from worksample.errors import POLICY, UNSEEN_CAUSES, UsageError
from worksample.metrics import State
from worksample.metrics.scores.rubric import RubricRules
from worksample.records import (
    Amendment,
    AmendmentTarget,
    Experiment,
    Instance,
    JudgedBy,
    Origin,
    Protocol,
    Slot,
    Standing,
    Submission,
    Suite,
)
from worksample.records.enum_members import member
from worksample.store import Store, schema

from .attempt_chains import chain_origins, continued_arms, drop_unneeded_attempts, join_attempts
from .experiment_verdicts import Judgments, Subjects
from .judged_rounds import RoundReader
from .points_by_kind import points_by_kind
from .slot_results import explain_missing_verdicts, slots_with_trials
from .subset import Subset
from .verdicts import VERDICTS

VALID, UNGRADED = State.VALID.value, State.UNGRADED.value
NONE = "(none)"
"""Name of the group for rows without a value in the column by which rows are grouped."""
_TEXT = 90
"""Maximum number of characters of a criterion's text in a label."""
_UNSEEN = [cause.value for cause in UNSEEN_CAUSES]
_BROKEN = [cause.value for cause, policy in POLICY.items() if policy.by_deliverable]


@dataclass(frozen=True, slots=True)
class WorkRules:
    """Rules that select the work and the answers of a result set.

    `struck`: whether to leave out work that reviews withdrew (struck); if False, such trials and submissions count.
    `rubric`: how skipped criteria and pitfalls are scored. `judged_by`: the kind of evaluator whose answers count; None
    for the choice of the experiments. `where`: the part of the work that is shown; it does not change which rounds
    decide.
    """

    struck: bool = True
    judged_by: JudgedBy | None = None
    rubric: RubricRules = field(default_factory=RubricRules)
    where: Subset = field(default_factory=Subset)

    def __post_init__(self) -> None:
        if self.judged_by is not None:
            object.__setattr__(self, "judged_by", member(JudgedBy, self.judged_by, "judged_by"))


class ResultSet:
    """The results of experiments with equal locks: plan, trials, judgments and verdicts, each read once.

    `slots` is the plan. Its column `work` is the state of a slot: `done`, `pending`, `infrastructure` or
    `not_attemptable`. Rows are grouped by agent and arm (column `who`, shown as `label`), or by agent, arm and attempt
    (column `entry`, shown as `entry_label`).
    """

    def __init__(self, store: Store, experiments: Sequence[Experiment], rules: WorkRules | None = None) -> None:
        self.store, self.experiments, self.rules = store, tuple(experiments), rules or WorkRules()
        self.every_amendment = store.find(Amendment)
        self.amendments = self.every_amendment if self.rules.struck else _without_reviews(self.every_amendment)
        self.planned = slots_with_trials(store, self.experiments, restore=not self.rules.struck)
        self.slots = self._apply_subset(self.planned, check=True) if self.rules.where else self.planned
        self._frames: dict[Protocol, pl.DataFrame] = {}

    @property
    def primary(self) -> Protocol:
        """The first protocol of the experiments, whose results are shown by default."""
        return self.experiments[0].lock.protocol

    @property
    def judged_by(self) -> JudgedBy:
        """The kind of evaluator whose answers count: from the rules, otherwise from the experiments. Raises UsageError
        if the experiments have different kinds.
        """
        return self.rules.judged_by or judged_by_default(self.experiments)

    @cached_property
    def judgments(self) -> Judgments:
        """Judgments on all submissions of the experiments, by protocol."""
        planned = self.planned.drop_nulls("submission").group_by("experiment").agg("submission").iter_rows()
        by = {experiment: frozenset(submissions) for experiment, submissions in planned}
        own = {e.id: {s.id for s in self.handed_in if s.experiment == e.id} for e in self.experiments}
        mine = {e.id: by.get(e.id, frozenset()) | own[e.id] for e in self.experiments}
        reader = RoundReader(self.store, self.amendments, self.rules.rubric)
        return Judgments(reader, Subjects(mine, frozenset(s.id for s in self.handed_in)), self.judged_by)

    def points_by_kind(self, protocol: Protocol) -> pl.DataFrame:
        """Return the points of each submission by kind of checkpoint."""
        return points_by_kind(self.judgments, protocol)

    @cached_property
    def handed_in(self) -> tuple[Submission, ...]:
        """Submissions on planned instances that people or external agents made outside any slot."""
        planned = {id for e in self.experiments for id in e.lock.instances}
        inside = {e.id for e in self.experiments}
        origins = [Origin.EXTERNAL, Origin.PERSON]
        made = [
            *self.store.find(Submission, origin=origins, experiment=inside),
            *self.store.find(Submission, origin=origins, experiment=None),
        ]
        mine = [s for s in made if s.trial is None and s.instance in planned]
        return tuple(sorted(mine, key=lambda s: (s.at, s.id)))

    def judged_frame(self, protocol: Protocol) -> pl.DataFrame | None:
        """Return the table of `frame`. Return None if no round decides under `protocol`."""
        return self.frame(protocol) if self.judgments.under(protocol).deciding else None

    def frame(self, protocol: Protocol) -> pl.DataFrame:
        """Return the result table: a row for each slot, then for each judged submission from outside (`slot` is null),
        with the verdicts under `protocol`.

        `state` is a value of `metrics.State` or `not_attemptable`. Some columns describe the verdict: standing, score,
        passed, partial, holistic (the vote 1, 2 or 3), reason, verdict_cause, evaluation (whose grade decides),
        evaluations and rounds (which the verdict was computed from). score, passed, partial and holistic are null
        unless the state is valid. `broken` is true if the deliverable crashed its grader. `unseen` is true if the
        evaluator could not see enough of the work.

        `cost` is the cost in the trial's record. Null means unknown, never 0. A trial that called no model cost 0 if
        its model has a price (`runs` writes this cost when the trial ends).
        """
        if protocol not in self._frames:
            self._frames[protocol] = self._with_verdicts(protocol)
        return self._frames[protocol]

    def _with_verdicts(self, protocol: Protocol) -> pl.DataFrame:
        told = self.judgments.verdicts(protocol)
        names = [n for n in VERDICTS if n not in ("subject", "label")]
        told = told.select(*names, submission="subject", holistic="label")
        here = set(told["submission"].to_list())
        frame, outside = self.planned, [s for s in self.handed_in if s.id in here]
        if outside:
            frame = pl.concat([frame, self._entrants(outside)], how="diagonal_relaxed")
        if self.rules.where:
            frame = self._apply_subset(frame)
        frame = explain_missing_verdicts(
            frame.join(told, on="submission", how="left", maintain_order="left"), self.amendments
        )
        done, decided = pl.col("work") == "done", pl.col("standing") == Standing.DECIDED.value
        state = pl.when(done & decided).then(pl.lit(VALID)).when(done).then(pl.lit(UNGRADED)).otherwise("work")
        known = pl.col("state") == VALID
        broken = (pl.col("state") == UNGRADED) & pl.col("verdict_cause").is_in(_BROKEN)
        unseen = (pl.col("state") == UNGRADED) & pl.col("verdict_cause").is_in(_UNSEEN)
        frame = frame.with_columns(state=state).with_columns(
            *(pl.when(known).then(c).alias(c) for c in ("score", "passed", "partial", "holistic")),
            broken=broken.fill_null(False),
            unseen=unseen.fill_null(False),
        )
        # The rule of chains uses the first protocol.
        return (
            drop_unneeded_attempts(frame, continued_arms(self.experiments), pl.col("live"))
            if protocol is self.primary
            else frame
        )

    def chains(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return `frame` with all attempts of a chain under one arm: the first attempts, and the re-attempts that
        continue them.
        """
        return join_attempts(frame, self.experiments, self._chain_origins)

    @cached_property
    def _chain_origins(self) -> dict[str, str]:
        """The experiment in which a slot's chain began, by slot, if a later import of the same tables continues the
        chain.
        """
        if len(self.experiments) == 1:
            return {}
        return chain_origins(slot for e in self.experiments for slot in self.store.find(Slot, experiment=e.id))

    @cached_property
    def chain_pay(self) -> float | None:
        """Pay of people in US dollars per hour, from the rules for chains. None if the experiments differ in it, or
        state none.
        """
        paid = {e.lock.chain.pay if e.lock.chain else None for e in self.experiments}
        return paid.pop() if len(paid) == 1 else None

    @cached_property
    def chosen_submissions(self) -> frozenset[str]:
        """Ids of the submissions in the part of the work that is shown."""
        frames = (self.frame(protocol) for protocol in (self.primary, *self.judgments.deciding))
        return frozenset(id for frame in frames for id in frame["submission"].drop_nulls())

    def keep_chosen(self, said: pl.DataFrame, *columns: str) -> pl.DataFrame:
        """Return the rows whose submissions all belong to the part of the work that is shown. columns: columns with
        submission ids, by default `subject`.
        """
        if not self.rules.where:
            return said
        inside = (pl.col(c).is_null() | pl.col(c).is_in(list(self.chosen_submissions)) for c in columns or ("subject",))
        return said.filter(pl.all_horizontal(*inside))

    @cached_property
    def keys(self) -> dict[str, str]:
        """The key `task/name` by instance id, for every instance in the store and all versions of its task."""
        table = schema.instances.c
        with self.store.database.reading() as connection:
            return {id: key for id, key in connection.execute(select(table.id, table.key))}  # noqa: C416

    @cached_property
    def tasks(self) -> dict[str, str]:
        """The name of the task by instance id. Confidence intervals treat the instances of a task as dependent."""
        return {id: key.rpartition("/")[0] for id, key in self.keys.items()}

    @cached_property
    def instances(self) -> dict[str, Instance]:
        """The instances by id: those of the plan, and those with submissions from outside."""
        ids = {*self.slots["instance"].to_list(), *(s.instance for s in self.handed_in)}
        return {id: self.store.get(Instance, id) for id in sorted(ids)}

    @cached_property
    def criterion_texts(self) -> dict[tuple[str, str], str]:
        """The text of each criterion, by task and criterion id. If instances of a task have different texts, the first
        one is used.
        """
        found: dict[tuple[str, str], str] = {}
        for instance in self.instances.values():
            for grading in instance.grading.values():
                for leaf in grading.criteria.leaves:
                    found.setdefault((instance.task, leaf.id), leaf.text)
        return found

    def criterion_label(self, task: str, criterion: str) -> str:
        """Return a label for a criterion: `task: text (id)`, with a shortened text. Without a known text, return `task:
        id`.
        """
        text = self.criterion_texts.get((task, criterion), criterion)
        if text == criterion:
            return f"{task}: {criterion}"
        return f"{task}: {text if len(text) <= _TEXT else text[: _TEXT - 1] + '…'} ({criterion})"

    def unplanned_submissions(self, *columns: pl.Series) -> list[str]:
        """Return the ids in these columns that are not submissions of planned slots."""
        each = [c.drop_nulls().cast(pl.String).unique().alias("id") for c in columns]
        named = pl.concat(each).unique() if each else pl.Series("id", [], dtype=pl.String)
        known = self.slots.select(id="submission").drop_nulls()
        return sorted(named.to_frame().join(known, on="id", how="anti")["id"].to_list())

    def submissions(self, ids: Sequence[str]) -> list[Submission]:
        """Return the submission records with these ids."""
        parts = (ids[start : start + 500] for start in range(0, len(ids), 500))
        return [s for part in parts for s in self.store.find(Submission, id=list(part))]

    @cached_property
    def tiers(self) -> tuple[str, ...]:
        """Names of the suite's tiers, in the order of the suite. Empty if the suite is unknown or has no tiers."""
        suites = [s for s in self.store.find(Suite) if s.id == self.experiments[0].lock.suite]
        return tuple(t.name for t in suites[0].tiers) if suites else ()

    def with_group(self, frame: pl.DataFrame, by: str) -> pl.DataFrame:
        """Return `frame` with the column `group`, whose values come from the property `by`. If `by` is `platform`, a
        row is repeated for each service that its instance needs.
        """
        if by == "platform":
            services = {id: list(i.work.environment.services) for id, i in self.instances.items()}
            shape = pl.Schema({"instance": pl.String(), "group": pl.List(pl.String())})
            table = pl.DataFrame({"instance": list(services), "group": list(services.values())}, schema=shape)
            return (
                frame.join(table, on="instance", how="left", maintain_order="left").explode("group").drop_nulls("group")
            )
        if by == "cohort":
            months = {id: i.about.job.cohort if i.about.job else "" for id, i in self.instances.items()}
            column = pl.col("instance").replace_strict(months, default="", return_dtype=pl.String)
            return frame.with_columns(pl.when(column == "").then(pl.lit(NONE)).otherwise(column).alias("group"))
        column = {"domain": pl.col("category").str.split("/").list.first()}.get(by, pl.col(by))
        return frame.with_columns(pl.when(column == "").then(None).otherwise(column).fill_null(NONE).alias("group"))

    def _apply_subset(self, frame: pl.DataFrame, *, check: bool = False) -> pl.DataFrame:
        """Return the rows that meet the conditions of `rules.where`. check: whether to raise UsageError for values that
        no work has.
        """
        ids = sorted(set(frame["instance"].to_list())) if self.rules.where.by_instance else ()
        instances = {id: self.store.get(Instance, id) for id in ids}
        if check:
            self.rules.where.check(frame, instances, {s.entrant for s in self.handed_in})
        return self.rules.where.rows(frame, instances)

    def _entrants(self, outside: Sequence[Submission]) -> pl.DataFrame:
        """Build a row for each submission from outside, with the columns of slots. Several submissions by one entrant
        on an instance count as repeats.
        """
        instances = {id: self.store.get(Instance, id) for id in sorted({s.instance for s in outside})}
        seen: dict[tuple[str, str], int] = {}
        rows = []
        for s in sorted(outside, key=lambda s: (s.at, s.id)):
            place = (s.entrant, s.instance)
            seen[place] = seen.get(place, 0) + 1
            instance = instances[s.instance]
            names = dict.fromkeys(("agent", "agent_name", "who", "label", "entry", "entry_label"), s.entrant)
            rows.append(
                {
                    **names, **_columns_about(instance), "harness": s.origin.value,
                    "instance": s.instance, "task": instance.task,
                    "instance_name": instance.name, "key": instance.key, "arm": "plain", "attempt": 1,
                    "repeat": seen[place], "work": "done", "live": True, "submission": s.id, "struck": False,
                    "cost": s.reported.cost, "content": s.content,
                    "seconds": None if s.reported.minutes is None else 60 * s.reported.minutes,
                }
            )  # fmt: skip
        return pl.DataFrame(rows, infer_schema_length=None)


def _columns_about(instance: Instance) -> dict[str, Any]:
    """Return the columns with facts about an instance, such as category, value and hours."""
    about = instance.about
    value, hours = about.value, about.hours
    said: dict[str, Any] = {"category": about.category, "tier": about.tier}
    if value is not None:
        said |= {"value_low": value.low, "value_high": value.high, "value_middle": value.middle}
        said |= {"value_currency": value.currency, "value_source": value.source.value}
    if hours is not None:
        said |= {"hours_low": hours.low, "hours_high": hours.high, "hours_middle": hours.middle}
        said |= {"hours_source": hours.source.value}
    return said


def judged_by_default(experiments: Sequence[Experiment]) -> JudgedBy:
    """Return the kind of evaluator whose answers count by default. Raises UsageError if the experiments have different
    kinds.
    """
    said = {e.lock.judged_by or JudgedBy.COMBINED for e in experiments}
    if len(said) > 1:
        both = ", ".join(sorted(by.value for by in said))
        raise UsageError(
            f"the experiments are judged by different evaluators: {both}",
            next="choose with --judged-by combined, people, judge or program",
        )
    return next(iter(said), JudgedBy.COMBINED)


def state_of(column: str) -> pl.Expr:
    """Return the state of a row for the figure in `column`. A valid row without a value in this column counts as
    ungraded.
    """
    open_ = (pl.col("state") == VALID) & pl.col(column).is_null()
    return pl.when(open_).then(pl.lit(UNGRADED)).otherwise("state")


def _without_reviews(amendments: Sequence[Amendment]) -> list[Amendment]:
    """Return the amendments without those on trials and submissions. All work then counts, but withdrawn (struck) votes
    still do not.
    """
    return [a for a in amendments if a.target not in (AmendmentTarget.TRIAL, AmendmentTarget.SUBMISSION)]
