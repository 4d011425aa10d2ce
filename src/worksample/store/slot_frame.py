"""Every planned slot with what became of it: the frame that leaderboards are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from sqlalchemy import Connection, select

from worksample.records import (
    KIND,
    OVER,
    Amendment,
    Experiment,
    Round,
    Standing,
    Target,
    struck,
)

from . import schema
from .tabulate import Columns, middle, tabulate
from .verdict_frame import overrule_frame, said_frame, verdict_frame

if TYPE_CHECKING:
    from .store import Store

_i, _a, _s, _t = schema.instances.c, schema.agents.c, schema.slots.c, schema.trials.c

_TRIAL = ("ending", "cause", "working_seconds", "steps", "input_tokens", "output_tokens", "tokens", "cost", "priced")
_ABOUT = ("category", "tier", "value_low", "value_high", "value_currency", "value_source")
_HOURS = ("hours_low", "hours_high", "hours_source")

VERDICT = {
    "round": pl.String,
    "standing": pl.String,
    "score": pl.Float64,
    "passed": pl.Boolean,
    "partial": pl.Float64,
    "label": pl.Int64,
    "verdict_cause": pl.String,
    "reason": pl.String,
}
_JUDGED = {"experiment": pl.String, "submission": pl.String, **VERDICT}


def slots_df(
    store: Store, experiment: str | None = None, round: str | None = None, *, judged: bool = True
) -> pl.DataFrame:
    """One row per planned slot, by instance, agent, arm, attempt, repeat.

    `state` is `finished` (it has a live trial), `open` or `not_attemptable`; the trial's columns are those of the live
    one, `tries` counts all, and `last_cause` says why the latest failed where none is live. The verdict is that of
    `round`, else of the latest round over the slot's experiment under the experiment's own protocol, together with
    rounds that differ from it in name, reason, author and moment only: `standing` is
    `decided`, `undecided` or `ungraded` (then `reason` says why), null where there is no submission; `score`,
    `passed` and `partial` are null unless decided. What people decided when they looked at a round again (audit,
    adjudication) is in it (see `overrule_frame`). `judged` False leaves the verdicts out, as if nothing were graded.
    """
    with store.database.reading() as connection:
        slots = _slots(connection, experiment)
        trials = _tries(connection, experiment)
        handed = _submissions(connection)
        amendments = _amendments(connection)
        verdicts = _verdicts(connection, amendments, experiment, round) if judged else pl.DataFrame(schema=_JUDGED)
    frame = slots.join(trials, on="slot", how="left").with_columns(pl.col("tries").fill_null(0))
    frame = frame.join(handed, on="trial", how="left").join(verdicts, on=["experiment", "submission"], how="left")
    attempted = pl.col("not_attemptable") == ""
    finished = pl.when(pl.col("trial").is_not_null()).then(pl.lit("finished")).otherwise(pl.lit("open"))
    state = pl.when(attempted).then(finished).otherwise(pl.lit("not_attemptable"))
    waiting = pl.col("submission").is_not_null() & pl.col("standing").is_null()
    gone = pl.col("submission").is_in([id for target, id in struck(amendments) if target is Target.SUBMISSION])
    why = pl.when(gone).then(pl.lit("the submission was struck")).otherwise(pl.lit("not graded yet"))
    return frame.with_columns(
        state.alias("state"),
        pl.when(waiting).then(pl.lit(Standing.UNGRADED.value)).otherwise("standing").alias("standing"),
        pl.when(waiting).then(why).otherwise("reason").alias("reason"),
        middle("value_low", "value_high", "value_middle"),
        middle("hours_low", "hours_high", "hours_middle"),
    ).sort("experiment", "instance", "agent", "arm", "attempt", "repeat", "slot")


def _slots(connection: Connection, experiment: str | None) -> pl.DataFrame:
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
    if experiment is not None:
        query = query.where(_s.experiment == experiment)
    return tabulate(connection, columns, query, ["slot"])


def _tries(connection: Connection, experiment: str | None) -> pl.DataFrame:
    """Per slot: how many tries, the live one's columns, and the latest cause where none is live."""
    columns: Columns = {"slot": _t.slot, "trial": _t.id, "live": _t.live, "started": _t.started, "ended": _t.ended}
    columns |= {name: _t[name] for name in _TRIAL}
    query = select(_t.id).select_from(schema.trials)
    if experiment is not None:
        query = query.where(_t.experiment == experiment)
    tries = tabulate(connection, columns, query, ["ended", "trial"])
    seconds = (pl.col("ended") - pl.col("started")).dt.total_microseconds() / 1e6
    live = tries.filter("live").with_columns(seconds.alias("seconds")).drop("live")
    counts = tries.group_by("slot").agg(
        pl.len().cast(pl.Int64).alias("tries"),
        pl.when(~pl.col("live").any()).then(pl.col("cause").last()).alias("last_cause"),
    )
    return counts.join(live, on="slot", how="left")


