"""The experiment that is meant if none is named."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from store import worlds
from worksample import comparisons_df, evaluations_df, slots_df, submissions_df, trials_df
from worksample.errors import UsageError
from worksample.experiments.config_file import load
from worksample.experiments.experiment_lookup import find_experiment
from worksample.store import Store


def test_run_that_could_not_start_is_not_the_latest(tmp_path: Path) -> None:
    world = worlds.World()
    with worlds.planted(Store.open(tmp_path / "store", create=True), world) as store:
        later = world.experiment.replaced(id="x2", name="y", at=world.experiment.at + timedelta(hours=1))
        store.commit(later)
        assert find_experiment(store).id == "x2"
        store.commit(world.trial(0, "t0"))
        assert find_experiment(store).id == "x1"
        assert find_experiment(store, planned=True).id == "x2"
        assert find_experiment(store, "y").id == "x2"


def test_frames_accept_names_and_refuse_unknown_ones(tmp_path: Path) -> None:
    world = worlds.World()
    with worlds.planted(Store.open(tmp_path / "store", create=True), world) as store:
        trial = world.trial(0, "t0")
        made = world.submission(trial)
        store.commit(trial, made, world.evaluation(made.id, "e0"))
        for frame in (trials_df, submissions_df, evaluations_df, slots_df):
            assert frame(store, "x").height == frame(store, "x1").height > 0
        for frame in (trials_df, submissions_df, evaluations_df, comparisons_df, slots_df):
            with pytest.raises(UsageError, match="no experiment 'study' in this store; there are: x"):
                frame(store, "study")


def test_runs_of_two_models_have_two_names() -> None:
    names = {
        load(None, {"suite": "starter", "agents": [{"preset": "rli"}], "models": [model]}).name
        for model in ("openai/gpt-5", "anthropic/claude-sonnet-4-5")
    }
    assert names == {"starter-rli-gpt-5", "starter-rli-claude-sonnet-4-5"}
