"""Planning is a pure function, and open slots are the planned ones without the finished ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.material import an_instance, some_material
from worksample.errors import PlanError
from worksample.experiments.planning.agent_compatibility import reason_identity, why_incompatible
from worksample.experiments.planning.experiment_plan import Plan, plan
from worksample.experiments.planning.plan_forecast import forecast
from worksample.experiments.planning.slot_order import order_slots
from worksample.records import Agent, Arm, Limits, Slot

EARLY, LATE = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
grids = st.builds(
    some_material,
    agents=st.integers(1, 3),
    tasks=st.integers(1, 3),
    instances=st.integers(1, 3),
    repeats=st.integers(1, 4),
    seed=st.integers(0, 5),
    arms=st.integers(1, 2),
)


def planned(material: object, at: datetime = EARLY, author: str = "ann") -> Plan:
    return plan(material, author=author, at=at, versions={"worksample": "1"}, settings={})  # type: ignore[arg-type]


@given(grids, st.data())
def test_planning_is_independent_of_order(material, data) -> None:
    first = planned(material)
    shuffled = replace(
        material,
        agents=tuple(data.draw(st.permutations(material.agents))),
        instances=tuple(data.draw(st.permutations(material.instances))),
        arms=tuple(data.draw(st.permutations(material.arms))),
    )
    second = planned(shuffled, at=LATE, author="bob")
    assert first.experiment.id == second.experiment.id
    assert first.slots == second.slots


@given(grids)
def test_every_combination_has_one_slot(material) -> None:
    slots = planned(material).slots
    combinations = {(s.agent, s.instance, s.arm, s.repeat) for s in slots}
    expected = len(material.agents) * len(material.instances) * len(material.arms) * material.repeats
    assert len(slots) == len(combinations) == len({s.id for s in slots}) == expected


@given(grids, st.data())
def test_open_slots_run_in_the_planned_order(material, data) -> None:
    slots = planned(material).slots
    finished = data.draw(st.sets(st.sampled_from(slots).map(lambda s: s.id)))
    still_open = [s for s in slots if s.id not in finished]
    assert list(order_slots(data.draw(st.permutations(still_open)), material.seed)) == still_open
    assert {s.id for s in still_open} | finished == {s.id for s in slots}


@pytest.mark.parametrize(
    "change",
    [
        {"repeats": 3},
        {"seed": 9},
        {"roles": {"judge": "other"}},
        {"sandbox": "none"},
        {"arms": (Arm(limits=Limits(time=5)),)},
        {"agents": (Agent.of("agent-0", "scripted"),)},
        {"instances": (an_instance("task-0", "case-0", brief="Do it well."),)},
    ],
)
def test_everything_that_decides_the_work_changes_the_experiment(change) -> None:
    material = some_material()
    assert planned(replace(material, **change)).experiment.id != planned(material).experiment.id


def test_mismatched_slot_is_not_attemptable_and_never_run() -> None:
    seeing = an_instance("look", "one", requires=("vision",))
    material = replace(some_material(agents=1, tasks=1, instances=1, repeats=1), instances=(seeing,))
    result = planned(material)
    assert result.attemptable == ()
    assert "vision" in result.slots[0].not_attemptable
    able = Agent.of("able", "worker", model="m", capabilities=("vision",))
    assert why_incompatible(able, seeing) == ""


@pytest.mark.parametrize(
    ("environment", "word"),
    [
        ({"network": "open"}, "network"),
        ({"services": ("chat",)}, "chat"),
        ({"interfaces": ("terminal", "hologram")}, "hologram"),
        ({"software": ("openscad",)}, "openscad"),
    ],
)
def test_reasons_name_missing_requirements(environment, word) -> None:
    instance = an_instance("t", "i", **environment)
    assert word in why_incompatible(Agent.of("a", "worker"), instance, frozenset({"openscad"}))


def test_forecast_without_limits_is_unknown_and_not_zero() -> None:
    free = planned(some_material(arms=1))
    assert forecast(free, 4, lambda a: True).cost is None
    assert forecast(free, 4, lambda a: False).cost == 0
    assert forecast(free, 4, lambda a: False).seconds == pytest.approx(16 * 60 / 4)
    bare = planned(replace(some_material(), arms=(Arm(),)))
    assert forecast(bare, 4, lambda a: True).seconds is None


def test_empty_plan_is_refused() -> None:
    for change in ({"instances": ()}, {"agents": (Agent.of("a", "worker"),) * 2}):
        with pytest.raises(PlanError):
            planned(replace(some_material(), **change))


def test_slot_ids_do_not_depend_on_time() -> None:
    slot: Slot = planned(some_material()).slots[0]
    assert slot.id == Slot.identify(slot.experiment, slot.agent, slot.instance, slot.arm, 1, slot.repeat)


@pytest.mark.parametrize(
    ("now", "earlier"),
    [
        ("requires vision, which the agent does not declare", "requires vision, which the agent does not declare"),
        (
            "needs a browser, which image-based tasks do not support; "
            "needs a browser, which the harness object cannot use",
            "needs a browser, which is of this machine's programs, in an image, which has its own; "
            "needs a browser, which the harness object is given none of",
        ),
        (
            "needs endpoints (model.internal:80), which need isolation",
            "needs endpoints (model.internal:80), which there are none of without isolation",
        ),
        (
            "brings its own services, which need isolation",
            "needs services of its own, which there are none of without isolation",
        ),
        (
            "brings MCP servers, which the harness aider does not support",
            "brings MCP servers, which the harness aider does not take",
        ),
        (
            "needs programs of a workplace, which are not installed (fcgiwrap, copyparty; type: /env/bin/pip install -e"
            " '/a clone[workplace]' && worksample workplace install)",
            "needs programs of a workplace, which this machine has not (type: pip install 'worksample[workplace]'"
            " && worksample workplace install)",
        ),
        (
            "needs a browser, which is not installed (type: sudo apt-get install -y chromium && uvx --from"
            " 'worksample[browser,report] @ git+https://example.org/w@1' worksample ...)",
            "needs a browser, which this machine has not (type: sudo apt-get install -y chromium && pip install"
            " 'worksample[browser]')",
        ),
        ("needs services, which a workstation does not have", "needs services, which a person's place does not have"),
    ],
)
def test_reasons_count_in_experiment_ids_as_in_version_0_1(now: str, earlier: str) -> None:
    assert reason_identity(now) == earlier
