"""Cost of model calls (TAC 4.1). The price of each call depends on its date, the length of its prompt and its cached
tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

import numpy as np
import polars as pl

from worksample.errors import UsageError
from worksample.metrics.column_checks import (
    Codes,
    Column,
    Flags,
    Floats,
    Ints,
    codes,
    integers,
    money,
    same_length,
    series,
)
from worksample.metrics.estimate import Estimate, Unit
from worksample.metrics.scores.shares_and_means import mean_score
from worksample.metrics.uncertainty.bootstrap import DEFAULT, Resampling

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """Prices of a model in US dollars per million tokens. They are valid for prompts of more than `above` tokens, from
    the date `since` on.

    If `cache_read` and `cache_write` are None, cached tokens cost as much as other prompt tokens. Output includes
    reasoning tokens.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    above: int = -1
    since: date = date.min

    def __post_init__(self) -> None:
        amounts = (self.input, self.output, self.cache_read or 0.0, self.cache_write or 0.0)
        if min(amounts) < 0 or max(amounts) > MILLION or not np.isfinite(amounts).all():
            raise UsageError(
                f"a price among {amounts} per million tokens is out of range", next="pass US dollars per million tokens"
            )


@dataclass(frozen=True, slots=True)
class Calls:
    """Columns with one row per model call.

    `fresh` is the number of prompt tokens that were neither read from nor written to a cache. The length of the prompt
    is fresh + cache_read + cache_write. `day` is the date of the call; it is needed only if prices changed. `billed` is
    the charge in US dollars that the model's service reported, null if it reported none.
    """

    model: Column
    fresh: Column
    output: Column
    cache_read: Column | None = None
    cache_write: Column | None = None
    day: Column | None = None
    billed: Column | None = None


def call_costs(
    calls: Calls,
    prices: Mapping[str, Sequence[TokenPrice]],
    basis: Literal["billed", "list, without caching"] = "billed",
) -> pl.Series:
    """Return the cost of each call in US dollars, null if the model has no price or a token count is unknown.

    With the basis "billed", the cost is the charge that the service reported, or else the list price including cache
    prices. With the basis "list, without caching", every prompt token costs the input price. This is the formula of
    TheAgentCompany and makes services comparable.
    """
    if basis not in ("billed", "list, without caching"):
        raise UsageError(f"unknown basis {basis!r}", next='pass "billed" or "list, without caching"')
    tokens, known = _tokens(calls)
    models = codes("model", calls.model)
    dates = _days(calls, {name: prices.get(name, ()) for name in models.names()})
    cost = np.full(len(known), np.nan)
    prompt = tokens[:, :3].sum(axis=1)
    for place, name in enumerate(models.names()):
        for rows, price in _applicable(prices.get(name, ()), models.index == place, prompt, dates):
            read = price.input if price.cache_read is None or basis != "billed" else price.cache_read
            write = price.input if price.cache_write is None or basis != "billed" else price.cache_write
            rates = np.array([price.input, read, write, price.output]) / MILLION
            cost[rows] = tokens[rows] @ rates
    cost[~known] = np.nan
    if basis == "billed" and calls.billed is not None:
        charged, said = money("billed", calls.billed)
        cost = np.where(said, charged, cost)
    return pl.Series("cost", cost).fill_nan(None)


def _tokens(calls: Calls) -> tuple[Floats, Flags]:
    columns = {
        "fresh": calls.fresh,
        "cache_read": calls.cache_read,
        "cache_write": calls.cache_write,
        "output": calls.output,
    }
    size = same_length(model=calls.model, day=calls.day, billed=calls.billed, **columns)
    known = np.ones(size, dtype=bool)
    out = []
    for name, column in columns.items():
        if column is None:
            out.append(np.zeros(size))
            continue
        numbers, there = integers(name, column, low=0)
        known &= there
        out.append(numbers.astype(np.float64))
    return np.column_stack(out), known


def _days(calls: Calls, prices: Mapping[str, Sequence[TokenPrice]]) -> Codes | None:
    if calls.day is not None:
        return codes("day", series("day", calls.day).cast(pl.Date))
    if changed := sorted(name for name, steps in prices.items() if len({p.since for p in steps}) > 1):
        raise UsageError(
            f"the price of {changed[0]} changed, but the dates of the calls are unknown",
            where="column 'day'",
            next="pass the day of each call",
        )
    return None


def _applicable(
    steps: Sequence[TokenPrice], mine: Flags, prompt: Floats, days: Codes | None
) -> list[tuple[Ints, TokenPrice]]:
    """Return each price together with the rows to which it applies.

    A row gets the latest price that was valid on its date and, of these, the price for the longest prompts that its
    prompt exceeds.
    """
    if len({(p.since, p.above) for p in steps}) < len(steps):
        raise UsageError(
            "two prices apply to the same date and the same length of prompt",
            where="prices",
            next="leave one of them out, or change its `since` or `above`",
        )
    starts = sorted({p.since for p in steps})
    out = []
    for place, since in enumerate(starts):
        rows = mine.copy()
        if days is not None:
            dates = days.labels.to_list()
            until = starts[place + 1] if place + 1 < len(starts) else date.max
            current = np.array([since <= d < until or (d == date.max == until) for d in dates], dtype=bool)
            rows &= current[days.index]
        tiers = sorted((p for p in steps if p.since == since), key=lambda p: p.above)
        for at, price in enumerate(tiers):
            upper = tiers[at + 1].above if at + 1 < len(tiers) else np.inf
            out.append((np.flatnonzero(rows & (prompt > price.above) & (prompt <= upper)), price))
    return out


def trial_costs(trial: Column, cost: Column) -> pl.DataFrame:
    """Return the cost of each trial, summed over its calls, as a table with the columns trial, calls, cost, unpriced.

    `cost` is null if a call of the trial has no price, since a sum without that call would look like the total.
    """
    same_length(trial=trial, cost=cost)
    trials = codes("trial", trial)
    amounts, known = money("cost", cost)
    missing = np.bincount(trials.index[~known], minlength=trials.size)
    total = np.bincount(trials.index, weights=np.where(known, amounts, 0.0), minlength=trials.size)
    return pl.DataFrame(
        {
            "trial": trials.labels,
            "calls": np.bincount(trials.index, minlength=trials.size),
            "cost": pl.Series(total).set(pl.Series(missing > 0), None),
            "unpriced": missing,
        }
    )


def cost_per_instance(
    cost: Column,
    basis: str,
    *,
    task: Column | None = None,
    instance: Column | None = None,
    how: Resampling = DEFAULT,
) -> Estimate:
    """Return the mean cost of a trial in US dollars, averaged over tasks. Trials with an unknown cost are left out and
    counted.

    `basis` is the basis of the costs, such as "billed" or "list, without caching". It is printed with the figure.
    """
    money("cost", cost)
    estimate = mean_score(cost, task=task, instance=instance, name="cost per instance", unit=Unit.USD, how=how)
    return estimate.conditional_on_more(basis)
