"""Records to plan with, made without a store or a task package."""

from __future__ import annotations

from worksample.experiments.planning.experiment_plan import PlanInputs
from worksample.records import (
    About,
    Agent,
    Arm,
    Capture,
    Environment,
    Grading,
    Instance,
    Limits,
    Protocol,
    TaskWork,
    digest_of,
)

NOTHING = digest_of([])


def an_instance(task: str, name: str, *, brief: str = "Do it.", **environment: object) -> Instance:
    """An instance whose id follows its content."""
    work = TaskWork(brief=brief, inputs=NOTHING, software=NOTHING, environment=Environment(**environment))
    parts = {
        "work": work,
        "capture": Capture(probes=NOTHING),
        "grading": {Protocol.PROGRAM: Grading(protocol=Protocol.PROGRAM, reference=NOTHING, grader=NOTHING)},
        "about": About(),
    }
    plain = {
        "work": work.plain(),
        "capture": parts["capture"].plain(),
        "grading": {str(k): v.plain() for k, v in parts["grading"].items()},
        "about": parts["about"].plain(),
    }
    return Instance(
        id=Instance.identify(task, name, plain), task=task, name=name, title=name, version="1.0", canary="c", **parts
    )


def some_material(
    agents: int = 2, tasks: int = 2, instances: int = 2, repeats: int = 2, seed: int = 0, arms: int = 1
) -> PlanInputs:
    """A grid of that size."""
    return PlanInputs(
        name="grid",
        agents=tuple(Agent.of(f"agent-{n}", "scripted", settings={"n": n}) for n in range(agents)),
        instances=tuple(an_instance(f"task-{t}", f"case-{i}") for t in range(tasks) for i in range(instances)),
        arms=tuple(Arm(name=f"arm-{n}", limits=Limits(time=60.0 + n)) for n in range(arms)),
        repeats=repeats,
        seed=seed,
    )
