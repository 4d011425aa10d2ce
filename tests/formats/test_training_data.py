"""Training data: valid evaluations with their provenance; private suites only if requested."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from cli.run_cli import cli, cli_json
from reports.people_world import PeopleWorld
from store import worlds
from worksample.errors import UsageError
from worksample.formats.training_data import SHARED, TABLES, export_training
from worksample.records import Agent, Amendment, AmendmentAction, AmendmentTarget, PairwiseChoice, Protocol, Suite
from worksample.store import Store


@pytest.fixture
def world(tmp_path: Path) -> PeopleWorld:
    """Two agents with two projects, a rubric round and pairs; one evaluation is struck, and one submission is
    undecided.
    """
    store = Store.open(tmp_path / "s", create=True)
    ann, bob = Agent.of("ann", "worker", model="m/1"), Agent.of("bob", "worker", model="m/2")
    made = PeopleWorld(store, Protocol.RUBRIC, [ann, bob], [100.0, 200.0])
    works = {(a, p): made.work(a, p) for a in (0, 1) for p in (0, 1)}
    made.round("r", Protocol.RUBRIC, 1)
    made.rubric("r", works[0, 0], 0, True, True, False)
    made.rubric("r", works[0, 1], 1, True, None, True)
    made.rubric("r", works[1, 0], 0, False, True, False)
    struck = f"e{made.said}"
    made.rubric("r", works[1, 1], 1, False, False, False)
    made.round("pairs", Protocol.PAIRWISE, 3)
    made.pair("pairs", works[0, 0], works[1, 0], 0, PairwiseChoice.FIRST, PairwiseChoice.EQUAL)
    made.pair("pairs", works[0, 1], works[1, 1], 1, PairwiseChoice.SECOND)
    store.commit(
        Amendment(
            id="a1",
            action=AmendmentAction.STRIKE,
            target=AmendmentTarget.EVALUATION,
            target_id=struck,
            reason="mistaken",
            author="me",
            at=worlds.at(90),
        )
    )
    return made


def read(folder: Path, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]


def test_valid_evaluations_are_written_with_provenance(world: PeopleWorld, tmp_path: Path) -> None:
    made = export_training(world.store, tmp_path / "out", [world.experiment])
    assert made.rows == {"feedback": 9, "preferences": 6, "rewards": 2}
    feedback, pairs, rewards = (read(tmp_path / "out", name) for name in TABLES)
    marks = [(f["submission"], f["criterion"], f["mark"]) for f in feedback]
    assert ("s-ann-0-1", "optional", "fail") in marks and ("s-ann-1-1", "important", "cannot_judge") in marks
    assert not [f for f in feedback if f["submission"] == "s-bob-0-1"]
    quality = [(p["chosen"], p["rejected"]) for p in pairs if p["question"] == "quality"]
    assert quality == [("s-ann-0-1", "s-bob-0-1"), (None, None), ("s-bob-1-1", "s-ann-1-1")]
    # Undecided and struck work has no reward; a reward of 0 is one that was given.
    assert [(r["submission"], r["passed"]) for r in rewards] == [("s-ann-0-1", True), ("s-bob-1-1", False)]
    for row in (*feedback, *pairs, *rewards):
        assert row["canary"] and row["brief"] and row["visibility"] == "public"


def test_private_suites_are_left_out_unless_requested(world: PeopleWorld, tmp_path: Path) -> None:
    world.store.commit(
        Suite(id="held@1", name="held", title="Held out", version="1", visibility="private",
              instances=(world.instances[0].id,))
    )  # fmt: skip
    where = ("--store", tmp_path / "s", "--training")
    told = cli_json("store", "export", tmp_path / "out", *where)
    assert (told["private"], told["rows"]) == (8, {"feedback": 6, "preferences": 2, "rewards": 1})
    briefs = {r["instance"] for name in TABLES for r in read(tmp_path / "out", name)}
    assert briefs == {"p1"}
    whole = cli_json("store", "export", tmp_path / "all", *where, "--private", "--format", "parquet")
    assert (whole["private"], whole["rows"]["feedback"]) == (0, 9)
    refused = cli("store", "export", tmp_path / "no", "--store", tmp_path / "s", "--private")
    assert refused.returncode != 0 and "--training" in refused.stderr


def test_jsonl_and_parquet_agree_and_empty_tables_keep_columns(world: PeopleWorld, tmp_path: Path) -> None:
    for form in ("jsonl", "parquet"):
        export_training(world.store, tmp_path / form, [world.experiment], format=form)
    for name, own in TABLES.items():
        frame = pl.read_parquet(tmp_path / "parquet" / f"{name}.parquet")
        assert frame.columns == [*own, *SHARED]
        assert frame.rows(named=True) == read(tmp_path / "jsonl", name)
    none = export_training(world.store, tmp_path / "none", [], format="parquet")
    assert none.rows == dict.fromkeys(TABLES, 0)
    assert pl.read_parquet(tmp_path / "none" / "rewards.parquet").columns == [*TABLES["rewards"], *SHARED]
    with pytest.raises(UsageError, match="unknown format 'csv'"):
        export_training(world.store, tmp_path / "x", [], format="csv")
