"""A summary of the report in words: one sentence for its first page, and a page for decision makers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.metrics import Estimate
from worksample.reports.figure_formatting import figure
from worksample.reports.leaderboard_frame import ILLUSTRATIVE, BoardRow, Leaderboard

if TYPE_CHECKING:
    import polars as pl

FEW_TASKS = 30
"""Number of tasks below which intervals are wide and results depend much on the choice of tasks."""
EXTREMES = 3
"""Number of categories that the summary names as strongest, and number that it names as weakest."""
LEAST = 5
"""Minimum number of graded trials in a category that the summary names."""


@dataclass(frozen=True, slots=True)
class Offer:
    """An agent's success and price. Amounts are in US dollars, None if unknown."""

    name: str
    passed: Estimate
    of_hundred: str
    """The number of passes expected in a hundred pieces of such work, as text: `41 (28 to 55)`."""
    cost: float | None
    """Mean cost in US dollars of one piece of work, whether it passed or not."""
    cost_passed: float | None
    """Cost in US dollars of one piece of work that passed: the cost of all trials divided by the number of passed
    trials.
    """
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    headline: str
    sure: str
    offers: tuple[Offer, ...]
    human: str
    """The price and the hours of people for the same work, as text. Empty if both are unknown."""
    strongest: tuple[str, ...]
    weakest: tuple[str, ...]
    checks: tuple[str, ...]
    """Points that a reader should check before relying on the result."""


def summary_of(
    board: Leaderboard, frame: pl.DataFrame, titles: Mapping[str, str], *, illustrative: bool = False
) -> Summary:
    """Build the summary from a leaderboard and its frame of slots; `titles`: of categories, by id.

    `illustrative`: whether prices and hours that are only illustrative count too; the summary then says so.
    """
    known = [row for row in board.rows if row.passed.value is not None]
    tasks = frame["task"].n_unique()
    strongest, weakest = _extremes(frame, known[0], titles) if known else ((), ())
    return Summary(
        headline=_headline(known, tasks),
        sure=_sure(known, tasks),
        offers=tuple(_offer(row) for row in known),
        human=_human(frame, illustrative),
        strongest=strongest,
        weakest=weakest,
        checks=tuple(_checks(board, frame)),
    )


def _headline(known: Sequence[BoardRow], tasks: int) -> str:
    if not known:
        return "Nothing has been graded yet, so no conclusion is possible."
    best = known[0]
    many = f"{tasks} task{'s' if tasks != 1 else ''}"
    text = f"{best.label} passes {figure(best.passed.value, 'rate')} of the work on {many}"
    ends = best.passed.low, best.passed.high
    if None not in ends:
        text += (
            f" ({100 * (best.passed.level or 0):.4g} % interval {figure(ends[0], 'rate')} to {figure(ends[1], 'rate')})"
        )
    return text + (", the highest rate of all agents tried." if len(known) > 1 else ".")


def _sure(known: Sequence[BoardRow], tasks: int) -> str:
    """Describe how certain the order of the agents is, and what limits that certainty."""
    if not known:
        return ""
    close = [row.label for row in known[1:] if _overlap(known[0].passed, row.passed)]
    said = []
    if close:
        names = close[0] if len(close) == 1 else f"{', '.join(close[:-1])} and {close[-1]}"
        said.append(
            f"Its interval overlaps with that of {names}: from these figures alone it is not clear which is better. "
            "A comparison task by task says more: worksample compare."
        )
    elif len(known) > 1:
        said.append("Its interval lies above those of all the others.")
    if tasks < FEW_TASKS:
        few = "One task is little" if tasks == 1 else f"{tasks} tasks are few"
        said.append(f"{few}: other tasks of the same kind could give a very different figure.")
    return " ".join(said)


def _overlap(one: Estimate, other: Estimate) -> bool:
    if None in (one.low, one.high, other.low, other.high):
        return True
    return bool(one.low <= other.high and other.low <= one.high)  # type: ignore[operator]


