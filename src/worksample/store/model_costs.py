"""Costs of the models in an experiment, by role: agents, colleagues and judges."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, or_, select

from . import schema

if TYPE_CHECKING:
    import polars as pl

    from .store import Store

AGENTS, COLLEAGUES, JUDGES = "agents", "colleagues", "judges"
_e, _r, _s = schema.evaluations.c, schema.rounds.c, schema.submissions.c


@dataclass(frozen=True, slots=True)
class Spending:
    """Cost in US dollars of one role over all tries. Failed work and struck work are included."""

    who: str
    calls: int = 0
    """Number of model calls that were answered."""
    cost: float | None = None
    """Cost in US dollars of the calls that have a price; None if no call has a price."""
    at_most: float | None = None
    """Maximum cost in US dollars, including everything unsettled; None if something has no price."""
    pieces: int = 0
    """Number of trials or evaluations that used a model, or may have used one."""
    unpriced: int = 0
    """Number of trials or evaluations (of `pieces`) that made calls without a price."""
    unsettled: int = 0
    """Number of trials or evaluations (of `pieces`) whose cost is partly estimated or unsettled."""
    full_price: int = 0
    """Number of trials or evaluations (of `pieces`) whose cached tokens are charged at the full price. Their cost is an
    upper bound.
    """

    def plain(self) -> dict[str, Any]:
        """Return the fields as JSON types."""
        return asdict(self)


def spending(store: Store, experiments: Iterable[str]) -> tuple[Spending, ...]:
    """Return the cost of agents, colleagues and judges in these experiments, which are given by id."""
    import polars as pl

    from .dataframes import trials_df

    ids = list(experiments)
    tries = pl.concat([trials_df(store, id) for id in ids], how="vertical_relaxed")
    return (of_agents(tries), of_colleagues(tries), of_judges(store, ids))


def of_agents(tries: pl.DataFrame) -> Spending:
    """Return the cost of the agents' models and of people who did the work of trials. `tries` is a frame with the
    columns of `trials_df`.
    """
    rows = tries.select(
        "steps", "cost", "priced", "cost_at_most", "tokens", "unsettled_calls", "cached_as_input"
    ).iter_rows(named=True)
    return _add_up(
        AGENTS, ({**row, "calls": row["steps"]} for row in rows if row["cost"] is not None or _used_model(row))
    )


def of_colleagues(tries: pl.DataFrame) -> Spending:
    """Return the cost of the models that play colleagues of the agents. `tries` is a frame with the columns of
    `trials_df`.
    """
    rows = tries.filter((tries["other_calls"] > 0) | tries["other_cost"].is_not_null()).select(
        calls="other_calls", cost="other_cost", priced="other_priced", cost_at_most="other_cost_at_most"
    )
    return _add_up(COLLEAGUES, rows.iter_rows(named=True))


def of_judges(store: Store, experiments: Iterable[str]) -> Spending:
    """Return the cost of judges in all rounds of these experiments, including evaluations that no longer count."""
    return _judges_of([row for rows in _read_judged(store, list(experiments)).values() for row in rows])


def of_judges_by_experiment(store: Store, experiments: Collection[str]) -> dict[str, Spending]:
    """Return the cost of judges in all rounds of each experiment, by experiment id. One SQL statement reads all
    experiments.
    """
    rows = _read_judged(store, list(experiments))
    return {id: _judges_of(rows.get(id, [])) for id in experiments}


def _read_judged(store: Store, ids: list[str]) -> dict[str, list[Any]]:
    """Return sums over the evaluations by judges, by experiment id. An experiment has one row for each combination of
    what is known about the cost: settled, unknown, or bounded.
    """
    mine = or_(_r.experiment.in_(ids), _r.experiment.is_(None) & _s.experiment.in_(ids))
    asked = or_(_e.calls > 0, _e.cost.is_not(None), _e.cost_at_most.is_not(None))
    source = schema.evaluations.outerjoin(schema.rounds, _r.id == _e.round).outerjoin(
        schema.submissions, _s.id == _e.subject
    )
    priced = _e.priced.is_(True)
    groups = select(
        priced.label("priced"), _e.cost.is_(None).label("free"), _e.cost_at_most.is_(None).label("open"),
        func.count().label("pieces"), func.sum(_e.calls).label("calls"), func.sum(_e.cost).label("cost"),
        func.sum(_e.cost_at_most).label("at_most"), func.coalesce(_r.experiment, _s.experiment).label("of"),
    ).select_from(source).where(mine, asked).group_by("of", "priced", "free", "open")  # fmt: skip
    found: dict[str, list[Any]] = {}
    with store.database.reading() as connection:
        for row in connection.execute(groups):
            found.setdefault(row.of, []).append(row)
    return found


def _judges_of(rows: Sequence[Any]) -> Spending:
    known = [float(r.cost) for r in rows if r.cost is not None]
    unpriced = sum(int(r.pieces) for r in rows if not r.priced and r.open)
    most = sum(float((r.cost if r.priced else r.at_most) or 0.0) for r in rows)
    return Spending(
        JUDGES,
        calls=sum(int(r.calls) for r in rows),
        cost=sum(known) if known else None,
        at_most=most if rows and not unpriced else None,
        pieces=sum(int(r.pieces) for r in rows),
        unpriced=unpriced,
        unsettled=sum(int(r.pieces) for r in rows if not r.priced and not r.open),
    )


def _used_model(row: Mapping[str, Any]) -> bool:
    return (row["tokens"] or 0) > 0 or (row["unsettled_calls"] or 0) > 0


def _add_up(who: str, rows: Iterable[Mapping[str, Any]]) -> Spending:
    calls = pieces = unpriced = unsettled = full_price = 0
    costs, bounds = [], []
    for row in rows:
        pieces += 1
        calls += row["calls"] or 0
        costs += [row["cost"]] if row["cost"] is not None else []
        most = row["cost"] if row["priced"] else row["cost_at_most"]
        unpriced += most is None
        full_price += bool(row.get("cached_as_input"))
        unsettled += not row["priced"] and most is not None
        bounds += [most] if most is not None else []
    return Spending(
        who, calls, sum(costs) if costs else None, sum(bounds) if pieces and not unpriced else None, pieces,
        unpriced, unsettled, full_price,
    )  # fmt: skip
