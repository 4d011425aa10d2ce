"""An instance whose places are folders of the test, and an eval that lets an agent work there without a box."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from worksample.agents import build
from worksample.agents.agent_builder import model_of
from worksample.models import ModelService
from worksample.records import (
    About,
    Agent,
    Capture,
    Deliverable,
    Environment,
    Instance,
    Limits,
    Manifest,
    Paths,
    TaskWork,
    digest_of,
)

EMPTY = digest_of(Manifest().plain())


def instance_at(
    folder: Path, *, brief: str = "Write hello.txt with a greeting.", limits: Limits | None = None
) -> Instance:
    """An instance with input, software and output below `folder`."""
    for name in ("input", "software", "output", "scratch"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return Instance(
        id="greeting/one@0000000000000000",
        task="greeting",
        name="one",
        title="A greeting",
        version="1",
        canary="c",
        work=TaskWork(
            brief=brief,
            inputs=EMPTY,
            software=EMPTY,
            deliverables=(Deliverable(name="hello.txt", format="txt", about="the greeting"),),
            environment=Environment(
                limits=limits or Limits(time=60),
                paths=Paths(
                    input=str(folder / "input"), software=str(folder / "software"), output=str(folder / "output")
                ),
            ),
        ),
        capture=Capture(probes=EMPTY),
        grading={},
        about=About(),
    )


async def work_here(agent: Agent, instance: Instance, folder: Path, service: ModelService | None = None) -> Any:
    """Let `agent` work on plain folders; the Inspect log of the one sample."""
    from inspect_ai import Task, eval_async
    from inspect_ai.util._display import init_display_type

    init_display_type("none")
    from inspect_ai.dataset import Sample

    model = model_of(agent, service or ModelService())
    solver = build(agent, instance, model=model, inputs=folder / "input", scratch=str(folder / "scratch"))
    logs = await eval_async(
        Task(dataset=[Sample(input="-", id="one", sandbox="local")], solver=solver, name="work"),
        model=model,
        log_dir=str(folder / "logs"),
        log_realtime=False,
        fail_on_error=False,
        score=False,
        ctl_server=False,
        acp_server=False,
    )
    return logs[0]