def _offer(row: BoardRow) -> Offer:
    passed, cost = row.passed.value, row.cost.value
    return Offer(
        name=row.label,
        passed=row.passed,
        of_hundred=_of_hundred(row.passed),
        cost=cost,
        cost_passed=cost / passed if cost is not None and passed else None,
        seconds=row.seconds.value,
    )


def _of_hundred(passed: Estimate) -> str:
    if passed.value is None:
        return ""
    text = f"{100 * passed.value:.0f}"
    if passed.low is None or passed.high is None:
        return text
    return f"{text} ({100 * passed.low:.0f} to {100 * passed.high:.0f})"


def _human(frame: pl.DataFrame, illustrative: bool) -> str:
    """Describe the mean price and hours of the instances; illustrative ones are left out, or named."""
    import polars as pl

    each = frame.unique("instance")
    said = []
    for column, kind, source in (
        ("value_middle", "dollars", "value_source"),
        ("hours_middle", "count", "hours_source"),
    ):
        real = each.filter(pl.col(column).is_not_null())
        if not illustrative:
            real = real.filter(pl.col(source) != ILLUSTRATIVE)
        if column == "value_middle":
            real = real.filter(pl.col("value_currency") == "USD")
        mean = real[column].cast(pl.Float64).mean()
        if isinstance(mean, float):
            amount = figure(mean, kind) + (" hours" if kind == "count" else "")
            invented = real.filter(pl.col(source) == ILLUSTRATIVE).height
            only = f", {invented} of them only illustrative" if invented else ""
            said.append(f"{amount} (mean over {real.height} of {each.height} instances{only})")
    return " and ".join(said)


def _extremes(
    frame: pl.DataFrame, best: BoardRow, titles: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the fields of work in which the best agent passes most and least; none if there are fewer than two."""
    import polars as pl

    mine = frame.filter(
        (pl.col("entry_label") == best.name) & pl.col("passed").is_not_null() & (pl.col("category").fill_null("") != "")
    )
    field = pl.col("category").str.split("/").list.first()
    shares = mine.group_by(category=field).agg(share=pl.col("passed").cast(pl.Float64).mean(), n=pl.len())
    shares = shares.filter(pl.col("n") >= LEAST)
    if shares["share"].n_unique() <= 1:
        return (), ()
    count = min(EXTREMES, shares.height // 2)

    def describe(rows: pl.DataFrame) -> tuple[str, ...]:
        return tuple(
            f"{titles.get(category, category)}: {figure(share, 'rate')} of {n} graded trials"
            for category, share, n in rows.select("category", "share", "n").iter_rows()
        )

    ranked = shares.sort("share", "category", descending=[True, False])
    return describe(ranked.head(count)), describe(ranked.tail(count).reverse())


def _checks(board: Leaderboard, frame: pl.DataFrame) -> list[str]:
    states = dict(frame["state"].value_counts().iter_rows())
    said = []
    if board.unsandboxed:
        said.append("It ran without a sandbox, so an agent could have reached more than its task.")
    failed, ungraded = states.get("infrastructure", 0), states.get("ungraded", 0)
    if failed or ungraded:
        said.append(
            f"{failed + ungraded} of {frame.height} planned trials have no grade. They count neither as "
            "passed nor as failed; the leaderboard says what the rate could be with them."
        )
    if states.get("not_attemptable"):
        said.append(f"{states['not_attemptable']} planned trials could not be attempted by the agent.")
    if states.get("pending"):
        said.append(f"{states['pending']} planned trials have not been run yet.")
    protocols = {e.lock.protocol.value for e in board.experiments}
    if protocols <= {"program", "checkpoints"}:
        said.append(
            "Programs graded it. They check what rules can check; have people look at some of the "
            "deliverables before you rely on them (worksample review)."
        )
    said.append("Read two or three trials that passed and two or three that failed, down to the deliverable.")
    return said
