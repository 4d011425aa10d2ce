"""A small store with work to judge, people to judge it, and a clock that only moves when told to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from store.worlds import EMPTY, NOTHING, START, instance_of
from worksample.people import Account, Item, People, PeopleRound, RoundKind
from worksample.records import (
    Agent,
    Arm,
    Criteria,
    Criterion,
    Ending,
    Entry,
    EntryKind,
    Experiment,
    Grading,
    Importance,
    Instance,
    Lock,
    Manifest,
    Origin,
    Protocol,
    Record,
    Round,
    Slot,
    Submission,
    SubmissionPart,
    Trial,
    TrialOutcome,
)
from worksample.store import Store, put_canonical

WAIVED = "a test of the queue, not of the instructions"
RUBRIC = Criteria(
    criteria=(
        Criterion(id="title", text="It has a title", importance=Importance.CRITICAL),
        Criterion(id="sums", text="The sums are right", importance=Importance.IMPORTANT),
        Criterion(id="tidy", text="It is tidy", importance=Importance.OPTIONAL),
    )
)


class Clock:
    """Microseconds; moves by `pass_` alone."""

    def __init__(self) -> None:
        self.now = int(START.timestamp() * 1e6)

    def __call__(self) -> int:
        return self.now

    def pass_(self, seconds: float) -> None:
        self.now += int(seconds * 1e6)


def folder_of(store: Store, files: Mapping[str, bytes]) -> str:
    entries = [
        Entry(path=path, kind=EntryKind.FILE, size=len(data), blob=store.blobs.put(data))
        for path, data in sorted(files.items())
    ]
    return put_canonical(store.blobs, Manifest(entries=tuple(entries)).plain())


@dataclass
class Office:
    """`agents` agents that each delivered on `projects` instances, as one experiment, `x1`."""

    store: Store
    agents: int = 3
    projects: int = 4
    clock: Clock = field(default_factory=Clock)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the experiment."""

    def __post_init__(self) -> None:
        self.store.blobs.put(NOTHING)
        self.people = People(self.store, clock=self.clock)
        reference = folder_of(self.store, {"report.txt": b"the human's report"})
        self.instances = [self._instance(n, reference) for n in range(self.projects)]
        self.makers = [Agent.of(f"maker-{n}", "worker", model=f"lab/model-{n}") for n in range(self.agents)]
        ids = tuple(i.id for i in self.instances)
        lock = Lock(suite="s", instances=ids, protocol=Protocol.HOLISTIC, sandbox="bubblewrap")
        experiment = Experiment(
            id="x1", name="x", agents=tuple(a.id for a in self.makers), arms=(Arm(),), repeats=1, lock=lock,
            settings=dict(self.settings), author="me", at=START,
        )  # fmt: skip
        records: list[Record] = [*self.makers, *self.instances, experiment]
        for agent in self.makers:
            for instance in self.instances:
                records += self._work(agent, instance)
        self.store.commit(*records)

    def _instance(self, n: int, reference: str) -> Instance:
        base = instance_of(f"p{n}")
        grading = Grading(protocol=Protocol.HOLISTIC, reference=reference, grader=EMPTY, notes="Ignore the cover.")
        rubric = Grading(protocol=Protocol.RUBRIC, reference=reference, grader=EMPTY, criteria=RUBRIC)
        return base.replaced(grading={Protocol.HOLISTIC: grading, Protocol.RUBRIC: rubric})

    def _work(self, agent: Agent, instance: Instance) -> list[Record]:
        id = f"{agent.name}.{instance.name}"
        slot = Slot(
            id=Slot.identify("x1", agent.id, instance.id, "plain", 1, 1), experiment="x1", agent=agent.id,
            instance=instance.id, repeat=1,
        )  # fmt: skip
        trial = Trial(
            id=f"t-{id}", slot=slot.id, experiment="x1", agent=agent.id, instance=instance.id,
            work=instance.work.digest, capture=instance.capture.digest, try_number=1,
            outcome=TrialOutcome(ending=Ending.DONE), started=START, ended=START, working_seconds=1,
        )  # fmt: skip
        part = SubmissionPart(manifest=folder_of(self.store, {"report.txt": id.encode()}), files=1)
        submission = Submission(
            id=f"s-{id}", instance=instance.id, work=trial.work, capture=trial.capture, origin=Origin.TRIAL,
            entrant=agent.id, at=START, trial=trial.id, experiment="x1", parts={"output": part},
        )  # fmt: skip
        return [slot, trial, submission]

    def deliver_late(self, name: str) -> None:
        """One more of an agent's deliverables, on another repeat of the first instance."""
        agent = next(a for a in self.makers if a.name == name)
        slot, trial, submission = self._work(agent, self.instances[0].replaced(name="late"))
        self.store.commit(slot.replaced(id="late", repeat=2), trial.replaced(slot="late"), submission)

    def hire(self, name: str, *roles: str) -> Account:
        """Somebody who has read the instructions."""
        account = self.people.accounts.accept(self.people.accounts.invite(roles or ("evaluator",)), name, None)
        self.people.read_training(account)
        return account

    def open(self, kind: RoundKind = RoundKind.HOLISTIC, **rest: Any) -> Round:
        options: dict[str, Any] = {"kind": kind, "seed": 7, "waive_pilot": WAIVED, **rest}
        if kind is not RoundKind.CALIBRATION and not {"over", "subjects", "experiment"} & set(rest):
            options["experiment"] = "x1"
        return self.people.open_people_round(PeopleRound(**options))

    def behind(self, item: Item) -> tuple[str, ...]:
        """What an evaluator cannot know: whose deliverables are shown, in this order."""
        found = []
        for pane in item.shown:
            if pane.label in ("Alternative", "AD-1", "AD-2", "Deliverable"):
                manifest = self.store.manifest(pane.manifest)
                blob = manifest.entries[0].blob
                assert blob is not None
                found.append("s-" + self.store.blobs.read(blob).decode())
        return tuple(found)

    def work_off(self, accounts: Sequence[Account], answer: Any, round: str | None = None) -> int:
        """All of them take turns until nothing is left; returns how many answers were handed in."""
        count, idle = 0, set[str]()
        while len(idle) < len(accounts):
            for account in accounts:
                item = self.people.drafting.claim(account, round)
                if item is None:
                    idle.add(account.id)
                    continue
                idle.discard(account.id)
                self.clock.pass_(60)
                self.people.judging.submit(item.id, account, answer(account, item), f"key {item.id} {account.id}", 45)
                count += 1
        return count


def office(folder: Path, **rest: Any) -> Office:
    return Office(Store.open(folder / "s", create=True), **rest)