def _submissions(connection: Connection) -> pl.DataFrame:
    s = schema.submissions.c
    columns: Columns = {"submission": s.id, "trial": s.trial, "at": s.at, "content": s.content, "status": s.status}
    query = select(s.id).select_from(schema.submissions).where(s.trial.is_not(None))
    frame = tabulate(connection, columns, query, ["at", "submission"])
    return frame.unique("trial", keep="first", maintain_order=True).drop("at")


def _amendments(connection: Connection) -> list[Amendment]:
    bodies = connection.execute(select(schema.amendments.c.body)).scalars()
    return [Amendment.model_validate_json(body) for body in bodies]


def _verdicts(
    connection: Connection, amendments: list[Amendment], experiment: str | None, round: str | None
) -> pl.DataFrame:
    parts = [pl.DataFrame(schema=_JUDGED)]
    for id, judged, alike in _rounds(connection, experiment, round):
        told = verdict_frame(judged, said_frame(connection, alike, amendments))
        told = overrule_frame(told, *_looked_again(connection, judged, alike, amendments))
        told = told.with_columns(experiment=pl.lit(id), submission="subject", round=pl.lit(judged.id))
        parts.append(told.select(parts[0].columns))
    return pl.concat(parts)


def _looked_again(
    connection: Connection, judged: Round, alike: list[str], amendments: list[Amendment]
) -> tuple[list[pl.DataFrame], list[pl.DataFrame]]:
    """What audits and adjudications over a round by people say, by time."""
    found: dict[str, list[pl.DataFrame]] = {"audit": [], "adjudication": []}
    if KIND in judged.versions:
        rounds = schema.rounds.c
        bodies = connection.execute(
            select(rounds.body).where(rounds.experiment.is_(None)).order_by(rounds.at, rounds.id)
        )
        for review in map(Round.model_validate_json, bodies.scalars().all()):
            kind = review.versions.get(KIND, "")
            if review.versions.get(OVER) in alike and kind in found:
                found[kind].append(verdict_frame(review, said_frame(connection, [review.id], amendments)))
    return found["audit"], found["adjudication"]


_NAMES = {"id", "reason", "author", "at"}


def _rounds(connection: Connection, experiment: str | None, round: str | None) -> list[tuple[str, Round, list[str]]]:
    """Per experiment the round that counts, and the ids of all rounds like it, itself among them.

    Rounds are alike where they differ in name, reason, author and moment only: two machines that graded parts of one
    experiment each opened one, with the same graders under the same rules.
    """
    query = select(schema.experiments.c.body)
    if experiment is not None:
        query = query.where(schema.experiments.c.id == experiment)
    out = []
    for body in connection.execute(query).scalars():
        planned = Experiment.model_validate_json(body)
        wanted = schema.rounds.c.id == round
        if round is None:
            protocol = schema.rounds.c.protocol == planned.lock.protocol.value
            wanted = protocol & (schema.rounds.c.experiment == planned.id)
        bodies = connection.execute(select(schema.rounds.c.body).where(wanted)).scalars()
        found = [Round.model_validate_json(b) for b in bodies]
        if found:
            latest = max(found, key=lambda r: (r.at, r.id))
            like = latest.model_dump(exclude=_NAMES)
            out.append((planned.id, latest, [r.id for r in found if r.model_dump(exclude=_NAMES) == like]))
    return out
