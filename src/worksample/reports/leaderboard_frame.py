"""The leaderboard: agents side by side with pass rate, score, money, cost, time, tokens and steps, each with counts and
interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from worksample.extras import need
from worksample.metrics import Estimate
from worksample.records import Experiment
from worksample.store import Store
from worksample.store.model_costs import AGENTS, Spending, spending

from .chosen_experiments import find_experiments, is_private, require_same_lock
from .cost_notes import cost_notes
from .figure_formatting import figure, with_interval
from .open_slots import open_slot_reasons

if TYPE_CHECKING:
    import polars as pl

    from worksample.metrics import Resampling
    from worksample.results.result_set import ResultSet, WorkRules

HEADS = ("agent", "pass", "mean score", "S_partial", "earned", "cost", "time", "tokens", "steps", "graded")

ILLUSTRATIVE = "illustrative"
COUNTED = ("planned", "valid", "infrastructure_failed", "ungraded", "pending", "not_attemptable")
"""Columns with counts in the frame of a leaderboard."""


@dataclass(frozen=True, slots=True)
class BoardRow:
    """The figures of one agent under one arm and at one attempt. Every estimate has its own counts."""

    agent: str
    name: str
    """The agent's name. The arm and the attempt are added if the leaderboard has several arms or attempts."""
    arm: str
    attempt: int
    harness: str
    model: str | None
    planned: int | None
    """Number of planned trials. None for people and external agents who handed in work."""
    valid: int
    infrastructure_failed: int
    ungraded: int
    """Number of ungraded trials, including those counted in `broken`."""
    broken: int
    """Number of trials that are ungraded because the deliverable crashed its grader, or because no model can see files
    of its kind.
    """
    unseen: int
    """Number of trials that are ungraded because the evaluator could not see enough of the work."""
    pending: int
    not_attemptable: int
    passed: Estimate
    """Pass rate under the protocol, among graded trials."""
    bounds: tuple[float | None, float | None]
    """Lowest and highest possible value of `passed` after everything is graded. Deliverables that crashed their grader
    count 0 in both.
    """
    score: Estimate
    s_partial: Estimate
    earned: Estimate
    """US dollars earned: the total value of the instances that passed, as the mean over repeats (RLI 3.3)."""
    cost: Estimate
    """Mean cost of a trial in US dollars."""
    seconds: Estimate
    tokens: Estimate
    steps: Estimate
    blind: int = 0
    """Number of trials counted in both `broken` and `unseen`: no model can see deliverables of their kind."""
    entrant: str = ""
    """"person" or "external agent" if the row is about handed-in work; "" if it is about an agent of the plan."""

    @property
    def label(self) -> str:
        """The agent's name, with a mark if the work was handed in and not planned."""
        return f"{self.name} ({self.entrant})" if self.entrant else self.name

    @property
    def graded(self) -> str:
        """Graded trials as text: `7/8` of the planned ones, or `2 handed in`."""
        return f"{self.valid}/{self.planned}" if self.planned is not None else f"{self.valid} handed in"

    @property
    def rest(self) -> str:
        """The numbers of trials that are not graded, as text. None of these trials counts as 0."""
        counts = (
            (self.infrastructure_failed, "failed by infrastructure"),
            (self.broken - self.blind, "ungraded: the deliverable crashed its grader"),
            (self.unseen, "ungraded: the evaluator could not see all of it"),
            (self.ungraded - self.broken - self.unseen + self.blind, "ungraded"),
            (self.not_attemptable, "not attemptable"),
            (self.pending, "not run"),
        )
        told = ", ".join(f"{count} {what}" for count, what in counts if count)
        low, high = self.bounds
        if low is None or high is None or low == high == self.passed.value:
            return told
        return f"{told} (pass between {100 * low:.1f} % and {100 * high:.1f} %)"

    def plain(self) -> dict[str, Any]:
        out = {}
        for item in fields(self):
            value = getattr(self, item.name)
            out[item.name] = value.as_dict() if isinstance(value, Estimate) else value
        return out


def cells_of(row: BoardRow) -> tuple[str, ...]:
    """Return a row of the board as text, one cell for each of `HEADS`."""
    return (
        row.label,
        with_interval(row.passed, "rate"),
        with_interval(row.score, "score"),
        figure(row.s_partial.value, "score"),
        figure(row.earned.value, "dollars"),
        "unknown" if row.cost.value is None and row.valid else figure(row.cost.value, "dollars"),
        figure(row.seconds.value, "seconds"),
        figure(row.tokens.value, "count"),
        figure(row.steps.value, "count"),
        row.graded,
    )


