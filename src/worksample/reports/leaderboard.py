"""Agents side by side: pass, score, money, cost, time, tokens, steps, each with counts and interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from worksample.metrics import Estimate
from worksample.records import Experiment
from worksample.store import Store

from .slots import find_experiments, same_lock, slots_frame

if TYPE_CHECKING:
    import polars as pl

ILLUSTRATIVE = "illustrative"


@dataclass(frozen=True, slots=True)
class Row:
    """One agent's figures. Every Estimate carries its own counts."""

    agent: str
    name: str
    harness: str
    model: str | None
    planned: int | None
    """None for who handed work in: nothing was planned for them."""
    valid: int
    infrastructure_failed: int
    ungraded: int
    pending: int
    not_attemptable: int
    passed: Estimate
    """Full passes (ALE's full pass, TAC's S_full) of what is graded."""
    score: Estimate
    s_partial: Estimate
    earned: Estimate
    """US dollars: the value of the passed instances, the mean over repeats (RLI 3.3)."""
    cost: Estimate
    """US dollars per trial."""
    seconds: Estimate
    tokens: Estimate
    steps: Estimate
    entrant: str = ""
    """Who handed work in: "person" or "external agent"; "" for an agent of the plan."""

    @property
    def label(self) -> str:
        """The name, marked where it is no agent of the plan."""
        return f"{self.name} ({self.entrant})" if self.entrant else self.name

    @property
    def graded(self) -> str:
        """`7/8` of what was planned, `2 handed in`."""
        return f"{self.valid}/{self.planned}" if self.planned is not None else f"{self.valid} handed in"

    @property
    def rest(self) -> str:
        """What is not graded, in words: none of it counts as 0."""
        counts = (
            (self.infrastructure_failed, "failed by infrastructure"),
            (self.ungraded, "ungraded"),
            (self.not_attemptable, "not attemptable"),
            (self.pending, "not run"),
        )
        return ", ".join(f"{count} {what}" for count, what in counts if count)

    def plain(self) -> dict[str, Any]:
        out = {}
        for item in fields(self):
            value = getattr(self, item.name)
            out[item.name] = value.as_dict() if isinstance(value, Estimate) else value
        return out


@dataclass(frozen=True, slots=True)
class Leaderboard:
    experiments: tuple[Experiment, ...]
    rows: tuple[Row, ...]
    """Best first: by pass rate, then mean score, then name."""
    notes: tuple[str, ...] = ()

    @property
    def unsandboxed(self) -> bool:
        return any(e.lock.sandbox == "none" for e in self.experiments)

    def plain(self) -> dict[str, Any]:
        """For JSON: locks, counts and figures."""
        return {
            "experiments": [e.plain() for e in self.experiments],
            "lock": self.experiments[0].lock.comparable,
            "unsandboxed": self.unsandboxed,
            "rows": [row.plain() for row in self.rows],
            "notes": list(self.notes),
        }


def leaderboard(store: Store, experiments: Sequence[str] = (), *, illustrative: bool = False) -> Leaderboard:
    """The leaderboard of one or more experiments with equal locks (else PlanError).

    `illustrative`: let prices that are only illustrative count as dollars; the notes then say so.
    """
    found = find_experiments(store, experiments)
    same_lock(found)
    frame = slots_frame(store, found)
    return board_of(frame, tuple(found), illustrative=illustrative, entrants=entrants_of(store, found))


def entrants_of(store: Store, experiments: Sequence[Experiment]) -> pl.DataFrame | None:
    """Rows like those of `slots_frame` for graded work that people and agents elsewhere handed in; None without any."""
    import polars as pl

    from worksample.records import Origin, Submission

    if not store.find(Submission, origin=[Origin.EXTERNAL, Origin.PERSON], trial=None):
        return None
    from .measures.config import MeasureConfig
    from .measures.material import Material

    material = Material(store, experiments, MeasureConfig())
    frame = material.judged(material.primary)
    if frame is None:
        return None
    ours = frame.filter(pl.col("slot").is_null())
    kept = ours.with_columns(live=pl.lit(True), partial=pl.lit(None, dtype=pl.Float64))
    return kept if kept.height else None


