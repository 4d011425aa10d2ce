"""Verdicts that join leaves of programs, judges and people: random worlds against a written oracle."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import polars as pl
import pytest

from results.joined_worlds import JoinedWorld
from worksample.records import JudgedBy, Protocol
from worksample.results.result_set import ResultSet, WorkRules
from worksample.store import Store

PROTOCOLS = (Protocol.PROGRAM, Protocol.CHECKPOINTS, Protocol.RUBRIC)


def compared(world: JoinedWorld, by: JudgedBy | None) -> list[str]:
    """The reasons of the verdicts that were held against the oracle."""
    rules = WorkRules(judged_by=by)
    frame = ResultSet(world.store, [world.experiment], rules).frame(world.protocol)
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


Worlds = Callable[[Protocol, int], JoinedWorld]


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    """Each made once: nothing here changes them."""
    with ExitStack() as stack:

        @cache
        def made(protocol: Protocol, seed: int) -> JoinedWorld:
            store = stack.enter_context(Store.open(tmp_path_factory.mktemp("joined") / "s", create=True))
            return JoinedWorld(store, protocol, random.Random(seed))

        yield made


@pytest.mark.quick("program", "rubric")
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_verdict_joins_its_leaves_as_the_oracle(protocol: Protocol, worlds: Worlds) -> None:
    seen: Counter[str] = Counter()
    for seed in range(10):
        seen.update(compared(worlds(protocol, seed), random.Random(seed).choice([None, None, None, *JudgedBy])))
    wanted = {"decided True", "decided False", "waits for people", "waits for a judge", "waits for a program",
              "could not be judged", "the raters are split on", "too few grades by people"}  # fmt: skip
    assert wanted <= set(seen), seen


@pytest.mark.quick("program")
@pytest.mark.parametrize("protocol", (Protocol.PROGRAM, Protocol.CHECKPOINTS))
def test_points_by_kind_add_up_to_the_score(protocol: Protocol, worlds: Worlds) -> None:
    """Whoever answers, whatever gates close, and where the last criterion gives all: every criterion has a kind."""
    held = 0
    for seed in range(10):
        world = worlds(protocol, seed)
        work = ResultSet(world.store, [world.experiment])
        points = work.points_by_kind(protocol).group_by("submission").agg(pl.col("earned", "points").sum())
        frame = work.frame(protocol).drop_nulls("score").join(points, on="submission", how="left")
        rows = {row["submission"]: row for row in frame.iter_rows(named=True)}
        for n, subject in world.made.items():
            row = rows.get(subject)
            if row is not None and not world.criteria(n).kinds <= {"program"}:
                assert math.isclose(row["earned"] / row["points"], row["score"], abs_tol=1e-9), (seed, n)
                held += 1
    assert held > 20
