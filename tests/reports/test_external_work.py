"""Work of people and external agents is shown beside the plan's agents, and never counted as planned."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.measuring import cell, sections
from store import worlds
from worksample.errors import UsageError
from worksample.records import AmendmentTarget, Origin, Reported, Round, Suite
from worksample.reports import ReportConfig, leaderboard, write_report
from worksample.reports.sections import compare
from worksample.store import Store


@pytest.fixture
def world() -> worlds.World:
    return worlds.World()


@pytest.fixture
def store(tmp_path: Path, world: worlds.World) -> Store:
    store = worlds.planted(Store.open(tmp_path / "store", create=True), world)
    for slot, score in enumerate((1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.5, 0.0)):
        trial = world.trial(slot, f"t{slot}", slot + 1)
        made = world.submission(trial)
        store.commit(trial, made, world.evaluation(made.id, f"e{slot}", score, instance=trial.instance))
    return store


@pytest.mark.thorough(quick="reports/test_leaderboard_and_site.py::test_trial_page_shows_its_grade_down_to_the_reason")
def test_trial_pages_link_to_the_work_in_the_app(store: Store, tmp_path: Path) -> None:
    plain, linked = tmp_path / "plain", tmp_path / "linked"
    write_report(store, [], plain)
    assert "/admin/submissions/" not in "".join(p.read_text() for p in plain.rglob("*.html"))
    write_report(store, [], linked, ReportConfig(app="https://review.example.org/"))
    pages = [p.read_text() for p in (linked / "trials").rglob("*.html")]
    assert pages and all('href="https://review.example.org/admin/submissions/' in page for page in pages)
    assert "/disagreements" in (linked / "index.html").read_text()
    for bad in (
        "review.example.org",
        "javascript:alert(1)",
        "https://u:p@x.org",
        "https://x.org/a?b",
        "https://x.org:no",
    ):
        with pytest.raises(UsageError, match="not an address of a review app"):
            write_report(store, [], tmp_path / "bad", ReportConfig(app=bad))


def hand_in(store: Store, world: worlds.World, name: str, origin: Origin, *scores: float) -> None:
    """One submission per score, in turn on the instances, each graded in a round of its own as `submit` does."""
    model = world.submission(world.trial(0, "t0", 1))
    for place, score in enumerate(scores):
        id = f"{name}-{place}"
        made = model.replaced(
            id=id, origin=origin, entrant=name, trial=None, experiment=None,
            instance=world.instances[place % 2].id, reported=Reported(cost=40.0, minutes=30.0),
        )  # fmt: skip
        round = Round(id=f"r-{id}", protocol="program", subjects=(id,), author="me", at=worlds.at(50 + place))
        said = world.evaluation(id, f"e-{id}", score, instance=made.instance).replaced(round=round.id)
        store.commit(made, round, said)


def test_entrants_are_on_the_board_without_a_plan(store: Store, world: worlds.World, tmp_path: Path) -> None:
    hand_in(store, world, "carla", Origin.PERSON, 1.0, 1.0)
    hand_in(store, world, "otherbot", Origin.EXTERNAL, 0.5)
    board = leaderboard(store)
    rows = {row.label: row for row in board.rows}
    assert board.rows[0].label == "carla (person)"
    carla, other = rows["carla (person)"], rows["otherbot (external agent)"]
    assert (carla.planned, carla.valid, carla.graded, carla.passed.value) == (None, 2, "2 handed in", 1.0)
    assert (carla.cost.value, carla.seconds.value, carla.tokens.value) == (40.0, 1800.0, None)
    assert (other.valid, other.score.value) == (1, 0.5)
    assert rows["ann"].planned == 4 and rows["ann"].graded == "4/4"
    assert any("handed their work in" in note for note in board.notes)
    write_report(store, [], tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text()
    assert "8 planned trials" in page and "2 handed in" in page and "external agent" in page


def test_entrants_are_measured_like_agents(store: Store, world: worlds.World) -> None:
    hand_in(store, world, "carla", Origin.PERSON, 1.0, 0.0)
    assert cell(sections(store)["scores"], "carla", "full pass").value == 0.5


def test_later_grade_counts_and_a_struck_one_does_not(store: Store, world: worlds.World) -> None:
    hand_in(store, world, "carla", Origin.PERSON, 0.0)
    again = Round(id="again", protocol="program", subjects=("carla-0",), author="me", at=worlds.at(80))
    said = world.evaluation("carla-0", "e-again", 1.0, instance=world.instances[0].id).replaced(round="again")
    store.commit(again, said)
    assert next(r for r in leaderboard(store).rows if r.entrant).passed.value == 1.0
    store.commit(world.amend(AmendmentTarget.SUBMISSION, "carla-0", 90))
    assert [r.valid for r in leaderboard(store).rows if r.entrant] in ([], [0])


def test_controls_and_work_on_other_tasks_are_not_entrants(store: Store, world: worlds.World) -> None:
    model = world.submission(world.trial(0, "t0", 1))
    control = model.replaced(id="c", origin=Origin.CONTROL, entrant="reference", trial=None, control="reference")
    store.commit(control)
    assert [r.label for r in leaderboard(store).rows if r.entrant] == []


def test_private_suite_is_compared_in_aggregates_only(store: Store, world: worlds.World) -> None:
    open_ = compare(store, "ann", "bob")
    assert len(open_.changes) == 2
    lock = world.experiment.lock
    suite = Suite(
        id=lock.suite, name="s", title="S", version="1", visibility="private", instances=lock.instances
    )  # fmt: skip
    store.commit(suite)
    closed = compare(store, "ann", "bob")
    assert closed.changes == () and closed.score == open_.score
    assert any("private" in note for note in closed.notes)
    assert "report/may" not in str(closed.plain())
