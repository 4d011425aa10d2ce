"""Tables of the store's records as polars frames. Their columns are stable and listed in docs/data/frames.csv.

Every function takes `experiment` (an id or a name; None for all) and reads only the index; `trials_df` also takes
several ids. Rows are sorted by time, then id.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import polars as pl
from sqlalchemy import Connection, select
from sqlalchemy.orm import aliased
from sqlalchemy.sql import FromClause

from worksample.errors import UsageError
from worksample.records import Amendment, AmendmentTarget, Experiment, struck

from . import schema
from .dataframe_builder import Columns, middle, tabulate

if TYPE_CHECKING:
    from .store import Store

__all__ = ["comparisons_df", "evaluations_df", "submissions_df", "trials_df"]

_t, _a, _i, _s = schema.trials.c, schema.agents.c, schema.instances.c, schema.slots.c

AGENT: Columns = {"agent_name": _a.name, "model": _a.model, "harness": _a.harness}
INSTANCE: Columns = {"task": _i.task, "instance_name": _i.name}
ABOUT: Columns = {
    "category": _i.category,
    "tier": _i.tier,
    "value_low": _i.value_low,
    "value_high": _i.value_high,
    "value_currency": _i.value_currency,
    "value_source": _i.value_source,
    "hours_low": _i.hours_low,
    "hours_high": _i.hours_high,
    "hours_source": _i.hours_source,
}


UNSETTLED = ("cost_at_most", "estimated_calls", "cached_as_input", "failed_calls", "unsettled_calls")
"""Columns of a trial that tell how much of its cost is known."""

OTHERS = ("other_cost", "other_calls", "other_priced", "other_cost_at_most")
"""Columns of a trial on models other than the agent's."""


def struck_ids(connection: Connection, *targets: AmendmentTarget) -> dict[AmendmentTarget, list[str]]:
    """Return the ids of struck records of some kinds of targets (all if none is named), by kind."""
    query = select(schema.amendments.c.body)
    if targets:
        query = query.where(schema.amendments.c.target.in_([target.value for target in targets]))
    bodies = connection.execute(query).scalars()
    out: dict[AmendmentTarget, list[str]] = {target: [] for target in AmendmentTarget}
    for target, id in sorted(struck([Amendment.model_validate_json(b) for b in bodies])):
        out[target].append(id)
    return out


def experiment_id(store: Store, experiment: str) -> str:
    """Return the id of an experiment given by id or name (the latest of that name). Raises UsageError
    if none matches.
    """
    known = store.find(Experiment, id=experiment) or store.find(Experiment, name=experiment)
    if known:
        return known[-1].id
    names = ", ".join(dict.fromkeys(e.name for e in store.find(Experiment))) or "none"
    raise UsageError(f"no experiment {experiment!r} in this store; there are: {names}", next="worksample list")


