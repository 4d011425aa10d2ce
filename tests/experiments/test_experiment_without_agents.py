"""Experiments without an agent: people and external agents hand in, and everything else works as usual."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from experiments.judged_by_people import config_of, hire, judge_all, package
from experiments.test_any_protocol import planned, run
from experiments.test_hand_in_tables import Row, table
from worksample.cli.judging_forecast import judging_of
from worksample.experiments.config import ExperimentConfig
from worksample.experiments.hand_in_from_table import HandInMany, hand_in_many
from worksample.experiments.planning.plan_preparation import prepare
from worksample.experiments.planning.plan_progress import progress_of
from worksample.records import Experiment, Slot, Submission
from worksample.reports import leaderboard, write_report
from worksample.reports.sections import compare, measure
from worksample.store import Store, check

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def config_without(folder: Path, *protocols: str) -> ExperimentConfig:
    config = config_of(folder, *protocols)
    return ExperimentConfig.model_validate({**config.plain(), "agents": []})


def hand_in(store: Store, experiment: Experiment, folder: Path, *who: str, instances: tuple[str, ...]) -> None:
    """Letters: by a person where the name begins with a capital, else by an agent elsewhere."""
    rows: list[Row] = []
    for name in who:
        for instance in instances:
            made = folder / f"{name}-{instance}"
            made.mkdir()
            (made / "letter.txt").write_text(f"Dear {instance}, says {name}")
            person = name if name.istitle() else None
            rows.append({"task": "letter", "path": made.name, "instance": instance, "person": person,
                         "agent": None if person else name, "minutes": 30.0})  # fmt: skip
    path = table(folder, rows)
    assert hand_in_many(store, HandInMany(path, experiment, "tester")).taken == len(rows)
    assert hand_in_many(store, HandInMany(path, experiment, "tester")).taken == 0
    path.unlink()


@pytest.mark.quick("rubric-1")
@pytest.mark.parametrize(("protocol", "votes"), [("holistic", 3), ("rubric", 1)])
def test_empty_plan_reaches_the_report(tmp_path: Path, protocol: str, votes: int) -> None:
    config = config_without(tmp_path, protocol)
    with Store.open(tmp_path / "store", create=True) as store:
        experiment = planned(store, config)
        assert store.find(Slot, experiment=experiment.id) == []
        empty = run(store, experiment, config).status
        assert (empty.planned, empty.open, empty.handed_in, empty.complete) == (0, 0, 0, True)
        assert leaderboard(store, [experiment.id]).rows == ()
        hand_in(store, experiment, tmp_path, "Ada", "bot", instances=("ada", "grace"))
        hand_in(store, experiment, tmp_path, "late", instances=("ada",))
        waiting = run(store, experiment, config).status
        assert (waiting.handed_in, waiting.waits_for_people, waiting.complete) == (5, 5, True)
        people, accounts = hire(store, "ann", "bob", "cem")
        assert judge_all(people, accounts[:votes]) == 5 * votes
        after = run(store, experiment, config).status
        assert (after.graded, after.waits_for_people, after.ungraded, after.finished) == (5, 0, 0, 0)
        board = leaderboard(store, [experiment.id])
        assert {row.label: row.graded for row in board.rows} == {
            "Ada (person)": "2 handed in",
            "bot (external agent)": "2 handed in",
            "late (external agent)": "1 handed in",
        }
        assert "late (external agent) handed in work on 1 of 2 instances." in board.notes
        assert compare(store, "Ada", "bot", experiment=experiment.id).passed.counts.valid == 2
        assert measure(store, [experiment.id])
        if protocol == "holistic":
            write_report(store, [experiment.id], tmp_path / "report")
            _has_pages(store, experiment, tmp_path / "report")
        assert check(store, deep=True) == []


def _has_pages(store: Store, experiment: Experiment, site: Path) -> None:
    """Every piece of work has its page, which the index leads to over the task's."""
    index = (site / "index.html").read_text()
    assert "bot" in index and 'href="tasks/letter.html"' in index
    task = (site / "tasks" / "letter.html").read_text()
    made = store.find(Submission, experiment=experiment.id)
    links = {s.id: f"handed-in/{s.id[-2:]}/{s.id}.html" for s in made}
    assert len(links) == 5 and len(list((site / "handed-in").rglob("*.html"))) == 5
    assert "handed in by a person" in task and "handed in from elsewhere" in task
    for s in made:
        assert f'href="../{links[s.id]}"' in task
        page = (site / links[s.id]).read_text()
        assert f"says {s.entrant}" in page and "What evaluators said" in page and "a reasonable client would" in page
        assert "as it was stated" in page and "Transcript" not in page
        assert "../../compare/letter.html" in page
    assert all(link in (site / "compare" / "letter.html").read_text() for link in links.values())


def test_pairs_are_drawn_for_later_entrants(tmp_path: Path) -> None:
    config = config_without(tmp_path, "pairwise")
    with Store.open(tmp_path / "store", create=True) as store:
        experiment = planned(store, config)
        hand_in(store, experiment, tmp_path, "bot", instances=("ada", "grace"))
        run(store, experiment, config)
        people, accounts = hire(store, "ann", "bob")
        assert judge_all(people, accounts) == 0
        hand_in(store, experiment, tmp_path, "Ada", instances=("ada", "grace"))
        run(store, experiment, config)
        assert judge_all(people, accounts) == 4
        hand_in(store, experiment, tmp_path, "late", instances=("ada", "grace"))
        run(store, experiment, config)
        run(store, experiment, config)
        assert judge_all(people, accounts) == 8
        found = {section.id: section for section in measure(store, [experiment.id])}
        assert {row.label for row in found["elo"].rows} == {"bot", "human", "late"}


def test_dry_run_lists_each_entrant(tmp_path: Path) -> None:
    for n, (protocol, items, each) in enumerate((("holistic", 2, "entrant"), ("pairwise", 2, "two entrants"))):
        config = config_without(tmp_path / str(n), protocol)
        plan = prepare(config)
        [told] = judging_of(plan, config)
        assert (told.items, told.each) == (items, each)
        assert progress_of(plan, None)[0].planned == 0


def test_trial_only_settings_are_refused(tmp_path: Path) -> None:
    task = str(package(tmp_path, "holistic"))
    with pytest.raises(ValidationError, match="but none are given"):
        ExperimentConfig(name="x", tasks=(task,), agents=(), repeats=2)
