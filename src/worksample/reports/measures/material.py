"""What every section is made of: the plan, what became of it, and per protocol what its judges said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl
from sqlalchemy import select

from worksample.metrics import Estimate, Resampling, State
from worksample.records import Amendment, Experiment, Instance, Origin, Protocol, Standing, Submission, Suite
from worksample.reports.slots import slots_frame
from worksample.store import Store, schema
from worksample.store.frames import submissions_df, trials_df

from .config import MeasureConfig
from .judged import Bench, Judged, criteria, judge, without_reviews
from .section import SectionRow

VALID, UNGRADED = State.VALID.value, State.UNGRADED.value
NOT_ATTEMPTABLE = "not_attemptable"
ILLUSTRATIVE = "illustrative"
NONE = "(none)"
_WORK = ("category", "tier", "value_low", "value_high", "value_middle", "value_currency", "value_source")
_HOURS = ("hours_low", "hours_high", "hours_middle", "hours_source")


@dataclass(frozen=True)
class Group:
    """The rows behind one line of a table."""

    label: str
    agent: str
    by: str
    rows: pl.DataFrame

    def line(self, *cells: Estimate | str) -> SectionRow:
        """The line, with the group's name first where there is one."""
        return SectionRow(self.label, self.agent, (*((self.by,) if self.by else ()), *cells))


