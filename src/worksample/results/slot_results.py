"""Planned slots with their trials, and with the verdicts on their submissions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import polars as pl
from sqlalchemy import Connection, func, select

from worksample.errors import Cause
from worksample.metrics import State
from worksample.records import IMPORTED, Amendment, AmendmentTarget, Experiment, JudgedBy, Round, Standing, struck
from worksample.records.enum_members import member
from worksample.store import schema
from worksample.store.dataframe_builder import Columns, middle, tabulate
from worksample.store.dataframes import UNSETTLED, experiment_id, seconds_of, submissions_df, trials_df

from .attempt_chains import continued_arms, drop_unneeded_attempts
from .experiment_verdicts import Judgments, Subjects
from .judged_rounds import RoundReader
from .verdicts import VERDICTS

if TYPE_CHECKING:
    from worksample.store import Store

_i, _a, _s, _t = schema.instances.c, schema.agents.c, schema.slots.c, schema.trials.c

_TRIAL = (
    "ending", "cause", "working_seconds", "person_seconds", "steps", "input_tokens", "output_tokens",
    "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "tokens", "cost", "priced", *UNSETTLED,
)  # fmt: skip
_USED = (
    "steps", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "tokens",
)  # fmt: skip
_ABOUT = ("category", "tier", "value_low", "value_high", "value_currency", "value_source")
_HOURS = ("hours_low", "hours_high", "hours_source")
NOT_ATTEMPTABLE = State.NOT_ATTEMPTABLE.value
_KEYS = frozenset({"slot", "live", "reason"})
_TOLD = ("standing", "score", "passed", "partial", "label", "verdict_cause", "reason", "evaluations", "rounds")


def plan_df(store: Store, experiment: str | Collection[str] | None = None) -> pl.DataFrame:
    """Return a row for each planned slot, without verdicts, ordered by experiment, instance, agent, arm, attempt and
    repeat.

    `state` is `finished` (the slot has a valid finished trial), `open` or `not_attemptable`. The columns of trials
    describe the valid trial. `tries` counts all tries except superseded ones. If there is no valid trial, `last_cause`
    says why the latest try failed. `experiment` is an id, or several; None for all.
    """
    experiment = (experiment,) if isinstance(experiment, str) else experiment
    with store.database.reading() as connection:
        slots, trials = _read_slots(connection, experiment), _read_tries(connection, experiment)
        handed = _read_submissions(connection, experiment)
    frame = slots.join(trials, on="slot", how="left").with_columns(pl.col("tries").fill_null(0))
    frame = frame.join(handed, on="trial", how="left")
    finished = pl.when(pl.col("trial").is_not_null()).then(pl.lit("finished")).otherwise(pl.lit("open"))
    state = pl.when(pl.col("not_attemptable") == "").then(finished).otherwise(pl.lit("not_attemptable"))
    # Usage of agents that were imported from tables is unknown, not 0.
    frame = frame.with_columns(
        pl.when(pl.col("harness").fill_null("") != IMPORTED).then(name).alias(name) for name in _USED
    )
    return frame.with_columns(
        state.alias("state"),
        middle("value_low", "value_high", "value_middle"),
        middle("hours_low", "hours_high", "hours_middle"),
    ).sort("experiment", "instance", "agent", "arm", "attempt", "repeat", "slot")


def slots_df(
    store: Store,
    experiment: str | Collection[str] | None = None,
    round: str | None = None,
    judged_by: JudgedBy | None = None,
) -> pl.DataFrame:
    """Return the table of `plan_df` with the verdict on each slot's submission.

    round: the round whose verdicts are used. Without it, the rounds that decide under the experiment's first protocol
    are used (see `deciding_rounds`). Second looks by people are applied. judged_by: the kind of evaluator whose answers
    count; None for the choice of the experiment.

    `standing` is `decided`, `undecided`, `ungraded` (`reason` then says why), or null without a submission. `score`,
    `passed` and `partial` are null unless the verdict is decided. `evaluations` and `rounds` list what the verdict was
    computed from, oldest first. `experiment`: an id or a name, or several ids.
    """
    judged_by = None if judged_by is None else member(JudgedBy, judged_by, "judged_by")
    if isinstance(experiment, str):
        experiment = (experiment_id(store, experiment),)
    plan = plan_df(store, experiment)
    plans = plan.partition_by("experiment", as_dict=True)
    amendments = store.find(Amendment)
    judging = RoundReader(store, amendments)
    found = store.find(Experiment, **({} if experiment is None else {"id": tuple(experiment)}))
    parts = [pl.DataFrame(schema={"experiment": pl.String, **VERDICTS})]
    for each in found:
        told = _verdicts_of(judging, each, plans.get((each.id,), plan.clear()), round, judged_by)
        parts.append(told.select(pl.lit(each.id).alias("experiment"), *VERDICTS))
    verdicts = pl.concat(parts).select("experiment", *_TOLD, submission="subject")
    frame = plan.join(verdicts, on=["experiment", "submission"], how="left", maintain_order="left")
    return explain_missing_verdicts(
        drop_unneeded_attempts(frame, continued_arms(found), pl.col("trial").is_not_null()), amendments
    )


def _verdicts_of(
    judging: RoundReader, experiment: Experiment, plan: pl.DataFrame, round: str | None, judged_by: JudgedBy | None
) -> pl.DataFrame:
    if round is not None:
        return judging.read_with_looks(judging.store.get(Round, round))[0].verdicts
    protocol = experiment.lock.protocol
    mine = frozenset(plan["submission"].drop_nulls())
    by = judged_by or experiment.lock.judged_by or JudgedBy.COMBINED
    return Judgments(judging, Subjects({experiment.id: mine}), by).verdicts(protocol)


def explain_missing_verdicts(frame: pl.DataFrame, amendments: Sequence[Amendment]) -> pl.DataFrame:
    """Return `frame` with a standing and a reason for the submissions that have no verdict."""
    waiting = pl.col("submission").is_not_null() & pl.col("standing").is_null()
    gone = pl.col("submission").is_in([id for target, id in struck(amendments) if target is AmendmentTarget.SUBMISSION])
    why = pl.when(gone).then(pl.lit("the submission was struck")).otherwise(pl.lit("not graded yet"))
    return frame.with_columns(
        pl.when(waiting).then(pl.lit(Standing.UNGRADED.value)).otherwise("standing").alias("standing"),
        pl.when(waiting).then(why).otherwise("reason").alias("reason"),
    )


def _read_slots(connection: Connection, experiments: Collection[str] | None) -> pl.DataFrame:
    columns: Columns = {
        "slot": _s.id,
        "experiment": _s.experiment,
        "agent": _s.agent,
        "agent_name": _a.name,
        "model": _a.model,
        "harness": _a.harness,
        "instance": _s.instance,
        "task": _i.task,
        "instance_name": _i.name,
        **{n: _s[n] for n in ("arm", "attempt", "repeat", "not_attemptable")},
        **{n: _i[n] for n in _ABOUT + _HOURS},
    }
    source = schema.slots.outerjoin(schema.agents, _a.id == _s.agent).outerjoin(schema.instances, _i.id == _s.instance)
    query = select(_s.id).select_from(source)
    if experiments is not None:
        query = query.where(_s.experiment.in_(experiments))
    return tabulate(connection, columns, query, ["slot"])


def _read_tries(connection: Connection, experiments: Collection[str] | None) -> pl.DataFrame:
    """Return, for each slot, the number of tries and the columns of the valid trial. If there is no valid trial, return
    the cause of the latest try.
    """
    columns: Columns = {"slot": _t.slot, "trial": _t.id, "live": _t.live, "started": _t.started, "ended": _t.ended}
    columns |= {name: _t[name] for name in _TRIAL}
    query = select(_t.id).select_from(schema.trials)
    if experiments is not None:
        query = query.where(_t.experiment.in_(experiments))
    # A superseded try is replaced by another one, which determines whether the slot is open.
    query = query.where(func.coalesce(_t.cause != Cause.SUPERSEDED.value, True))
    tries = tabulate(connection, columns, query, ["ended", "trial"])
    live = tries.filter("live").with_columns(seconds_of().alias("seconds")).drop("live")
    counts = tries.group_by("slot").agg(
        pl.len().cast(pl.Int64).alias("tries"),
        pl.when(~pl.col("live").any()).then(pl.col("cause").last()).alias("last_cause"),
    )
    return counts.join(live, on="slot", how="left")


def _read_submissions(connection: Connection, experiments: Collection[str] | None) -> pl.DataFrame:
    s = schema.submissions.c
    columns: Columns = {"submission": s.id, "trial": s.trial, "at": s.at, "content": s.content, "status": s.status}
    query = select(s.id).select_from(schema.submissions).where(s.trial.is_not(None))
    if experiments is not None:
        # By the trials: a submission need not name its experiment.
        query = select(s.id).select_from(schema.submissions.join(schema.trials, _t.id == s.trial))
        query = query.where(_t.experiment.in_(experiments))
    frame = tabulate(connection, columns, query, ["at", "submission"])
    return frame.unique("trial", keep="first", maintain_order=True).drop("at")


def slots_with_trials(store: Store, experiments: Sequence[Experiment], *, restore: bool) -> pl.DataFrame:
    """Return the plan of experiments with each slot's valid trial, or with its latest try if there is no valid trial.

    restore: whether withdrawn (struck) trials and submissions count as if they were valid.
    """
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
        frame = _restore_struck(store, experiments, frame, tries)
    return add_names(frame).sort("agent_name", "task", "instance_name", "arm", "attempt", "repeat", "slot")


def add_names(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the names of agents as columns. The arm is added to the name if there are several arms. The attempt is added
    from the second attempt on.
    """
    arm, attempt = pl.col("arm"), pl.col("attempt")
    # Agents that share a name are distinguished by their ids.
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


def _restore_struck(
    store: Store, experiments: Sequence[Experiment], frame: pl.DataFrame, tries: pl.DataFrame
) -> pl.DataFrame:
    """Return `frame` as if no trial or submission had been withdrawn (struck). If a slot was run again, its new trial
    counts.
    """
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
