"""Two experiments with one name: messages say which one is used, and how to name the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from store import worlds
from worksample.cli.ambiguous_experiments import print_chosen_experiments, print_namesakes
from worksample.experiments.experiment_lookup import find_experiment, others_of_name, short_name
from worksample.records import Arm, Experiment, Lock, Protocol
from worksample.reports.chosen_experiments import heading_of
from worksample.store import Store


def experiment(id: str, minute: float, name: str = "study") -> Experiment:
    lock = Lock(suite="s", instances=(), protocol=Protocol.PROGRAM, sandbox="bubblewrap")
    return Experiment(
        id=id, name=name, agents=(), arms=(Arm(),), repeats=1, lock=lock, author="me", at=worlds.at(minute)
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = Store.open(tmp_path / "s", create=True)
    found.commit(experiment("study@1", 0), experiment("study@2", 1), experiment("other@1", 2, "other"))
    return found


def test_name_means_the_latest_and_others_are_named_by_id(store: Store) -> None:
    first, second, other = (store.get(Experiment, id) for id in ("study@1", "study@2", "other@1"))
    assert [e.id for e in others_of_name(store, first)] == ["study@2"] and others_of_name(store, other) == []
    assert (short_name(store, first), short_name(store, second), short_name(store, other)) == (
        "study@1",
        "study",
        "other",
    )
    for e in (first, second, other):
        assert find_experiment(store, short_name(store, e)) == e
    # One that was not run yet will be the latest.
    assert short_name(store, experiment("study@3", -9)) == "study"
    assert heading_of([first, second, other]) == "study@1, study@2, other"


def test_run_names_other_experiments_of_its_name(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    print_namesakes(store, experiment("study@3", 3))
    said = capsys.readouterr().err
    assert "the name study is also used by study@2 (2026-" in said and "study@1 (2026-" in said
    assert "the name now means this experiment" in said and "--name" in said
    print_namesakes(store, store.get(Experiment, "study@1"))
    assert "the id of this experiment is study@1" in capsys.readouterr().err
    print_namesakes(store, experiment("new@1", 3, "new"))
    assert capsys.readouterr().err == ""


def test_figures_say_which_experiment_they_use(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    print_chosen_experiments(store, ["study"])
    assert capsys.readouterr().err.startswith("study means study@2; other experiments of this name: study@1 (2026-")
    for names in (["study@1"], ["other"]):
        print_chosen_experiments(store, names)
    assert capsys.readouterr().err == ""
    print_chosen_experiments(store, [])
    assert capsys.readouterr().err == "experiment other@1, the latest (2026-01-01 00:02)\n"