@dataclass(frozen=True, slots=True)
class Leaderboard:
    experiments: tuple[Experiment, ...]
    rows: tuple[BoardRow, ...]
    """Rows of the leaderboard, best first: by pass rate, then mean score, then name. A later attempt follows the first
    attempt that it continues.
    """
    notes: tuple[str, ...] = ()
    confidence: float = 0.95
    """Confidence level of the intervals."""
    spending: tuple[Spending, ...] = ()
    """Usage of the models of agents, colleagues and judges, over all tries and rounds."""

    @property
    def level(self) -> str:
        """The confidence of the intervals as text: `95 %`."""
        return f"{100 * self.confidence:.4g} %"

    @property
    def unsandboxed(self) -> bool:
        return any(e.lock.sandbox == "none" for e in self.experiments)

    @property
    def frame(self) -> pl.DataFrame:
        """Return the leaderboard as a table with a row per agent: the counts, and each figure with the ends of its
        interval in columns that end with `_low` and `_high`. An end is null if the figure has no interval.
        """
        import polars as pl

        rows = []
        for row in self.rows:
            cells: dict[str, Any] = {"agent": row.label, "model": row.model}
            for item in fields(row):
                value = getattr(row, item.name)
                if isinstance(value, Estimate):
                    cells |= {item.name: value.value, f"{item.name}_low": value.low, f"{item.name}_high": value.high}
                elif item.name in COUNTED:
                    cells[item.name] = value
            rows.append(cells)
        return pl.DataFrame(rows, infer_schema_length=None)

    def _repr_html_(self) -> str:
        """Return the table of the terminal as HTML, for a notebook."""
        from html import escape

        lines = [HEADS, *(cells_of(row) for row in self.rows)]
        html = ["".join(f"<td>{escape(cell)}</td>" for cell in line) for line in lines]
        notes = [f"{r.label}: {r.rest}; none of it counts as 0." for r in self.rows if r.rest] + list(self.notes)
        told = "".join(f"<p>{escape(note)}</p>" for note in notes)
        return f"<table>{''.join(f'<tr>{line}</tr>' for line in html)}</table>{told}"

    def plain(self) -> dict[str, Any]:
        """Return the locks, counts and figures of the leaderboard as JSON types."""
        return {
            "experiments": [e.plain() for e in self.experiments],
            "lock": self.experiments[0].lock.comparable,
            "unsandboxed": self.unsandboxed,
            "rows": [row.plain() for row in self.rows],
            "notes": list(self.notes),
            "spending": [one.plain() for one in self.spending],
        }


def leaderboard(
    store: Store,
    experiments: Sequence[str] = (),
    *,
    illustrative: bool = False,
    rules: WorkRules | None = None,
    how: Resampling | None = None,
) -> Leaderboard:
    """Build the leaderboard of one or more experiments with equal locks. Raises PlanError if the locks are different.

    `illustrative` says whether prices that are only illustrative count as dollars; the notes then say so. `rules` say
    whose answers make the verdicts (by default as the experiments state) and which part of the work is shown.
    """
    from worksample.results.result_set import ResultSet

    need("report")
    found = find_experiments(store, experiments)
    require_same_lock(found)
    work = ResultSet(store, found, rules)
    board = board_of(work.frame(work.primary), tuple(found), illustrative=illustrative, how=how)
    if rules is not None and rules.where:
        board = replace(board, notes=(f"Only work with {rules.where}.", *board.notes))
    board = replace(board, notes=(*board.notes, *_judges(store, work)))
    return add_reasons(store, board)


def _judges(store: Store, work: ResultSet) -> tuple[str, ...]:
    """Return notes on the judges behind the verdicts: how much their answers depend on the order in which a pair was
    shown.
    """
    from worksample.results.pair_orders import order_notes

    deciding = work.judgments.under(work.primary).deciding
    return tuple(f"{note}." for note in order_notes(store, [judged.given for judged in deciding]))


def add_reasons(store: Store, board: Leaderboard) -> Leaderboard:
    """Return the leaderboard with the cost of judges and colleagues, and with the reasons for open slots. For a private
    suite, reasons are only causes without messages.
    """
    said = open_slot_reasons(store, board.experiments, words=not is_private(store, board.experiments))
    spent = spending(store, [e.id for e in board.experiments])
    return replace(board, notes=(*board.notes, *_describe_spending(spent), *said), spending=spent)


def _sort_rows(rows: Sequence[BoardRow], experiments: Sequence[Experiment]) -> list[BoardRow]:
    """Sort the rows of the leaderboard, best first.

    A later attempt is made only on work that failed before, so its pass rate is not comparable with others. Its row
    comes below the attempt that it continues.
    """
    follows = {arm.name: arm.continues for one in experiments for arm in one.arms}
    first = {(row.agent, row.arm): row for row in rows if row.attempt == 1}

    def key(row: BoardRow) -> tuple[Any, ...]:
        arm = row.arm if row.attempt == 1 else follows.get(row.arm) or row.arm
        top = first.get((row.agent, arm), row)
        late = top.attempt > 1
        return (late, -(top.passed.value or 0), -(top.score.value or 0), top.label, top.agent, row.attempt, row.label)

    return sorted(rows, key=key)


