"""What every section is made of: the plan, what became of it, and per protocol what its judges said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl
from sqlalchemy import select

from worksample.metrics import Estimate, Resampling
from worksample.metrics.columns import MONEY_CEILING
from worksample.records import Experiment, Instance, Protocol, Slot, Submission, Suite
from worksample.results.chained import begun_in, chained
from worksample.results.frame import NOT_ATTEMPTABLE, ResultSet, WorkRules
from worksample.store import Store, schema

from .config import MeasureConfig
from .section import SectionRow

ILLUSTRATIVE = "illustrative"
NONE = "(none)"
TEXT = 90
"""Characters of a criterion's text in a table."""


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


class SectionMaterial(ResultSet):
    """A `Work` as the sections take it: by protocol, by agent, by groups of the work."""

    def __init__(self, store: Store, experiments: Sequence[Experiment], config: MeasureConfig) -> None:
        rules = WorkRules(config.struck, judged_by=config.judged_by, rubric=config.rules, where=config.where)
        super().__init__(store, experiments, rules)
        self.config = config

    def frame(self, protocol: Protocol) -> pl.DataFrame:
        """As `Work.frame`; a finished trial that could have called its model and never did has cost nothing."""
        called = pl.col("model").fill_null("") != ""
        idle = (pl.col("work") == "done") & pl.col("slot").is_not_null() & (pl.col("tokens").fill_null(0) == 0)
        idle &= pl.col("unsettled_calls").fill_null(0) == 0
        alone = pl.col("person_seconds").is_null()
        free = idle & alone & pl.col("cost").is_null() & called & (pl.col("harness") != "command")
        frame = super().frame(protocol)
        return frame.with_columns(cost=pl.when(free).then(0.0).otherwise(pl.col("cost").cast(pl.Float64)))

    def chains(self, frame: pl.DataFrame) -> pl.DataFrame:
        """`frame` with the attempts of each chain together: those of an arm after the first ones that it continues."""
        return chained(frame, self.experiments, self._begun)

    @cached_property
    def _begun(self) -> dict[str, str]:
        """Chains that a later delivery of the same tables goes on with are one chain."""
        if len(self.experiments) == 1:
            return {}
        return begun_in(slot for e in self.experiments for slot in self.store.find(Slot, experiment=e.id))

    @cached_property
    def hourly(self) -> float | None:
        """US dollars per hour of people: as asked for, else as the experiments' chains reckon, where they agree."""
        paid = {e.lock.chain.pay if e.lock.chain else None for e in self.experiments}
        return self.config.hourly if self.config.hourly is not None or len(paid) > 1 else next(iter(paid), None)

    @cached_property
    def chosen(self) -> frozenset[str]:
        """The submissions of the part of the work that is shown."""
        frames = (self.frame(protocol) for protocol in (self.primary, *self.bench.deciding))
        return frozenset(id for frame in frames for id in frame["submission"].drop_nulls())

    def among(self, said: pl.DataFrame, *columns: str) -> pl.DataFrame:
        """What was said of work that is shown: rows whose subjects (by default in `subject`) are all among it."""
        if not self.config.where:
            return said
        inside = (pl.col(c).is_null() | pl.col(c).is_in(list(self.chosen)) for c in columns or ("subject",))
        return said.filter(pl.all_horizontal(*inside))

    @property
    def how(self) -> Resampling:
        return self.config.how

    @cached_property
    def keys(self) -> dict[str, str]:
        """`task/name` by instance id, of every instance in the store, whichever version of the task it belongs to."""
        table = schema.instances.c
        with self.store.database.reading() as connection:
            return {id: key for id, key in connection.execute(select(table.id, table.key))}  # noqa: C416

    @cached_property
    def tasks(self) -> dict[str, str]:
        """The task by instance id: the unit of every interval."""
        return {id: task_of(key) for id, key in self.keys.items()}

    @cached_property
    def instances(self) -> dict[str, Instance]:
        """By id, those of the plan and those that somebody handed work in for."""
        ids = {*self.slots["instance"].to_list(), *(s.instance for s in self.handed_in)}
        return {id: self.store.get(Instance, id) for id in sorted(ids)}

    @cached_property
    def asked(self) -> dict[tuple[str, str], str]:
        """What a criterion asks, by task and its id; where instances of a task differ, as the first has it."""
        found: dict[tuple[str, str], str] = {}
        for instance in self.instances.values():
            for grading in instance.grading.values():
                for leaf in grading.criteria.leaves:
                    found.setdefault((instance.task, leaf.id), leaf.text)
        return found

    def named(self, task: str, criterion: str) -> str:
        """`task: what the criterion asks`, cut, with its id where the text is another."""
        text = self.asked.get((task, criterion), criterion)
        if text == criterion:
            return f"{task}: {criterion}"
        return f"{task}: {text if len(text) <= TEXT else text[: TEXT - 1] + '…'} ({criterion})"

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
        if by == "cohort":
            months = {id: i.about.job.cohort if i.about.job else "" for id, i in self.instances.items()}
            column = pl.col("instance").replace_strict(months, default="", return_dtype=pl.String)
            return frame.with_columns(pl.when(column == "").then(pl.lit(NONE)).otherwise(column).alias("group"))
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


def attempted(frame: pl.DataFrame, attempt: int | None = 1, *, able: bool = True) -> pl.DataFrame:
    """The rows of one attempt of their chains; `able`: those that could be attempted. Rates count no others, and their
    bounds do.
    """
    if able:
        frame = frame.filter(pl.col("state") != NOT_ATTEMPTABLE)
    return frame if attempt is None else frame.filter(pl.col("attempt") == attempt)


def unseen_notes(frame: pl.DataFrame) -> tuple[str, ...]:
    """How many of these are ungraded since whoever judged could not see enough of them, by cause."""
    lost = frame.filter("unseen")
    causes = lost["verdict_cause"].value_counts().sort("verdict_cause").iter_rows()
    told = ", ".join(f"{cause}: {count}" for cause, count in causes)
    return (f"{lost.height} of {frame.height} are ungraded since who judged could not see all of it ({told})",) * bool(
        told
    )


def task_of(key: str) -> str:
    """The task in `task/name`."""
    return key.rpartition("/")[0]


def usable_value(frame: pl.DataFrame) -> pl.Series:
    """The human's price in US dollars; null where it is unknown or in another currency."""
    return frame.select(pl.when(pl.col("value_currency") == "USD").then("value_middle").alias("price")).to_series()


def believable(column: str) -> pl.Expr:
    """US dollars within `MONEY_CEILING`, else null: one absurd row must not take a whole section with it."""
    return pl.when(pl.col(column).is_between(0, MONEY_CEILING)).then(pl.col(column).cast(pl.Float64)).alias(column)


def is_illustrative(frame: pl.DataFrame, column: str = "value_source") -> pl.Series:
    return (frame[column] == ILLUSTRATIVE).fill_null(False).alias("illustrative")