class Material:
    """Frames of some experiments, read once. `work` in `slots` is `done`, `pending`, `infrastructure` or
    `not_attemptable`; `who` is the agent, with its arm where there are several.
    """

    def __init__(self, store: Store, experiments: Sequence[Experiment], config: MeasureConfig) -> None:
        self.store, self.experiments, self.config = store, tuple(experiments), config
        self.every_amendment = store.find(Amendment)
        self.amendments = self.every_amendment if config.struck else without_reviews(self.every_amendment)
        self.slots = _slots(store, self.experiments, restore=not config.struck)
        self._frames: dict[Protocol, pl.DataFrame] = {}
        self._criteria: dict[str, pl.DataFrame] = {}

    @property
    def how(self) -> Resampling:
        return self.config.how

    @cached_property
    def bench(self) -> Bench:
        """All judging, resolved."""
        ids = frozenset(self.slots["submission"].drop_nulls().to_list())
        handed = frozenset(s.id for s in self.handed_in)
        misses = self.config.skips == "paper"
        return judge(self.store, self.experiments, ids, self.amendments, handed=handed, misses=misses)

    @cached_property
    def handed_in(self) -> tuple[Submission, ...]:
        """Work on planned instances by people, and by agents elsewhere, that no slot of ours made."""
        planned, inside = set(self.slots["instance"].to_list()), {e.id for e in self.experiments}
        made = self.store.find(Submission, origin=[Origin.EXTERNAL, Origin.PERSON])
        return tuple(
            s
            for s in made
            if s.trial is None and s.instance in planned and (s.experiment is None or s.experiment in inside)
        )

    @property
    def primary(self) -> Protocol:
        """The protocol under which the experiments grade."""
        return self.experiments[0].lock.protocol

    @cached_property
    def keys(self) -> dict[str, str]:
        """`task/name` by instance id, of every instance in the store, whichever version of the task it belongs to."""
        table = schema.instances.c
        with self.store.database.reading() as connection:
            return {id: key for id, key in connection.execute(select(table.id, table.key))}  # noqa: C416

    @cached_property
    def instances(self) -> dict[str, Instance]:
        """By id, those of the plan and those that somebody handed work in for."""
        ids = {*self.slots["instance"].to_list(), *(s.instance for s in self._outside.values())}
        return {id: self.store.get(Instance, id) for id in sorted(ids)}

    @cached_property
    def _outside(self) -> dict[str, Submission]:
        """Judged work that no slot of ours made: of people, and of agents elsewhere. Controls are no entrants."""
        counting = [j for said in self.bench.counting.values() for j in said]
        pairs = [j.given for j in self.bench.counting.get(Protocol.PAIRWISE, ())]
        judged = [j.verdicts["subject"] for j in counting] + [g[side] for g in pairs for side in ("subject", "second")]
        found = {s.id: s for s in self.submissions(self.unplanned(*judged))}
        inside = {e.id for e in self.experiments}
        wanted = (Origin.EXTERNAL, Origin.PERSON)
        return {
            id: s for id, s in found.items() if s.origin in wanted and (s.experiment is None or s.experiment in inside)
        }

    def judged(self, protocol: Protocol) -> pl.DataFrame | None:
        """The slots, and what was handed in from elsewhere, with the verdicts under `protocol`; None without a round.

        Adds `state` (a `State` or not_attemptable), standing, score, passed, holistic (the label 1, 2 or 3), reason
        and evaluation (whose grade decides); score, passed and holistic are null unless the state is valid.
        """
        if protocol not in self.bench.counting:
            return None
        if protocol not in self._frames:
            self._frames[protocol] = self._with_verdicts(self.bench.counting[protocol])
        return self._frames[protocol]

    def _with_verdicts(self, said: Sequence[Judged]) -> pl.DataFrame:
        told = pl.concat([j.verdicts for j in said]).unique("subject", keep="last", maintain_order=True)
        told = told.select(
            "standing", "score", "passed", "reason", "evaluation", submission="subject", holistic="label"
        )
        here = set(told["submission"]) if self._outside else set()
        outside = [s for id, s in self._outside.items() if id in here]
        frame = self.slots
        if outside:
            frame = pl.concat([frame, self._entrants(outside)], how="diagonal_relaxed")
        frame = frame.join(told, on="submission", how="left", maintain_order="left")
        decided = (pl.col("work") == "done") & (pl.col("standing") == Standing.DECIDED.value)
        done = pl.when(decided).then(pl.lit(VALID)).otherwise(pl.lit(UNGRADED))
        frame = frame.with_columns(state=pl.when(pl.col("work") == "done").then(done).otherwise("work"))
        known = pl.col("state") == VALID
        return frame.with_columns(pl.when(known).then(c).alias(c) for c in ("score", "passed", "holistic"))

    def unplanned(self, *columns: pl.Series) -> list[str]:
        """The submissions in these columns that no slot of ours made."""
        each = [c.drop_nulls().cast(pl.String).unique().alias("id") for c in columns]
        named = pl.concat(each).unique() if each else pl.Series("id", [], dtype=pl.String)
        known = self.slots.select(id="submission").drop_nulls()
        return sorted(named.to_frame().join(known, on="id", how="anti")["id"].to_list())

    def submissions(self, ids: Sequence[str]) -> list[Submission]:
        """These submissions."""
        parts = (ids[start : start + 500] for start in range(0, len(ids), 500))
        return [s for part in parts for s in self.store.find(Submission, id=list(part))]

    def criteria(self, judged: Judged) -> pl.DataFrame:
        """See `judged.criteria`; read once."""
        if judged.round.id not in self._criteria:
            self._criteria[judged.round.id] = criteria(self.store, judged)
        return self._criteria[judged.round.id]

    def _entrants(self, outside: list[Submission]) -> pl.DataFrame:
        """Rows like those of slots for work from elsewhere; several of one entrant on an instance are repeats."""
        about = self.slots.select("instance", *_WORK, *_HOURS).unique("instance")
        seen: dict[tuple[str, str], int] = {}
        rows = []
        for s in sorted(outside, key=lambda s: (s.at, s.id)):
            place = (s.entrant, s.instance)
            seen[place] = seen.get(place, 0) + 1
            instance = self.instances[s.instance]
            rows.append(
                {
                    "agent": s.entrant, "agent_name": s.entrant, "who": s.entrant, "label": s.entrant,
                    "harness": s.origin.value, "instance": s.instance, "task": instance.task,
                    "instance_name": instance.name, "key": instance.key, "arm": "plain", "attempt": 1,
                    "repeat": seen[place], "work": "done", "submission": s.id, "struck": False,
                    "cost": s.reported.cost,
                    "seconds": None if s.reported.minutes is None else 60 * s.reported.minutes,
                }
            )  # fmt: skip
        return pl.DataFrame(rows, infer_schema_length=None).join(about, on="instance", how="left")

    @cached_property
    def tiers(self) -> tuple[str, ...]:
        """The suite's tiers in its order; empty where no suite is known or it has none."""
        suites = [s for s in self.store.find(Suite) if s.id == self.experiments[0].lock.suite]
        return tuple(t.name for t in suites[0].tiers) if suites else ()

    def with_group(self, frame: pl.DataFrame, by: str) -> pl.DataFrame:
        """`frame` with `group`; by platform a row stands once for each service that its instance needs."""
        if by == "platform":
            services = {id: list(i.work.environment.services) for id, i in self.instances.items()}
            shape = pl.Schema({"instance": pl.String(), "group": pl.List(pl.String())})
            table = pl.DataFrame({"instance": list(services), "group": list(services.values())}, schema=shape)
            return (
                frame.join(table, on="instance", how="left", maintain_order="left").explode("group").drop_nulls("group")
            )
        column = {"domain": pl.col("category").str.split("/").list.first()}.get(by, pl.col(by))
        return frame.with_columns(pl.when(column == "").then(None).otherwise(column).fill_null(NONE).alias("group"))

    def agents(self, frame: pl.DataFrame) -> Iterator[Group]:
        """One group per agent (and arm), by label."""
        for rows in frame.sort("label", "who", maintain_order=True).partition_by("who", maintain_order=True):
            yield Group(rows["label"][0], rows["agent"][0], "", rows)

    def groups(self, frame: pl.DataFrame) -> Iterator[Group]:
        """One group per agent, or per agent and `config.by`."""
        by = self.config.by
        if by in ("", "agent"):
            yield from self.agents(frame)
            return
        for rows in self.with_group(frame, by).sort("group", "label", maintain_order=True).partition_by(
            ["group", "who"], maintain_order=True
        ):  # fmt: skip
            yield Group(rows["label"][0], rows["agent"][0], rows["group"][0], rows)

    def columns(self, *names: str) -> tuple[str, ...]:
        """Names of a table over `groups`."""
        return (self.config.by, *names) if self.config.by not in ("", "agent") else names

    @property
    def by_notes(self) -> tuple[str, ...]:
        return ("groups overlap: never average them",) if self.config.by == "platform" else ()


