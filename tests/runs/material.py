"""An experiment on a store of its own: instances, a scripted agent, slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worksample.agents import define
from worksample.errors import Cause
from worksample.records import (
    About,
    Agent,
    Arm,
    Capture,
    Entry,
    Environment,
    Experiment,
    Grading,
    Instance,
    Limits,
    Lock,
    Manifest,
    Protocol,
    Slot,
    Submission,
    TaskWork,
    Trial,
    now,
)
from worksample.runs import RunConfig, run_slots
from worksample.store import Store, put_canonical


@dataclass
class Setting:
    """A store with a planned experiment; `closed` is what the run told."""

    store: Store
    experiment: Experiment
    agent: Agent
    slots: tuple[Slot, ...]
    closed: list[tuple[Trial, Submission | None]] = field(default_factory=list)

    async def run(self, **config: Any) -> list[Trial]:
        """Run the open slots; the trials of the experiment."""
        chosen = RunConfig(**{"parallel": 2, **config})
        slots = self.store.open_slots(self.experiment.id)
        await run_slots(self.store, self.experiment, slots, chosen, lambda t, s: self.closed.append((t, s)))
        return self.trials()

    def trials(self) -> list[Trial]:
        return self.store.find(Trial, experiment=self.experiment.id)

    def output(self, trial: Trial) -> dict[str, bytes]:
        """What was handed in, by path."""
        submission = self.store.get(Submission, trial.id)
        manifest = self.store.manifest(submission.parts["output"].manifest)
        read = {digest: self.store.blobs.read(digest) for digest in {e.blob for e in manifest.files if e.blob}}
        return {e.path: read[e.blob] for e in manifest.files if e.blob}


def instance_in(
    store: Store,
    name: str,
    limits: Limits | None = None,
    inputs: Mapping[str, bytes] | None = None,
    **environment: Any,
) -> Instance:
    """An instance of the task `greeting` with these input files; more of its environment by name."""
    entries = tuple(
        Entry(path=path, size=len(data), blob=store.blobs.put(data)) for path, data in sorted((inputs or {}).items())
    )
    manifest = put_canonical(store.blobs, Manifest(entries=entries).plain())
    empty = put_canonical(store.blobs, Manifest().plain())
    work = TaskWork(
        brief=f"Write hello.txt for {name}.",
        inputs=manifest,
        software=empty,
        environment=Environment(limits=limits or Limits(time=60, memory=512 << 20, disk=64 << 20), **environment),
    )
    capture = Capture(probes=empty)
    secret = Entry(path="answer.txt", size=2, blob=store.blobs.put(b"42"))
    reference = put_canonical(store.blobs, Manifest(entries=(secret,)).plain())
    return Instance(
        id=Instance.identify("greeting", name, {"work": work.plain(), "capture": capture.plain()}),
        task="greeting",
        name=name,
        title=name,
        version="1",
        canary="c",
        work=work,
        capture=capture,
        grading={Protocol.PROGRAM: Grading(protocol=Protocol.PROGRAM, reference=reference, grader=empty)},
        about=About(),
    )


def setting(
    folder: Path,
    steps: Sequence[Mapping[str, Any]] = (),
    *,
    names: Sequence[str] = ("one",),
    agent: Agent | None = None,
    more: Sequence[Agent] = (),
    limits: Limits | None = None,
    arm: Arm | None = None,
    repeats: int = 1,
    inputs: Mapping[str, bytes] | None = None,
    special: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    **environment: Any,
) -> Setting:
    """A new store in `folder` with an experiment of one agent and `more`; `special` are steps of single instances."""
    store = Store.open(folder / "store", create=True)
    instances = [instance_in(store, name, limits, inputs, **environment) for name in names]
    own = {name: [dict(s) for s in rows] for name, rows in (special or {}).items()}
    script = {"tasks": {"greeting": {"steps": [dict(s) for s in steps], "instances": own}}}
    agent = agent or define("tester", harness="scripted", settings={"script": script})
    agents = (agent, *more)
    arm = arm or Arm()
    lock = Lock(
        suite="0" * 64, instances=tuple(i.id for i in instances), protocol=Protocol.PROGRAM, sandbox="bubblewrap"
    )
    experiment = Experiment(
        id="trying@0123456789abcdef",
        name="trying",
        agents=tuple(a.id for a in agents),
        arms=(arm,),
        repeats=repeats,
        lock=lock,
        author="tests",
        at=now(),
    )
    slots = tuple(
        Slot(
            id=Slot.identify(experiment.id, a.id, i.id, arm.name, 1, r),
            experiment=experiment.id,
            agent=a.id,
            instance=i.id,
            arm=arm.name,
            repeat=r,
        )
        for a in agents
        for i in instances
        for r in range(1, repeats + 1)
    )
    store.commit(*instances, *agents, experiment, *slots)
    return Setting(store, experiment, agent, slots)


def player(name: str, *steps: Mapping[str, Any]) -> Agent:
    """A scripted agent."""
    script = {"tasks": {"greeting": {"steps": [dict(s) for s in steps]}}}
    return define(name, harness="scripted", settings={"script": script})


def cause(trial: Trial) -> Cause | None:
    return trial.outcome.cause
