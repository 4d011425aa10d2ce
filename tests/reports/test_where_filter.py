"""`--where`: figures of a part of the work equal those of a store with only that part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.run_cli import cli, cli_json
from reports.measuring import cell, sections
from reports.people_world import rli
from store import worlds
from worksample.errors import UsageError
from worksample.records import PairwiseChoice, Protocol
from worksample.reports.sections import MeasureConfig, compare
from worksample.results.subset import FIELDS, Subset
from worksample.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def only(store: Store, *texts: str, **config: Any) -> dict[str, Any]:
    return sections(store, where=Subset.parse(texts), **config)


def test_tier_contains_only_its_projects(store: Store) -> None:
    world = rli(store)
    world.round("w1", Protocol.PAIRWISE)
    for project in range(4):
        world.pair(
            "w1",
            f"s-ann-{project}-1",
            f"s-bob-{project}-1",
            project,
            PairwiseChoice.FIRST,
            PairwiseChoice.FIRST,
            PairwiseChoice.SECOND,
        )
    whole, hard = sections(store), only(store, "tier=hard")
    assert cell(whole["automation"], "ann", "automation rate").value == 0.5
    rate = cell(hard["automation"], "ann", "automation rate")
    assert (rate.value, rate.counts.planned) == (0.5, 2)
    assert cell(hard["automation"], "cid", "automation rate").counts.planned == 2
    # p0 and p2 are hard: worth 100 and 300, of which ann has won the 100.
    assert cell(hard["dollars"], "ann", "possible").value == 400
    assert cell(hard["preferences"], "ann over bob", "preference for the first").counts.planned == 2
    assert cell(whole["agreement"], "holistic votes", "agreement").counts.planned > (
        cell(hard["agreement"], "holistic votes", "agreement").counts.planned
    )


def test_fields_are_combined_and_values_are_alternatives(store: Store) -> None:
    rli(store)
    two = only(store, "agent=ann", "agent=bob", "platform=git")
    assert [row.label for row in two["automation"].rows] == ["ann", "bob"]
    assert cell(two["automation"], "ann", "automation rate").counts.planned == 2
    category = only(store, "category=upwork:writing")["automation"]
    assert len(category.rows) == 3, "a category stands for what is below it"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("colour=red", "no work can be chosen by 'colour'"),
        ("tier", "is not FIELD=VALUE"),
        ("tier=", "is not FIELD=VALUE"),
        ("tier=medium", "no work in the chosen experiments has tier 'medium'"),
        ("agent=zoe", "no work in the chosen experiments has agent 'zoe'"),
        ("tag=easy", "no work in the chosen experiments has tag 'easy'"),
        ("platform=mail", "no work in the chosen experiments has platform 'mail'"),
    ],
)
def test_empty_selection_is_explained(store: Store, text: str, says: str) -> None:
    rli(store)
    with pytest.raises(UsageError, match=says) as caught:
        sections(store, where=Subset.parse([text]))
    assert caught.value.next


def test_every_field_takes_a_value_or_says_that_none_exists(store: Store) -> None:
    rli(store)
    for field in FIELDS:
        with pytest.raises(UsageError, match=f"has {field}"):
            sections(store, where=Subset(((field, "nonsense"),)))


def test_entrants_can_be_selected(store: Store) -> None:
    world = rli(store)
    from worksample.records import Origin

    store.commit(world.submission("s-out", 0, Origin.EXTERNAL, "outside"))
    world.round("h2", Protocol.HOLISTIC, subjects=("s-out",), experiment=None)
    world.vote("h2", "s-out", 0, 3, 3, 3)
    found = only(store, "agent=outside")["automation"]
    assert [row.label for row in found.rows] == ["outside"]


def test_compare_and_command_line_take_the_filter(tmp_path: Path) -> None:
    where = tmp_path / "store"
    with Store.open(where, create=True) as opened:
        rli(opened)
        found = compare(opened, "ann", "bob", MeasureConfig(where=Subset.parse(["tier=easy"])))
        assert found.score.counts.special["instances"] == 1
    told = cli_json("metrics", "--store", where, "--only", "automation", "--where", "tier=hard")
    assert told[0]["rows"][0]["cells"][0]["counts"]["planned"] == 2
    board = cli_json("report", "--store", where, "--where", "tier=hard", "--level", 0.8)
    assert {row["planned"] for row in board["rows"]} == {2} and board["rows"][0]["passed"]["level"] == 0.8
    assert board["notes"][0] == "Only work with tier=hard."
    wrong = cli("compare", "ann", "bob", "--store", where, "--where", "colour=red")
    assert wrong.returncode == 2 and "no work can be chosen by 'colour'" in wrong.stderr


@pytest.mark.thorough(quick="reports/test_where_filter.py::test_compare_and_command_line_take_the_filter")
def test_site_shows_the_part_and_its_level(tmp_path: Path) -> None:
    where = tmp_path / "store"
    with Store.open(where, create=True) as opened:
        world = worlds.World()
        worlds.planted(opened, world)
        for slot, score in enumerate((1.0, 0.5, 0.0, 0.0)):
            trial = world.trial(slot, f"t{slot}", slot + 1)
            made = world.submission(trial)
            opened.commit(trial, made, world.evaluation(made.id, f"e{slot}", score, instance=trial.instance))
    done = cli(
        "report", "--store", where, "--out", tmp_path / "site", "--where", "agent=ann", "--level", "0.9", "--no-pages"
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "index.html").read_text()
    assert "90 % interval" in page and "95 % interval" not in page and "Only work with agent=ann." in page
    board = json.loads((tmp_path / "site" / "leaderboard.json").read_text())
    assert [row["name"] for row in board["rows"]] == ["ann"]
