"""`worksample metrics` and `worksample compare` on the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.run_cli import SCRIPTS, TINY, cli, here, here_json
from reports.people_world import rli, upbench
from store import worlds
from worksample.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("metrics") / "store"
    world = worlds.World()
    with worlds.planted(Store.open(where, create=True), world) as opened:
        for slot, score in enumerate((1.0, 0.5, 0.0, 0.0, 1.0, 1.0, 1.0, None)):
            trial = world.trial(slot, f"t{slot}", slot + 1)
            made = world.submission(trial)
            opened.commit(trial, made, world.evaluation(made.id, f"e{slot}", score, instance=trial.instance))
    return where


def test_every_section_is_printed_with_its_counts(store: Path) -> None:
    done = cli("metrics", "--store", store)
    assert done.returncode == 0, done.stderr
    for text in ("Pass and score", "ALE Table 1", "25.0 % 4/4", "100.0 % [2.5, 100.0] 3/4", "illustrative price"):
        assert text in done.stdout


def test_json_has_value_interval_and_counts(store: Path) -> None:
    found = {s["id"]: s for s in here_json("metrics", "--store", store, "--only", "scores")}
    assert list(found) == ["scores"]
    ann = next(r for r in found["scores"]["rows"] if r["label"] == "ann")
    assert ann["cells"][0]["value"] == 0.25
    assert ann["cells"][0]["counts"]["planned"] == 4
    assert ann["agent"].startswith("ann@")


def test_settings_change_the_figures(store: Path) -> None:
    only = ("--store", store, "--only", "dollars")
    plain, asked = here_json("metrics", *only), here_json("metrics", *only, "--illustrative", "--resamples", 30)
    assert plain[0]["rows"][0]["cells"][0]["value"] is None
    assert asked[0]["rows"][0]["cells"][0]["value"] == 50
    tiers = here_json("metrics", "--store", store, "--by", "tier", "--only", "scores", "--level", 0.9)
    assert tiers[0]["columns"][0] == "tier"
    budget = here_json("metrics", "--store", store, "--only", "budget-cost", "--budget", 0.1, "--budget", 9)
    assert budget[0]["columns"] == ["$0.1", "$9"]


def test_level_changes_every_interval(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store", create=True) as opened:
        rli(opened)
    told = ("metrics", "--store", tmp_path / "store", "--only", "automation", "--level")
    narrow, wide = (here_json(*told, level)[0]["rows"][0]["cells"][0] for level in (0.8, 0.99))
    assert wide["low"] < narrow["low"] and wide["high"] > narrow["high"]


def test_rubric_settings_are_passed(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store", create=True) as opened:
        upbench(opened)
    where = ("metrics", "--store", tmp_path / "store", "--only")
    rubric = here_json(*where, "rubric", "--skips", "paper", "--pitfalls-gate")[0]
    assert rubric["rows"][0]["cells"][0]["value"] == 0.2
    assert any("pitfalls gate" in note for note in rubric["notes"])
    labels = [row["label"] for row in here_json(*where, "value", "--hourly", 40)[0]["rows"]]
    assert labels == ["ann: AI alone", "ann: AI with feedback", "ann: human"]


def test_faulty_data_is_reported_and_other_figures_stay(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store", create=True) as opened:
        rli(opened).vote("h1", "s-ann-0-1", 0, 2)
    done = here("metrics", "--store", tmp_path / "store")
    assert done.returncode == 3
    assert "cannot be measured" in done.stdout and "several votes" in done.stdout and "Automation rate" in done.stdout


def test_missing_data_is_reported(store: Path) -> None:
    done = here("metrics", "--store", store, "--only", "elo")
    assert done.returncode == 2
    assert "no section 'elo'" in done.stderr and "scores" in done.stderr
    assert here("metrics", "nobody", "--store", store).returncode == 2


def test_compare_shows_changes_and_refuses_the_same(store: Path) -> None:
    done = here("compare", "ann", "bob", "--store", store)
    assert done.returncode == 0, done.stderr
    for text in ("bob minus ann", "score: 62.5 pp", "report/may", "gained"):
        assert text in done.stdout
    found = here_json("compare", "bob", "ann", "--store", store)
    assert found["score"]["value"] == -0.625
    assert [c["instance"] for c in found["changes"]] == ["report/june", "report/may"]
    assert here("compare", "ann", "ann", "--store", store).returncode == 2
    assert "of the same name" not in done.stderr


def test_compare_says_which_experiment_of_a_name_it_used(store: Path, tmp_path: Path) -> None:
    shutil.copytree(store, tmp_path / "store")
    with Store.open(tmp_path / "store") as opened:
        opened.commit(worlds.World().experiment.replaced(id="earlier", at=worlds.at(-60)))
    words = ("compare", "ann", "bob", "--store", tmp_path / "store")
    assert here(*words).stderr.startswith("x means x1; other experiments of this name: earlier (2025-")
    assert here(*words, "--experiment", "x1").stderr == ""
    assert here_json(*words)["experiments"] == ["x1", "x1"]


def test_dry_run_shows_the_power_of_the_plan() -> None:
    words = ("run", "--suite", TINY, "--agent", "scripted", "--script", SCRIPTS / "good", "--dry-run")
    done = here(*words)
    assert done.returncode == 0, done.stderr
    assert "power:" in done.stderr and "to detect 3 points you need" in done.stderr and "assumed:" in done.stderr
    power = here_json(*words)["power"]
    assert power["tasks_needed_by_repeats"].keys() >= {"1", "2", "3", "5"}
    assert power["detectable"] is None and "cannot show any difference" in done.stderr, "of fewer than six tasks"
    rarer = here_json(*words, "--expect", 0.02)["power"]
    assert rarer["tasks_needed_by_repeats"]["1"] < power["tasks_needed_by_repeats"]["1"]
    wrong = here(*words[:-1], "--expect", 0.02)
    assert wrong.returncode == 2 and "--dry-run" in wrong.stderr


def test_dry_run_uses_a_pilots_own_data(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store", create=True) as opened:
        rli(opened)
    words = ("run", "--suite", TINY, "--agent", "scripted", "--script", SCRIPTS / "good", "--dry-run", "--pilot", "x")
    few = here(*words, "--store", tmp_path / "store")
    assert few.returncode == 2 and "4 graded tasks" in few.stderr and "--expect" in few.stderr
    assert "no store" in here(*words, "--store", tmp_path / "nowhere").stderr
