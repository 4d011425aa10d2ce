"""Tables of the database that indexes the objects. Each record has one row, with its JSON text and columns for
searching.

Times are microseconds since 1970 in UTC. Digests and ids are text. All column types exist in every SQL database.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, MetaData, Table, Text

HEAD = "0011"
"""Version of all tables. `schema_migrations` upgrades the tables of an older database to this version. Every change in
this module or in `people_tables` requires a new version.
"""

metadata = MetaData()

meta = Table("meta", metadata, Column("key", Text, primary_key=True), Column("value", Text, nullable=False))
"""Facts about the database. `store` is the id of the store that the database indexes. `synced` is the time at which all
objects of the store were last checked.
"""

commits = Table(
    "commits",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("records", Integer, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("key", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
)


def _text(name: str, **rest: Any) -> Column[str]:
    return Column(name, Text, nullable=False, **rest)


def _maybe(name: str, **rest: Any) -> Column[str]:
    return Column(name, Text, nullable=True, **rest)


def _time(name: str, **rest: Any) -> Column[int]:
    return Column(name, BigInteger, nullable=False, **rest)


def _count(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False)


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


def _number(name: str, *, nullable: bool = True) -> Column[float]:
    return Column(name, Float(53), nullable=nullable)


def _table(name: str, *columns: Column[Any]) -> Table:
    return Table(
        name,
        metadata,
        Column("id", Text, primary_key=True),
        _text("object"),
        Column("schema_version", Integer, nullable=False),
        _text("body"),
        *columns,
    )


tasks = _table("tasks", _text("name", index=True), _text("version"), _text("package"), _time("ingested"))
instances = _table(
    "instances",
    _text("task", index=True),
    _text("name"),
    _text("key", index=True),
    _text("version"),
    _text("work"),
    _text("capture"),
    _text("tier"),
    _text("category"),
    _number("value_low"),
    _number("value_high"),
    _maybe("value_currency"),
    _maybe("value_source"),
    _number("hours_low"),
    _number("hours_high"),
    _maybe("hours_source"),
)
suites = _table("suites", _text("name", index=True), _text("version"), _text("visibility"))
agents = _table("agents", _text("name", index=True), _text("harness"), _maybe("model"))
experiments = _table("experiments", _text("name", index=True), _text("author"), _time("at"))
slots = _table(
    "slots",
    _text("experiment", index=True),
    _text("agent"),
    _text("instance"),
    _text("arm"),
    _count("attempt"),
    _count("repeat"),
    _text("not_attemptable"),
)
trials = _table(
    "trials",
    _text("slot", index=True),
    _text("experiment", index=True),
    _text("agent"),
    _text("instance"),
    _count("try_number"),
    _count("generation"),
    _text("ending"),
    _maybe("cause"),
    _text("reason"),
    _flag("finished"),
    _flag("live"),
    _time("started"),
    _time("ended"),
    _number("working_seconds", nullable=False),
    _number("person_seconds"),
    _count("steps"),
    _count("input_tokens"),
    _count("output_tokens"),
    _count("cache_read_tokens"),
    _count("cache_write_tokens"),
    _count("reasoning_tokens"),
    _count("tokens"),
    _number("cost"),
    _flag("priced"),
    _number("cost_at_most"),
    _count("estimated_calls"),
    _count("cached_as_input"),
    _count("failed_calls"),
    _count("unsettled_calls"),
    _number("other_cost"),
    _count("other_calls"),
    _flag("other_priced"),
    _number("other_cost_at_most"),
    _text("sandbox"),
    _text("log"),
    _text("phases"),
)
Index("one_live_trial", trials.c.slot, unique=True, sqlite_where=trials.c.live, postgresql_where=trials.c.live)
seat_events = _table(
    "seat_events", _text("slot", index=True), _count("number"), _text("person", index=True), _text("act"), _time("at")
)
submissions = _table(
    "submissions",
    _text("instance", index=True),
    _text("origin"),
    _text("entrant"),
    _time("at"),
    _maybe("trial", index=True),
    _maybe("experiment", index=True),
    _text("control"),
    _text("content", index=True),
    _text("status"),
    _text("reason"),
    _count("files"),
    _count("size"),
    _number("reported_cost"),
    _number("reported_minutes"),
    _text("author"),
)
rounds = _table(
    "rounds",
    _text("protocol"),
    _text("purpose"),
    _maybe("over", index=True),
    _maybe("experiment", index=True),
    _text("rule"),
    _time("at"),
)
evaluators = _table("evaluators", _text("name", index=True), _text("type"), _text("version"), _time("at"))
evaluations = _table(
    "evaluations",
    _text("round", index=True),
    _text("subject", index=True),
    _maybe("second"),
    _maybe("reference"),
    _text("instance"),
    _text("grading"),
    _text("evaluator"),
    _count("draw"),
    _text("outcome"),
    _maybe("cause"),
    _text("reason"),
    _maybe("payload"),
    _number("score"),
    Column("full", Boolean, nullable=True),
    _number("partial"),
    _maybe("completion"),
    _maybe("quality"),
    _number("minutes"),
    _number("cost"),
    _count("calls"),
    _flag("priced"),
    _number("cost_at_most"),
    _text("author"),
    _time("at"),
)
amendments = _table(
    "amendments", _text("action"), _text("target"), _text("target_id", index=True), _text("author"), _time("at")
)

TABLES: dict[str, Table] = {
    "task": tasks,
    "instance": instances,
    "suite": suites,
    "agent": agents,
    "experiment": experiments,
    "slot": slots,
    "trial": trials,
    "seat_event": seat_events,
    "submission": submissions,
    "round": rounds,
    "evaluator": evaluators,
    "evaluation": evaluations,
    "amendment": amendments,
}
"""Table of each kind of record."""
