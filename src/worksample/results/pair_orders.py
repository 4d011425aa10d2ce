"""A judge's answers about each pair in both orders. The verdict on the pair combines both answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import polars as pl

from worksample.records import Evaluation, Evaluator, EvaluatorKind, PairwiseChoice

if TYPE_CHECKING:
    from worksample.store import Store

SCALES = ("completion", "quality")
"""The two questions about a pair, in the order in which a judge is asked."""
ORDERS: dict[str, pl.DataType] = {
    **dict.fromkeys(("evaluation", "evaluator", "instance", "scale", "shown", "swapped"), pl.String()),
    "draw": pl.Int64(),
}
_AT_ONCE = 500


def judges_in(store: Store, given: Iterable[pl.DataFrame]) -> dict[str, str]:
    """Return the names of the judges that gave these evaluations, by evaluator id."""
    ids = sorted({id for frame in given for id in frame["evaluator"].unique().to_list()})
    found = store.find(Evaluator, id=ids, type=EvaluatorKind.JUDGE) if ids else []
    return {each.id: each.name for each in found}


def orders_in(store: Store, given: pl.DataFrame, judges: Iterable[str]) -> pl.DataFrame:
    """Return a row for each pair, question and repeat of these judges. Comparisons without stored answers for both
    orders are left out.

    `shown` is the answer for the order in which the pair was drawn. `swapped` is the answer for the opposite order,
    translated to the drawn order.
    """
    pairs = given.filter((pl.col("payload") == "pairwise") & pl.col("evaluator").is_in(list(judges)))
    ids = pairs["evaluation"].to_list()
    rows = [row for start in range(0, len(ids), _AT_ONCE) for row in _read_orders(store, ids[start : start + _AT_ONCE])]
    return pl.DataFrame(rows, schema=ORDERS, orient="row")


def _read_orders(store: Store, ids: list[str]) -> Iterator[tuple[object, ...]]:
    sides = {side.value for side in PairwiseChoice}
    for evaluation in store.find(Evaluation, id=ids):
        for scale, asked in zip(SCALES, evaluation.record.get("asked", ()), strict=False):
            orders = asked.get("orders", ())
            if len(orders) == 2 and set(orders) <= sides:
                yield (
                    evaluation.id, evaluation.evaluator, evaluation.instance, scale, orders[0], orders[1],
                    evaluation.draw,
                )  # fmt: skip


def order_notes(store: Store, given: Iterable[pl.DataFrame]) -> tuple[str, ...]:
    """Return a sentence for each judge that says how often its answers depend on the order of the pair, with counts."""
    frames = list(given)
    judges = judges_in(store, frames)
    notes = []
    for id, name in sorted(judges.items(), key=lambda each: each[::-1]):
        said = pl.concat([orders_in(store, frame, [id]) for frame in frames])
        if said.is_empty():
            continue
        flips = said.filter(pl.col("shown") != pl.col("swapped")).height
        first = said["shown"].to_list().count("first") + said["swapped"].to_list().count("second")
        prefer = 2 * said.height - said["shown"].to_list().count("equal") - said["swapped"].to_list().count("equal")
        notes.append(
            f"{name}: {flips} of {said.height} verdicts on pairs flip with the order; of {prefer} answers that prefer "
            f"one, {first} prefer the first shown"
        )
    return tuple(notes)