def board_of(
    frame: pl.DataFrame,
    experiments: tuple[Experiment, ...],
    *,
    illustrative: bool = False,
    how: Resampling | None = None,
) -> Leaderboard:
    """Build the leaderboard from the table of a result set: a row per agent, arm and attempt, and a row for each
    entrant who handed work in.
    """
    rows, missing = [], []
    wanted = {instance for e in experiments for instance in e.lock.instances}
    for group in frame.partition_by("entry", maintain_order=True):
        row = _row(group, illustrative=illustrative, how=how)
        if group["slot"].is_null().all():
            origin = {"external": "external agent"}.get(group["harness"][0], "person")
            row = replace(row, planned=None, entrant=origin)
            if (there := group["instance"].n_unique()) < len(wanted):
                missing.append(f"{row.label} handed in work on {there} of {len(wanted)} instances.")
        rows.append(row)
    rows = _sort_rows(rows, experiments)
    notes = _notes(frame.filter(frame["slot"].is_not_null()), illustrative)
    if any(row.entrant for row in rows):
        notes += ("Persons and external agents handed their work in: nothing was planned for them.", *sorted(missing))
    return Leaderboard(experiments, tuple(rows), notes, how.level if how else 0.95)


def _row(frame: pl.DataFrame, *, illustrative: bool, how: Resampling | None) -> BoardRow:
    import polars as pl

    from worksample.metrics import Resampling, Unit, mean_score, rate
    from worksample.results.result_set import state_of

    how = how or Resampling()

    first = frame.row(0, named=True)
    tried = frame.filter(pl.col("state") != "not_attemptable")
    states = dict(frame["state"].value_counts().iter_rows())
    known = frame.with_columns(state=state_of("passed"))
    cells: dict[str, Any] = {"task": frame["task"], "instance": frame["instance_name"], "how": how}
    passed = rate(known["passed"], state=known["state"], failed=known["broken"], name="pass", **cells)

    def per_trial(column: str, unit: Unit) -> Estimate:
        values = tried.filter("live")
        return mean_score(values[column].cast(pl.Float64), task=values["task"], name=column, unit=unit, how=how)

    return BoardRow(
        agent=first["agent"],
        name=first["entry_label"],
        arm=first["arm"],
        attempt=first["attempt"],
        harness=first["harness"] or "",
        model=first["model"],
        planned=frame.height,
        valid=states.get("valid", 0),
        infrastructure_failed=states.get("infrastructure", 0),
        ungraded=states.get("ungraded", 0),
        broken=int(frame["broken"].sum()),
        unseen=int(frame["unseen"].sum()),
        blind=int((frame["broken"] & frame["unseen"]).sum()),
        pending=states.get("pending", 0),
        not_attemptable=states.get("not_attemptable", 0),
        passed=passed,
        bounds=passed.bounds or (passed.value, passed.value),
        score=mean_score(frame["score"], state=frame["state"], name="mean score", **cells),
        s_partial=mean_score(frame["partial"], state=known["state"], name="S_partial", **cells),
        earned=_dollars_earned(known.filter(pl.col("state") != "not_attemptable"), illustrative=illustrative, how=how),
        cost=per_trial("cost", Unit.USD),
        seconds=per_trial("seconds", Unit.NUMBER),
        tokens=per_trial("tokens", Unit.COUNT),
        steps=per_trial("steps", Unit.COUNT),
    )


def _dollars_earned(frame: pl.DataFrame, *, illustrative: bool, how: Resampling) -> Estimate:
    """Return the dollars of the instances that passed. Repeats of an instance share its price."""
    import polars as pl

    from worksample.metrics import dollars_earned

    graded = pl.col("state") == "valid"
    repeats = graded.sum().over("instance").clip(1)
    cells = frame.select(
        pl.when(pl.col("value_currency") == "USD").then(pl.col("value_middle") / repeats).alias("price"),
        pl.when(graded).then("passed").alias("passed"),
        (pl.col("value_source") == ILLUSTRATIVE).alias("illustrative"),
        "state",
        "task",
    )
    return dollars_earned(
        cells["price"],
        cells["passed"],
        state=cells["state"],
        illustrative=cells["illustrative"],
        include_illustrative=illustrative,
        how=how,
        task=cells["task"],
    ).earned


def _notes(frame: pl.DataFrame, illustrative: bool) -> tuple[str, ...]:
    notes = []
    priced = frame.filter(frame["value_source"] == ILLUSTRATIVE)["instance"].n_unique()
    if priced and illustrative:
        notes.append(f"Earned counts {priced} instances whose price is only illustrative.")
    elif priced:
        notes.append(f"{priced} instances have only an illustrative price: they are not counted in Earned.")
    return (*notes, *cost_notes(frame))


def _describe_spending(spent: Sequence[Spending]) -> Iterator[str]:
    """Describe the usage of colleagues' and judges' models; those that were never called are left out."""
    for one in spent:
        if one.who == AGENTS or not one.pieces:
            continue
        cost = "cost not known (no price)" if one.cost is None else figure(one.cost, "dollars")
        part = f", and {one.unpriced} without a known price" if one.unpriced and one.cost is not None else ""
        most = f", at most {figure(one.at_most, 'dollars')}" if one.unsettled and one.at_most is not None else ""
        yield f"{one.who.capitalize()}: {one.calls:,} model calls, {cost}{part}{most}; not in the agents' cost."
