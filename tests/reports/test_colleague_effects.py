"""Equal work with a helpful and an unhelpful colleague: the difference in the report."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from reports.measuring import cell, sections
from store import worlds
from worksample.records import Slot
from worksample.reports.sections import measure
from worksample.store import Store
from worksample.workplace.colleagues.colleague_profile import Colleague, Knowledge
from worksample.workplace.colleagues.responders import ConversationLine, RuleResponder

ASKED = {"may": "What was the sum in May?", "june": "What was the sum in June?"}
MAY = Knowledge(id="may", text="4,704 EUR.", ask=ASKED["may"], about=("may",), marks=("4,704",))
JUNE = Knowledge(id="june", text="1,200 EUR.", ask=ASKED["june"], about=("june",), marks=("1,200",))
HELPFUL = Colleague(id="rosa", name="Rosa", knows=(MAY, JUNE))
UNHELPFUL = Colleague(id="rosa", name="Rosa", knows=(MAY,), otherwise="Look it up yourself.")


def scores(colleague: Colleague) -> dict[str, float]:
    """What an agent gets who writes down what it is told: one instance for each question."""

    async def told() -> dict[str, float]:
        found = {}
        for name, question in ASKED.items():
            said = (await RuleResponder().answer(colleague, [ConversationLine("agent", question)])).text
            found[name] = float(any(mark in said for one in (MAY, JUNE) if one.id == name for mark in one.marks))
        return found

    return asyncio.run(told())


def experiment(store: Store, name: str, model: str, colleague: Colleague, first: bool) -> None:
    """An experiment in which both agents ask this colleague."""
    world, earned = worlds.World(), scores(colleague)
    lock = world.experiment.lock.replaced(roles={"judge": "j", "colleague": model})
    if first:
        store.commit(world.task, *world.instances, *world.agents)
    store.commit(
        world.experiment.replaced(id=name, name=name, lock=lock), world.round.replaced(id=f"r-{name}", experiment=name)
    )
    minute = 1 if first else 200
    for agent in world.agents:
        for instance in world.instances:
            one = f"{name}-{agent.name}-{instance.name}"
            slot = Slot(id=one, experiment=name, agent=agent.id, instance=instance.id)
            trial = world.trial(0, one, minute).replaced(
                slot=one, experiment=name, instance=instance.id, agent=agent.id
            )
            made = world.submission(trial).replaced(experiment=name, entrant=agent.id)
            vote = world.evaluation(
                made.id, one, earned[instance.name], minute + 1, round=f"r-{name}", instance=instance.id
            )
            store.commit(slot, trial, made, vote)
            minute += 3


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.open(tmp_path / "store", create=True)
    experiment(store, "hard", "m/unhelpful", UNHELPFUL, first=True)
    return store


def test_single_colleague_model_has_no_comparison(store: Store) -> None:
    assert "colleagues" not in sections(store)


def test_other_colleague_model_shows_its_effect_on_scores(store: Store) -> None:
    experiment(store, "easy", "m/helpful", HELPFUL, first=False)
    [section] = [one for one in measure(store, ["hard"]) if one.id == "colleagues"]
    assert [row.label for row in section.rows] == ["ann", "bob", "all agents"]
    assert {row.cells[0] for row in section.rows} == {"m/helpful"}
    assert cell(section, "ann", "score here").value == pytest.approx(0.5)
    assert cell(section, "ann", "score there").value == pytest.approx(1.0)
    difference = cell(section, "ann", "difference")
    assert difference.value == pytest.approx(0.5)
    assert difference.counts.special["instances"] == 2
    assert cell(section, "all agents", "difference").counts.special["first trials"] == 4
    assert "played by m/unhelpful; easy has m/helpful" in section.notes[0]
    [turned] = [one for one in measure(store, ["easy"]) if one.id == "colleagues"]
    assert cell(turned, "bob", "difference").value == pytest.approx(-0.5)


def test_other_work_is_not_compared(store: Store) -> None:
    """A lock that differs in more than the colleague."""
    experiment(store, "easy", "m/helpful", HELPFUL, first=False)
    other = store.get(worlds.Experiment, "easy")
    lock = other.lock.replaced(roles={"judge": "another", "colleague": "m/third"})
    store.commit(other.replaced(id="third", name="third", lock=lock))
    [section] = [one for one in measure(store, ["hard"]) if one.id == "colleagues"]
    assert {row.cells[0] for row in section.rows} == {"m/helpful"}
