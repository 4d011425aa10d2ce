"""One piece of work handed in for an experiment: stored once, for the instance as planned, judged in its rounds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import worksample
from cli.run_cli import cli
from experiments.judged_by_people import config_of, hire, judge_all
from experiments.test_any_protocol import planned, run
from experiments.test_experiment_without_agents import config_without
from worksample.errors import UsageError
from worksample.experiments.hand_in import HandInRequest, hand_in_and_grade, origin_of
from worksample.experiments.status import status_of
from worksample.python_api.submit_work import submit
from worksample.records import Round, Submission
from worksample.store import Store

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def letter(folder: Path, text: str) -> Path:
    """A folder of deliverables in another one, as archives often have it."""
    made = folder / "mine" / "letters"
    made.mkdir(parents=True, exist_ok=True)
    (made / "letter.txt").write_text(text)
    return made.parent


def test_work_is_accepted_once_and_judged_by_the_experiments_people(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store", create=True) as store:
        experiment = planned(store, config_without(tmp_path, "holistic"))
        made = letter(tmp_path, "Dear Ada")
        what = HandInRequest(made, tmp_path / "letter", "Carla", "person", "ada", minutes=20, experiment=experiment)
        first = hand_in_and_grade(store, what)
        assert (first.taken, first.evaluation, first.submission.experiment) == (True, None, experiment.id)
        assert first.submission.note == "taken from the only folder, letters"
        again = submit(
            made, tmp_path / "letter", entrant="Carla", origin="person", instance="ada", store=store,
            experiment=experiment.name,
        )  # fmt: skip
        assert (again.taken, again.submission) == (False, first.submission)
        letter(tmp_path, "Dear Ada, once more")
        with pytest.raises(
            UsageError, match=f"already handed in, with other files .submission {first.submission.id}"
        ) as e:
            hand_in_and_grade(store, what)
        assert e.value.next.endswith("--repeat 2")
        assert hand_in_and_grade(store, replace(what, repeat=2)).taken
        assert len(store.find(Submission)) == 2 and store.find(Round) == []
        assert run(store, experiment, config_without(tmp_path, "holistic")).status.waits_for_people == 2
        people, accounts = hire(store, "ann", "bob", "cem")
        assert judge_all(people, accounts) == 6
        assert status_of(store, experiment).graded == 2


def test_work_outside_the_plan_is_refused(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store", create=True) as store:
        experiment = planned(store, config_of(tmp_path / "one", "holistic"))
        what = HandInRequest(
            letter(tmp_path, "Dear"), tmp_path / "one" / "letter", "bot", "external", experiment=experiment
        )
        with pytest.raises(UsageError, match="several instances: ada, grace"):
            hand_in_and_grade(store, what)
        brief = tmp_path / "one" / "letter" / "brief.md"
        brief.write_text(brief.read_text() + " In verse.")
        with pytest.raises(UsageError, match="has another brief, other inputs or other probes"):
            hand_in_and_grade(store, replace(what, instance="ada"))
        config_of(tmp_path / "two", "holistic")
        file = (tmp_path / "two" / "letter").rename(tmp_path / "two" / "note") / "task.toml"
        file.write_text(file.read_text().replace('id = "letter"', 'id = "note"'))
        with pytest.raises(UsageError, match="is not part of the experiment"):
            hand_in_and_grade(store, replace(what, task=file.parent, instance="ada"))
        assert store.find(Submission) == []


@pytest.mark.box
def test_work_without_an_experiment_is_listed_with_its_grade(tmp_path: Path) -> None:
    package = Path(worksample.__file__).parent / "suites/starter/tasks/incident-report"
    words = ("--task", package, "--instance", "checkout", "--store", tmp_path / "store")
    made = package / "cases/another-hand/output"
    assert cli("submit", made, "--entrant", "a bot", "--origin", "agent", *words).returncode == 0
    assert cli("submit", made, "--entrant", "Ada", "--origin", "person", "--no-grade", *words).returncode == 0
    listed = cli("list", "--store", tmp_path / "store").stdout
    assert "2 pieces of work were handed in without an experiment" in listed
    rows = json.loads(cli("list", "--handed-in", "--store", tmp_path / "store", "--json").stdout)
    assert [(r["entrant"], r["origin"], r["standing"], r["passed"]) for r in rows] == [
        ("a bot", "external", "decided", True),
        ("Ada", "person", "ungraded", None),
    ]
    shown = cli("list", "--handed-in", "--store", tmp_path / "store").stdout
    assert "agent elsewhere" in shown and "1.000" in shown and "ungraded" in shown


def test_unknown_origin_is_refused_with_the_allowed_words() -> None:
    assert {origin_of(word).value for word in ("agent", "external")} == {"external"}
    with pytest.raises(UsageError, match="'robot' is not an origin") as e:
        origin_of("robot")
    assert e.value.next == "person or agent"
