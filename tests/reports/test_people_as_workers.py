"""People who did the same jobs as an agent: regions and advice use their measurements."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from cli.run_cli import cli_json
from reports.measuring import cell, sections
from reports.people_world import PeopleWorld
from worksample.records import Agent, Arm, GradePayload, Instance, Protocol, Usage, Worker
from worksample.store import Store

JOBS = 30
ARMS = (
    Arm(name="plain"),
    Arm(name="by-hand", worker=Worker.HUMAN),
    Arm(name="both", worker=Worker.ASSISTED),
)


LIST = """title,description,category,value,hours
Translate a letter,Translate the letter of a customer into polite German,Writing,100,1
"""


class Letters(PeopleWorld):
    """Jobs with words, by which others can be near them."""

    def _project(self, n: int, price: float | None) -> Instance:
        plain = super()._project(n, price)
        work = plain.work.replaced(brief=f"Translate the letter of customer {n} into polite German.")
        return plain.replaced(title="Translate a letter", work=work)


def world(store: Store, measured: int = JOBS) -> None:
    """The agent does a third at $1; people do nine in ten at $40, with the agent's help at $12, of the first jobs."""
    agents = [
        Agent.of("ann", "worker", model="m/1", release_date=date(2026, 1, 1)),
        Agent.of("human", "person"),
    ]
    made = Letters(store, Protocol.PROGRAM, agents, [100.0] * JOBS, arms=ARMS)
    made.round("r1", Protocol.PROGRAM, 1)
    for n in range(JOBS):
        made.say("r1", made.work(0, n), n, GradePayload(score=float(n % 3 == 0)))
        if n >= measured:
            continue
        for agent, arm, dollars in ((1, "by-hand", 40.0), (0, "both", 12.0)):
            used = {"person": Usage(cost=dollars, priced=True)}
            done = made.work(agent, n, arm=arm, cost=0.0, person_seconds=3600.0, usage=used)
            made.say("r1", done, n, GradePayload(score=float(n % 10 != 5)))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.open(tmp_path / "s", create=True)
    world(made)
    return made


def test_regions_use_measured_people(store: Store) -> None:
    table = sections(store)["people-regions"]
    labels = [row.label for row in table.rows]
    assert labels[:3] == ["ann (plain): AI alone", "ann (plain): person with AI", "ann (plain): human"]
    together = "ann (plain): person with AI"
    # 27 of 30 at $12 and 10 of 30 at $1.
    assert cell(table, together, "best from").value == pytest.approx((12 - 1) / (27 / 30 - 10 / 30))
    assert cell(table, together, "best at $100").value > 0.95  # type: ignore[operator]
    # Who succeeds no more often at more than three times the cost is best at no value, whatever is assumed elsewhere.
    assert table.rows[2].cells[0] == "at no value"
    assert "assumed" not in " ".join(table.notes) and cell(table, together, "has a region").counts.valid == JOBS


def test_missing_people_or_too_few_jobs_are_reported(tmp_path: Path) -> None:
    few = Store.open(tmp_path / "few", create=True)
    world(few, measured=3)
    table = sections(few)["people-regions"]
    assert not table.rows and "3 tasks with known costs, and 5 are needed" in table.notes[-1]
    none = Store.open(tmp_path / "none", create=True)
    world(none, measured=0)
    assert "people-regions" not in sections(none)


def test_advice_uses_measured_people(store: Store, tmp_path: Path) -> None:
    table = tmp_path / "list.csv"
    table.write_text(LIST)
    words = ["advise", str(table), "--store", str(tmp_path / "s"), "--wage", "40"]
    told = cli_json(*words)
    [one] = told["advice"]
    assert set(one["chances"]) == {"AI", "person with AI", "people"} and one["answer"] == "person with AI"
    assert one["measured"] and one["dollars"]["value"] == pytest.approx(0.9 * 100 - 12)
    # Nine in ten at 1 hour of $40 each.
    assert one["over_people"]["value"] == pytest.approx((0.9 * 100 - 12) - (0.9 * 100 - 40))
    [taken] = cli_json(*words, "--people", "assumed")["advice"]
    assert set(taken["chances"]) == {"AI", "people"} and not taken["measured"]
    assert taken["dollars"]["value"] == pytest.approx(100 - 40)
    assert any("as measured on the jobs that they did" in note for note in told["notes"])


def test_advice_says_if_people_are_assumed_for_lack_of_jobs(tmp_path: Path) -> None:
    with Store.open(tmp_path / "few", create=True) as few:
        world(few, measured=3)
    table = tmp_path / "list.csv"
    table.write_text(LIST)
    told = cli_json("advise", str(table), "--store", str(tmp_path / "few"), "--wage", "40")
    [one] = told["advice"]
    assert not one["measured"] and set(one["chances"]) == {"AI", "people"}
    assert any("people did too few jobs similar to 1 of these 1" in note for note in told["notes"])