def board_of(
    frame: pl.DataFrame,
    experiments: tuple[Experiment, ...],
    *,
    illustrative: bool = False,
    entrants: pl.DataFrame | None = None,
) -> Leaderboard:
    """The leaderboard over a frame of slots (see `slots_frame`), and of who handed work in (see `entrants_of`)."""
    groups = frame.partition_by("agent", maintain_order=True)
    rows = [_row(group, illustrative=illustrative) for group in groups]
    for group in entrants.partition_by("agent", maintain_order=True) if entrants is not None else ():
        origin = {"external": "external agent"}.get(group["harness"][0], "person")
        rows.append(replace(_row(group, illustrative=illustrative), planned=None, entrant=origin))
    rows.sort(key=lambda r: (-(r.passed.value or 0), -(r.score.value or 0), r.name, r.agent))
    notes = _notes(frame, illustrative)
    if any(row.entrant for row in rows):
        notes += ("Persons and external agents handed their work in: nothing was planned for them.",)
    return Leaderboard(experiments, tuple(rows), notes)


def _row(frame: pl.DataFrame, *, illustrative: bool) -> Row:
    import polars as pl

    from worksample.metrics import Unit, mean_score, rate

    first = frame.row(0, named=True)
    tried = frame.filter(pl.col("state") != "not_attemptable")
    states = dict(frame["state"].value_counts().iter_rows())
    cells: dict[str, Any] = {"state": tried["state"], "task": tried["task"], "instance": tried["instance_name"]}
    graded = pl.col("state") == "valid"
    seen = tried.select(
        pl.when(graded).then("passed").alias("passed"),
        pl.when(graded).then("score").alias("score"),
        # A verdict of votes, or of several judges, has no one grade to take it from.
        pl.when(graded).then(pl.coalesce("partial", 0.5 * pl.col("score") + 0.5 * pl.col("passed"))).alias("s_partial"),
    )

    def per_trial(column: str, unit: Unit) -> Estimate:
        values = tried.filter("live")
        return mean_score(values[column].cast(pl.Float64), task=values["task"], name=column, unit=unit)

    return Row(
        agent=first["agent"],
        name=first["agent_name"],
        harness=first["harness"] or "",
        model=first["model"],
        planned=frame.height,
        valid=states.get("valid", 0),
        infrastructure_failed=states.get("infrastructure", 0),
        ungraded=states.get("ungraded", 0),
        pending=states.get("pending", 0),
        not_attemptable=states.get("not_attemptable", 0),
        passed=rate(seen["passed"], name="pass", **cells),
        score=mean_score(seen["score"], name="mean score", **cells),
        s_partial=mean_score(seen["s_partial"], name="S_partial", **cells),
        earned=_earned(tried, illustrative=illustrative),
        cost=per_trial("cost", Unit.USD),
        seconds=per_trial("seconds", Unit.NUMBER),
        tokens=per_trial("tokens", Unit.COUNT),
        steps=per_trial("steps", Unit.COUNT),
    )


def _earned(frame: pl.DataFrame, *, illustrative: bool) -> Estimate:
    """Dollars of the instances that were passed; repeats share an instance's price."""
    import polars as pl

    from worksample.metrics import dollars_earned

    graded = pl.col("state") == "valid"
    repeats = graded.sum().over("instance").clip(1)
    cells = frame.select(
        pl.when(pl.col("value_currency") == "USD").then(pl.col("value_middle") / repeats).alias("price"),
        pl.when(graded).then("passed").alias("passed"),
        (pl.col("value_source") == ILLUSTRATIVE).alias("illustrative"),
        "state",
    )
    return dollars_earned(
        cells["price"],
        cells["passed"],
        state=cells["state"],
        illustrative=cells["illustrative"],
        include_illustrative=illustrative,
    ).earned


def _notes(frame: pl.DataFrame, illustrative: bool) -> tuple[str, ...]:
    notes = []
    priced = frame.filter(frame["value_source"] == ILLUSTRATIVE)["instance"].n_unique()
    if priced and illustrative:
        notes.append(f"Earned counts {priced} instances whose price is only illustrative.")
    elif priced:
        notes.append(f"{priced} instances have only an illustrative price: they stay out of what was earned.")
    unpriced = frame.filter((frame["tokens"].fill_null(0) > 0) & ~frame["priced"].fill_null(False)).height
    if unpriced:
        notes.append(f"{unpriced} trials made model calls without a known price: their cost is not counted as 0.")
    return tuple(notes)
