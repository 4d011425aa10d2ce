"""The one frame that everything reported is read from: a row per planned slot and per piece of work handed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from worksample.errors import POLICY, UNSEEN_CAUSES, Cause, UsageError
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
    Standing,
    Submission,
)
from worksample.records.enum_members import member
from worksample.store import Store
from worksample.store.frames import submissions_df, trials_df

from .chained import continued, needed
from .judging import RoundReader
from .kinds import points_by_kind
from .resolved_judgments import ResolvedJudgments, Subjects, judge
from .resolving import VERDICTS
from .slots import explained, plan_df
from .subset import Subset

VALID, UNGRADED = State.VALID.value, State.UNGRADED.value
NOT_ATTEMPTABLE = "not_attemptable"
_KEYS = frozenset({"slot", "live", "reason"})
_UNSEEN = [cause.value for cause in UNSEEN_CAUSES]
_BROKEN = [cause.value for cause, policy in POLICY.items() if policy.by_deliverable]


@dataclass(frozen=True, slots=True)
class WorkRules:
    """`struck`: leave out what integrity reviews struck; else struck trials and submissions count like any other.
    `rubric`: how skipped criteria and pitfalls are read. `judged_by`: whose answers count; None: as experiments say.
    `where`: the part of the work that is shown; which rounds decide does not depend on it.
    """

    struck: bool = True
    judged_by: JudgedBy | None = None
    rubric: RubricRules = field(default_factory=RubricRules)
    where: Subset = field(default_factory=Subset)

    def __post_init__(self) -> None:
        if self.judged_by is not None:
            object.__setattr__(self, "judged_by", member(JudgedBy, self.judged_by, "judged_by"))


class ResultSet:
    """Experiments with equal locks, read once.

    `slots` is the plan with what became of it: `work` is `done`, `pending`, `infrastructure` or `not_attemptable`. Rows
    are kept apart by agent and arm (`who`, shown as `label`), and with them by attempt (`entry`, `entry_label`).
    """

    def __init__(self, store: Store, experiments: Sequence[Experiment], rules: WorkRules | None = None) -> None:
        self.store, self.experiments, self.rules = store, tuple(experiments), rules or WorkRules()
        self.every_amendment = store.find(Amendment)
        self.amendments = self.every_amendment if self.rules.struck else _without_reviews(self.every_amendment)
        self.planned = _slots(store, self.experiments, restore=not self.rules.struck)
        self.slots = self._among(self.planned, check=True) if self.rules.where else self.planned
        self._frames: dict[Protocol, pl.DataFrame] = {}
        self._benches: dict[Protocol, ResolvedJudgments] = {}

    @property
    def primary(self) -> Protocol:
        """The protocol under which the experiments grade."""
        return self.experiments[0].lock.protocol

    @cached_property
    def bench(self) -> ResolvedJudgments:
        """All judging, resolved."""
        each = [self.bench_of(protocol) for protocol in Protocol]
        whole = ResolvedJudgments(again=[judged for one in each for judged in one.again])
        for one in each:
            whole.deciding.update(one.deciding)
            whole.whole.update(one.whole)
            whole.joined.update(one.joined)
        return whole

    def bench_of(self, protocol: Protocol) -> ResolvedJudgments:
        """The judging under one protocol."""
        if protocol not in self._benches:
            judging, subjects = self._asked
            self._benches[protocol] = judge(judging, subjects, (protocol,), self.judged_by)
        return self._benches[protocol]

    def points_by_kind(self, protocol: Protocol) -> pl.DataFrame:
        """Points by submission and kind of checkpoint (see `kinds`)."""
        judging, subjects = self._asked
        return points_by_kind(judging, subjects, protocol, self.judged_by)

    @property
    def judged_by(self) -> JudgedBy:
        """Whose answers count: what the rules say, else what the experiments do. UsageError where those differ."""
        return self.rules.judged_by or judged_by_default(self.experiments)

    @cached_property
    def _asked(self) -> tuple[RoundReader, Subjects]:
        made = self.planned.drop_nulls("submission").group_by("experiment").agg("submission").iter_rows()
        by = {experiment: frozenset(submissions) for experiment, submissions in made}
        own = {e.id: {s.id for s in self.handed_in if s.experiment == e.id} for e in self.experiments}
        mine = {e.id: by.get(e.id, frozenset()) | own[e.id] for e in self.experiments}
        handed = frozenset(s.id for s in self.handed_in)
        return RoundReader(self.store, self.amendments, self.rules.rubric), Subjects(mine, handed)

    @cached_property
    def handed_in(self) -> tuple[Submission, ...]:
        """Work on planned instances by people, and by agents elsewhere, that no slot of ours made."""
        planned = {id for e in self.experiments for id in e.lock.instances}
        inside = {e.id for e in self.experiments}
        made = self.store.find(Submission, origin=[Origin.EXTERNAL, Origin.PERSON])
        return tuple(
            s
            for s in made
            if s.trial is None and s.instance in planned and (s.experiment is None or s.experiment in inside)
        )

    def judged(self, protocol: Protocol) -> pl.DataFrame | None:
        """`frame`, or None where no round decides under `protocol`."""
        return self.frame(protocol) if protocol in self.bench_of(protocol).deciding else None

    def frame(self, protocol: Protocol) -> pl.DataFrame:
        """The slots, then what was handed in from elsewhere and judged (`slot` is null), with the verdicts.

        `state` is a `metrics.State` or not_attemptable; standing, score, passed, partial, holistic (the label 1, 2 or
        3), reason, verdict_cause, evaluation (whose grade decides), evaluations and rounds (what it rests on) are the
        verdict's. score, passed, partial and holistic are null unless the state is valid. `broken`: ungraded since the
        deliverable broke its grader, and by no fault of ours. `unseen`: ungraded since whoever judged could not see
        enough of it.
        """
        if protocol not in self._frames:
            self._frames[protocol] = self._with_verdicts(protocol)
        return self._frames[protocol]

    def _with_verdicts(self, protocol: Protocol) -> pl.DataFrame:
        told = self.bench_of(protocol).verdicts(protocol)
        names = [n for n in VERDICTS if n not in ("subject", "label")]
        told = told.select(*names, submission="subject", holistic="label")
        here = set(told["submission"].to_list())
        frame, outside = self.planned, [s for s in self.handed_in if s.id in here]
        if outside:
            frame = pl.concat([frame, self._entrants(outside)], how="diagonal_relaxed")
        if self.rules.where:
            frame = self._among(frame)
        frame = explained(frame.join(told, on="submission", how="left", maintain_order="left"), self.amendments)
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
        # The chains' rule goes by the first protocol.
        return needed(frame, continued(self.experiments), pl.col("live")) if protocol is self.primary else frame

    def _among(self, frame: pl.DataFrame, *, check: bool = False) -> pl.DataFrame:
        """The rows that `rules.where` chooses."""
        ids = sorted(set(frame["instance"].to_list())) if self.rules.where.by_instance else ()
        instances = {id: self.store.get(Instance, id) for id in ids}
        if check:
            self.rules.where.check(frame, instances, {s.entrant for s in self.handed_in})
        return self.rules.where.rows(frame, instances)

    def _entrants(self, outside: Sequence[Submission]) -> pl.DataFrame:
        """Rows like those of slots; several of one entrant on an instance are repeats."""
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
                    **names, **_about(instance), "harness": s.origin.value,
                    "instance": s.instance, "task": instance.task,
                    "instance_name": instance.name, "key": instance.key, "arm": "plain", "attempt": 1,
                    "repeat": seen[place], "work": "done", "live": True, "submission": s.id, "struck": False,
                    "cost": s.reported.cost, "content": s.content,
                    "seconds": None if s.reported.minutes is None else 60 * s.reported.minutes,
                }
            )  # fmt: skip
        return pl.DataFrame(rows, infer_schema_length=None)


def _about(instance: Instance) -> dict[str, Any]:
    """What slots have of it in the index."""
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
    """Whose answers count where a report does not say. UsageError where the experiments say different things."""
    said = {e.lock.judged_by or JudgedBy.COMBINED for e in experiments}
    if len(said) > 1:
        both = ", ".join(sorted(by.value for by in said))
        raise UsageError(
            f"the experiments are judged by different evaluators: {both}",
            next="choose with --judged-by combined, people, judge or program",
        )
    return next(iter(said), JudgedBy.COMBINED)


def state_of(column: str) -> pl.Expr:
    """The state of one figure: a verdict that leaves this one open is ungraded for it."""
    open_ = (pl.col("state") == VALID) & pl.col(column).is_null()
    return pl.when(open_).then(pl.lit(UNGRADED)).otherwise("state")


def _without_reviews(amendments: Sequence[Amendment]) -> list[Amendment]:
    """The amendments without those on trials and submissions: everything handed in counts, invalid votes do not."""
    return [a for a in amendments if a.target not in (AmendmentTarget.TRIAL, AmendmentTarget.SUBMISSION)]


def _slots(store: Store, experiments: Sequence[Experiment], *, restore: bool) -> pl.DataFrame:
    """The plan with what became of it: where no trial is live, with the latest try's columns."""
    planned = pl.concat([plan_df(store, e.id) for e in experiments], how="vertical_relaxed")
    tries = pl.concat([trials_df(store, e.id) for e in experiments], how="vertical_relaxed")
    superseded = (pl.col("cause") == Cause.SUPERSEDED.value).fill_null(value=False)
    latest = (
        tries.filter(~pl.col("live") & ~pl.col("struck") & ~superseded)
        .sort("ended", "trial")
        .unique("slot", keep="last")
    )
    frame = planned.with_columns(pl.col("trial").is_not_null().alias("live"))
    late = [c for c in latest.columns if c in frame.columns and c not in _KEYS]
    frame = frame.join(latest.select("slot", *late), on="slot", how="left", suffix="_late", maintain_order="left")
    frame = frame.with_columns(pl.coalesce(c, f"{c}_late").alias(c) for c in late).drop([f"{c}_late" for c in late])
    sandbox = tries.unique("trial").select("trial", "sandbox", pl.col("reason").alias("trial_reason"))
    frame = frame.join(sandbox, on="trial", how="left", maintain_order="left")
    cancelled = pl.col("cause") == Cause.CANCELLED.value
    work = (
        pl.when(pl.col("state") == NOT_ATTEMPTABLE).then(pl.lit(NOT_ATTEMPTABLE))
        .when(pl.col("trial").is_null() | (~pl.col("live") & cancelled)).then(pl.lit(State.PENDING.value))
        .when(~pl.col("live")).then(pl.lit(State.INFRASTRUCTURE.value))
        .otherwise(pl.lit("done"))
    )  # fmt: skip
    frame = frame.with_columns(
        work=work, key=pl.col("task") + "/" + pl.col("instance_name"), struck=pl.lit(False)
    ).drop("state")
    if restore:
        frame = _restored(store, experiments, frame, tries)
    return _named(frame).sort("agent_name", "task", "instance_name", "arm", "attempt", "repeat", "slot")


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    """With the names of who did it: the agent, with its arm where there are several, and its attempt where it is one
    after the first.
    """
    arm, attempt = pl.col("arm"), pl.col("attempt")
    # Agents that share a name are told apart by their ids.
    shared = pl.col("agent").n_unique().over("agent_name") > 1
    frame = frame.with_columns(_name=pl.when(shared).then("agent").otherwise("agent_name"))
    name = pl.col("_name")
    arms, attempts = frame["arm"].n_unique() > 1, frame["attempt"].n_unique() > 1
    who = pl.col("agent") + " / " + arm if arms else pl.col("agent")
    label = name + " (" + arm + ")" if arms else name
    nth = pl.lit("attempt ") + attempt.cast(pl.String)
    frame = frame.with_columns(who=who, label=label)
    if not attempts:
        return frame.with_columns(entry="who", entry_label="label").drop("_name")
    inner = (arm + ", " + nth) if arms else nth
    return frame.with_columns(
        entry=pl.when(attempt == 1).then("who").otherwise(pl.col("who") + " / " + nth),
        entry_label=name + " (" + inner + ")",
    ).drop("_name")


def _restored(
    store: Store, experiments: Sequence[Experiment], frame: pl.DataFrame, tries: pl.DataFrame
) -> pl.DataFrame:
    """As if no trial or submission had been struck. A slot that was run again counts with its new trial."""
    work = pl.concat([submissions_df(store, e.id) for e in experiments], how="vertical_relaxed")
    gone = work.filter(pl.col("struck"))["submission"].to_list()
    first = (
        work.drop_nulls("trial").sort("at", "submission").unique("trial", keep="first").select("trial", "submission")
    )
    open_ = frame.filter(pl.col("work") != "done")["slot"].to_list()
    back = tries.filter(pl.col("struck") & pl.col("finished") & pl.col("slot").is_in(open_))
    back = back.sort("ended", "trial").unique("slot", keep="last").join(first, on="trial", how="left")
    same = [c for c in back.columns if c in frame.columns and c not in ("slot", "struck", "live")]
    back = back.select("slot", *same).with_columns(work=pl.lit("done"), struck=pl.lit(True), live=pl.lit(True))
    frame = frame.update(back, on="slot", how="left")
    return frame.with_columns(struck=pl.col("struck") | pl.col("submission").is_in(gone).fill_null(False))