def trials_df(store: Store, experiment: str | Collection[str] | None = None) -> pl.DataFrame:
    """Return one row per trial: every try of every slot, live or not.

    Seconds are wall-clock seconds, or working seconds if a person worked; `person_seconds` is the person's share.
    `tokens` is the sum of `input_tokens` (of prompts, not from a cache), `output_tokens`, and the tokens read from and
    written to the service's cache; `reasoning_tokens` are part of the output.

    `cost` is US dollars of the agent's model calls and of the person's time; null if neither has a price; `priced` is
    true if all prices are settled. `cost_at_most` is the maximum of that cost including everything unsettled; null if
    something has no price. `estimated_calls` are answers whose service reported no tokens, `cached_as_input` answers
    with cached tokens charged as input, `unsettled_calls` requests with an unknown end, and `failed_calls` refused
    requests. `other_cost` is the cost of the environment's roles, with `other_calls`, `other_priced` and
    `other_cost_at_most`. `phases` is JSON: seconds per phase.
    """
    columns: Columns = {
        "trial": _t.id,
        **{n: _t[n] for n in ("slot", "experiment", "agent")},
        **AGENT,
        "instance": _t.instance,
        **INSTANCE,
        **{n: _s[n] for n in ("arm", "attempt", "repeat")},
        **{n: _t[n] for n in ("try_number", "ending", "cause", "reason", "finished", "live", "started", "ended")},
        **{n: _t[n] for n in ("working_seconds", "person_seconds", "steps", "input_tokens", "output_tokens")},
        **{n: _t[n] for n in ("cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "tokens")},
        **{n: _t[n] for n in ("cost", "priced", *UNSETTLED)},
        **{n: _t[n] for n in (*OTHERS, "sandbox", "log", "phases")},
        **ABOUT,
    }
    source = (
        schema.trials.outerjoin(schema.agents, _a.id == _t.agent)
        .outerjoin(schema.instances, _i.id == _t.instance)
        .outerjoin(schema.slots, _s.id == _t.slot)
    )
    query = select(_t.id).select_from(source)
    if isinstance(experiment, str):
        experiment = (experiment_id(store, experiment),)
    if experiment is not None:
        query = query.where(_t.experiment.in_(experiment))
    with store.database.reading() as connection:
        frame = tabulate(connection, columns, query, ["ended", "trial"])
        out = struck_ids(connection, AmendmentTarget.TRIAL)[AmendmentTarget.TRIAL]
    seconds = seconds_of()
    return frame.with_columns(
        seconds.alias("seconds"),
        pl.col("trial").is_in(out).alias("struck"),
        middle("value_low", "value_high", "value_middle"),
        middle("hours_low", "hours_high", "hours_middle"),
    )


def seconds_of() -> pl.Expr:
    """Return the duration of a trial: from start to end, or by the assignment's timer if a person worked."""
    clock = (pl.col("ended") - pl.col("started")).dt.total_microseconds() / 1e6
    return pl.when(pl.col("person_seconds").is_not_null()).then("working_seconds").otherwise(clock)


def submissions_df(store: Store, experiment: str | None = None) -> pl.DataFrame:
    """Return one row per submission of any origin. `files` and `size` (bytes) describe its `output`.

    `live` is taken from its trial, and null without a trial. `entrant_name` is the agent's name, or else the entrant.
    """
    s = schema.submissions.c
    columns: Columns = {
        "submission": s.id,
        **{n: s[n] for n in ("experiment", "trial", "instance")},
        **INSTANCE,
        **{n: s[n] for n in ("origin", "entrant")},
        "agent_name": _a.name,
        "live": _t.live,
        **{n: s[n] for n in ("control", "at", "content", "status", "reason", "files", "size")},
        **{n: s[n] for n in ("reported_cost", "reported_minutes", "author")},
    }
    source = (
        schema.submissions.outerjoin(schema.instances, _i.id == s.instance)
        .outerjoin(schema.agents, _a.id == s.entrant)
        .outerjoin(schema.trials, _t.id == s.trial)
    )
    query = select(s.id).select_from(source)
    if experiment is not None:
        query = query.where(s.experiment == experiment_id(store, experiment))
    with store.database.reading() as connection:
        frame = tabulate(connection, columns, query, ["at", "submission"])
        out = struck_ids(connection, AmendmentTarget.SUBMISSION)[AmendmentTarget.SUBMISSION]
    name = pl.coalesce("agent_name", "entrant").alias("entrant_name")
    return frame.with_columns(name, pl.col("submission").is_in(out).alias("struck")).drop("agent_name")


_e, _r, _v = schema.evaluations.c, schema.rounds.c, schema.evaluators.c


def evaluations_df(store: Store, experiment: str | None = None) -> pl.DataFrame:
    """Return one row per evaluation of one submission of `experiment`; for pairs see `comparisons_df`.

    `score` is in 0..1 for grades and 1, 2 or 3 for holistic ones; `full` and `partial` (TAC 4.1) are for grades only.
    All are null if the evaluation failed or was declined; `cause` and `reason` say why. `stands` is false if an
    amendment strikes the evaluation, its evaluator, its submission or its instance. `cost` is US dollars of the judges,
    over `calls` answered calls; `priced` is true if all prices are settled, and `cost_at_most` is the maximum of that
    cost.
    """
    columns: Columns = {
        "evaluation": _e.id,
        "round": _e.round,
        "protocol": _r.protocol,
        "experiment": schema.submissions.c.experiment,
        "submission": _e.subject,
        "trial": schema.submissions.c.trial,
        "entrant": schema.submissions.c.entrant,
        "instance": _e.instance,
        **INSTANCE,
        **_EVALUATOR,
        **{n: _e[n] for n in ("grading", "outcome", "cause", "reason", "payload", "score", "full", "partial")},
        **{n: _e[n] for n in ("minutes", "cost", "calls", "priced", "cost_at_most", "author", "at")},
    }
    return _evaluations(store, columns, _joined_tables(), experiment, pairs=False)


_EVALUATOR: Columns = {"evaluator": _e.evaluator, "evaluator_name": _v.name, "evaluator_type": _v.type}
_second = aliased(schema.submissions, name="seconds")


def _joined_tables() -> FromClause:
    return (
        schema.evaluations.outerjoin(schema.rounds, _r.id == _e.round)
        .outerjoin(schema.evaluators, _v.id == _e.evaluator)
        .outerjoin(schema.instances, _i.id == _e.instance)
        .outerjoin(schema.submissions, schema.submissions.c.id == _e.subject)
    )


def comparisons_df(store: Store, experiment: str | None = None) -> pl.DataFrame:
    """Return one row per evaluation of a pair; `first` was shown first. With `experiment`, one of the two belongs to
    it.

    `completion` and `quality` are `first`, `equal` or `second` (RLI 3.4), or null if not answered.
    """
    first = schema.submissions.c
    columns: Columns = {
        "evaluation": _e.id,
        "round": _e.round,
        "instance": _e.instance,
        **INSTANCE,
        "first": _e.subject,
        "second": _e.second,
        "reference": _e.reference,
        "first_entrant": first.entrant,
        "second_entrant": _second.c.entrant,
        "first_origin": first.origin,
        "second_origin": _second.c.origin,
        **_EVALUATOR,
        **{
            n: _e[n]
            for n in ("outcome", "cause", "reason", "completion", "quality", "minutes", "cost", "calls", "priced")
        },
        **{n: _e[n] for n in ("cost_at_most", "author", "at")},
    }
    return _evaluations(
        store, columns, _joined_tables().outerjoin(_second, _second.c.id == _e.second), experiment, pairs=True
    )


def _evaluations(
    store: Store, columns: Columns, source: FromClause, experiment: str | None, *, pairs: bool
) -> pl.DataFrame:
    query = select(_e.id).select_from(source).where(_e.second.is_not(None) if pairs else _e.second.is_(None))
    if experiment is not None:
        experiment = experiment_id(store, experiment)
        mine = schema.submissions.c.experiment == experiment
        query = query.where(mine | (_second.c.experiment == experiment) if pairs else mine)
    with store.database.reading() as connection:
        frame = tabulate(connection, columns, query, ["at", "evaluation"])
        out = struck_ids(connection)
    subjects = ("first", "second") if pairs else ("submission",)
    gone = (
        pl.col("evaluation").is_in(out[AmendmentTarget.EVALUATION])
        | pl.col("evaluator").is_in(out[AmendmentTarget.EVALUATOR])
        | pl.col("instance").is_in(out[AmendmentTarget.INSTANCE])
    )
    for name in subjects:
        gone |= pl.col(name).is_in(out[AmendmentTarget.SUBMISSION])
    return frame.with_columns((~gone).alias("stands"))
