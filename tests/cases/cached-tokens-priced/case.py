"""Trials of an outside case whose prompts were cached for the most part: without a price of theirs the cost is an upper
bound and says so, with one it is what the service charges, and the tokens by kind add up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ModelUsage

from reports.measuring import sections
from store import worlds
from worksample.cli.service_options import price_of
from worksample.models import read_prices
from worksample.models.usage import output_usage
from worksample.records import Usage
from worksample.reports.leaderboard_frame import leaderboard
from worksample.store import Store
from worksample.store.dataframes import trials_df

HERE = Path(__file__).parent
MODEL = "openai-api/local/scripted"
KINDS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def used_by(trial: dict[str, Any], price: str) -> Usage:
    """What a trial took at a price as it is typed."""
    prices = read_prices(dict([price_of(f"{MODEL}={price}")]), "--price")
    cached = trial["tokens"] - trial["input_tokens"] - trial["output_tokens"]
    told = ModelUsage(
        input_tokens=trial["input_tokens"],
        output_tokens=trial["output_tokens"],
        total_tokens=trial["tokens"],
        input_tokens_cache_read=cached,
    )
    return output_usage(told, MODEL, prices)


def check(room: Path, request: pytest.FixtureRequest) -> None:
    trials = [json.loads(line) for line in (HERE / "trials.jsonl").read_text(encoding="utf-8").splitlines()]
    for trial in trials:
        without = used_by(trial, "2,10")
        assert without.cost == pytest.approx(trial["cost"])
        assert without.cached_as_input == int(trial["tokens"] > trial["input_tokens"] + trial["output_tokens"])
        assert used_by(trial, "2,10,0.2").cached_as_input == 0
    dear, right = (used_by(trials[1], price) for price in ("2,10", "2,10,0.2"))
    assert (round(dear.cost or 0, 3), round(right.cost or 0, 3)) == (0.149, 0.068)
    world = worlds.World()
    store = worlds.planted(Store.open(room / "store", create=True), world)
    for slot, used in enumerate((dear, right)):
        trial = world.trial(slot, f"t{slot}", slot + 1, usage={"agent": used})
        made = world.submission(trial)
        store.commit(trial, made, world.evaluation(made.id, f"e{slot}", 1.0, instance=trial.instance))
    frame = trials_df(store)
    assert frame["cache_read_tokens"].to_list() == [44736] * 2
    assert frame.select(sum(frame[kind] for kind in KINDS).alias("sum"))["sum"].to_list() == frame["tokens"].to_list()
    note = "1 trials have cached tokens (44,736 read) charged at the price of fresh ones"
    assert sum(note in said for said in leaderboard(store).notes) == 1
    spent = sections(store)["spending"]
    assert sum(note in said for said in spent.notes) == 1
    ann = next(row for row in spent.rows if row.label == "ann")
    assert ann.cells[spent.columns.index("cache read")] == "89,472"
