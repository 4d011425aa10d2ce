"""A verdict joins the leaves of programs, judges and people: random worlds against what is written down."""

from __future__ import annotations

import math
import random
import tempfile
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from verdicts.joined_worlds import JoinedWorld
from worksample.records import JudgedBy, Protocol
from worksample.store import Store
from worksample.verdicts.frame import Work, WorkRules

PROTOCOLS = (Protocol.PROGRAM, Protocol.CHECKPOINTS, Protocol.RUBRIC)


def compared(world: JoinedWorld, by: JudgedBy | None) -> list[str]:
    """The reasons of the verdicts that were held against the oracle."""
    rules = WorkRules(judged_by=by)
    frame = Work(world.store, [world.experiment], rules).frame(world.protocol)
    rows = {row["submission"]: row for row in frame.iter_rows(named=True)}
    seen = []
    for n, subject in world.made.items():
        if world.criteria(n).kinds <= {"program"}:
            continue
        kind = by.kind if by else None
        expected, row = world.told(n, kind.value if kind else None), rows[subject]
        told = (row["standing"], row["reason"], row["verdict_cause"], row["passed"])
        assert told == (expected["standing"], expected["reason"], expected["cause"], expected["passed"]), row
        assert (row["score"] is None) == (expected["score"] is None)
        assert expected["score"] is None or math.isclose(row["score"], expected["score"], abs_tol=1e-9)
        assert row["standing"] != "decided" or (row["evaluations"] and row["rounds"])
        words = row["reason"].split(":")[0] or f"{row['standing']} {row['passed']}"
        seen.append(words)
    return seen


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_verdict_joins_its_leaves_as_is_written_down(protocol: Protocol) -> None:
    seen: Counter[str] = Counter()
    for seed in range(10):
        with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "s", create=True) as store:
            world = JoinedWorld(store, protocol, random.Random(seed))
            seen.update(compared(world, random.Random(seed).choice([None, None, None, *JudgedBy])))
    wanted = {"decided True", "decided False", "waits for people", "waits for a judge", "waits for a program",
              "could not be judged", "the raters are split on", "too few grades by people"}  # fmt: skip
    assert wanted <= set(seen), seen


@pytest.mark.parametrize("protocol", (Protocol.PROGRAM, Protocol.CHECKPOINTS))
def test_points_by_kind_add_up_to_the_score(protocol: Protocol) -> None:
    """Whoever answers, whatever gates close, and where the last criterion gives all: every criterion has a kind."""
    held = 0
    for seed in range(10):
        with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "s", create=True) as store:
            world = JoinedWorld(store, protocol, random.Random(seed))
            work = Work(world.store, [world.experiment])
            points = work.points_by_kind(protocol).group_by("submission").agg(pl.col("earned", "points").sum())
            rows = work.frame(protocol).drop_nulls("score").join(points, on="submission", how="left")
            for n, subject in world.made.items():
                row = next(iter(rows.filter(pl.col("submission") == subject).iter_rows(named=True)), None)
                if row is not None and not world.criteria(n).kinds <= {"program"}:
                    assert math.isclose(row["earned"] / row["points"], row["score"], abs_tol=1e-9), (seed, n)
                    held += 1
    assert held > 20