def attempted(frame: pl.DataFrame, attempt: int | None = 1) -> pl.DataFrame:
    """The rows that could be attempted, of one attempt of their chains."""
    frame = frame.filter(pl.col("state") != NOT_ATTEMPTABLE)
    return frame if attempt is None else frame.filter(pl.col("attempt") == attempt)


def usable_value(frame: pl.DataFrame) -> pl.Series:
    """The human's price in US dollars; null where it is unknown or in another currency."""
    return frame.select(pl.when(pl.col("value_currency") == "USD").then("value_middle").alias("price")).to_series()


def is_illustrative(frame: pl.DataFrame, column: str = "value_source") -> pl.Series:
    return (frame[column] == ILLUSTRATIVE).fill_null(False).alias("illustrative")


def _slots(store: Store, experiments: Sequence[Experiment], *, restore: bool) -> pl.DataFrame:
    """The plan with what became of it, and without any verdict."""
    frame = slots_frame(store, experiments, judged=False)
    done = pl.col("state").is_in([VALID, UNGRADED])
    frame = frame.with_columns(
        pl.when(done).then(pl.lit("done")).otherwise("state").alias("work"),
        (pl.col("task") + "/" + pl.col("instance_name")).alias("key"),
        pl.lit(False).alias("struck"),
    ).drop("state", "standing", "score", "passed", "partial", "label", "reason", "verdict_cause", "round")
    if restore:
        frame = _restored(store, experiments, frame)
    many = frame["arm"].n_unique() > 1
    arm = pl.col("arm")
    return frame.with_columns(
        (pl.col("agent") + " / " + arm if many else pl.col("agent")).alias("who"),
        (pl.col("agent_name") + " (" + arm + ")" if many else pl.col("agent_name")).alias("label"),
    )


def _restored(store: Store, experiments: Sequence[Experiment], frame: pl.DataFrame) -> pl.DataFrame:
    """As if no trial or submission had been struck. A slot that was run again counts with its new trial."""
    tries = pl.concat([trials_df(store, e.id) for e in experiments], how="vertical_relaxed")
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
