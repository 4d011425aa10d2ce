"""A store with people, rounds and votes in it, for the pictures of the review app: real deliverables of the starter
suite by the scripted agents, judged by invented people in invented time.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worksample.people import Account, Gold, Item, People, PeopleRound, Profile, RoundKind, amend, raise_flag
from worksample.people.clock import now_in_microseconds
from worksample.records import Agent, AmendmentAction, AmendmentTarget, Evaluation, Instance, Submission
from worksample.store import Store
from worksample.tasks import find_suite

AGENTS = ("good", "hasty", "lazy")
TASKS = ("web-page", "logo-vector", "bracket-3d", "audio-edit", "survey-chart", "incident-report")
ONLY = ("web-page/*", "logo-vector/*", "bracket-3d/shelf-bracket", "audio-edit/info-line", "survey-chart/commute",
        "incident-report/checkout")  # fmt: skip
BACKGROUNDS = {
    "Ann Keller": Profile(domains=("upwork:design-creative",), hours=2400, earnings=81_000, rating=4.9, pay_rate=60),
    "Ben Osei": Profile(
        domains=("upwork:web-mobile-software-dev",), hours=800, earnings=21_000, rating=4.7, pay_rate=40
    ),
    "Cem Aydin": Profile(domains=("upwork:design-creative",), hours=300, earnings=6000, rating=4.2, pay_rate=25),
}
WHY = {
    "good": "All sections of the deck are on the page, in its words, and the client's corrections are in.",
    "hasty": "The prices are those of before the correction, and two links lead nowhere.",
    "lazy": "The files that were handed in are the inputs; nothing was made of them.",
}


def run(folder: Path) -> Path:
    """The scripted agents' work, as `worksample run` makes it; returns the store."""
    starter = find_suite("starter").parent
    tasks = folder / "tasks"
    for name in TASKS:
        shutil.copytree(starter / "tasks" / name, tasks / name)
    manifest = tasks / "web-page" / "task.toml"
    # The page is judged by its criteria, too: people mark them one by one.
    manifest.write_text(
        manifest.read_text(encoding="utf-8").replace("[grading.program]", "[grading.rubric]\n\n[grading.program]"),
        encoding="utf-8",
    )
    agents = [
        f'[[agents]]\nname = "{name}"\nharness = "scripted"\nscript = "{starter / "scripts" / name}"\n'
        for name in AGENTS
    ]
    lines = [
        'name = "demo"', f"tasks = {[str(tasks / name) for name in TASKS]}", f"only = {list(ONLY)}", "parallel = 2", "",
        *agents,
    ]  # fmt: skip
    (folder / "demo.toml").write_text("\n".join(lines), encoding="utf-8")
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "worksample",
        "run",
        folder / "demo.toml",
        "--store",
        folder / "store",
        "--json",
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=1200)
    return folder / "store"


class Clock:
    """Three days ago, and on from there as people work."""

    def __init__(self) -> None:
        self.now = now_in_microseconds() - int(3 * 86400e6)

    def __call__(self) -> int:
        return self.now

    def pass_(self, minutes: float) -> None:
        self.now += int(minutes * 60e6)


@dataclass
class Scene:
    """What was staged, by name."""

    store: Store
    clock: Clock = field(default_factory=Clock)
    dice: random.Random = field(default_factory=lambda: random.Random(4))
    rounds: dict[str, str] = field(default_factory=dict)
    people: People = field(init=False)
    made: dict[tuple[str, str], str] = field(init=False)
    """(agent, instance's key) -> submission."""
    makers: dict[str, str] = field(init=False)
    """Manifest -> agent."""
    experiment: str = field(init=False)

    def __post_init__(self) -> None:
        self.people = People(self.store, clock=self.clock)
        names = {agent.id: agent.name for agent in self.store.find(Agent)}
        found = self.store.find(Submission)
        self.made = {(names[s.entrant], self.store.get(Instance, s.instance).key): s.id for s in found}
        self.makers = {s.parts["output"].manifest: names[s.entrant] for s in found if "output" in s.parts}
        self.experiment = next(s.experiment for s in found if s.experiment)

    def hire(self, name: str, *roles: str, read: bool = True) -> Account:
        account = self.people.accounts.accept(self.people.accounts.invite(roles), name, "a password of some words")
        if name in BACKGROUNDS:
            account = self.people.accounts.set_profile(account, BACKGROUNDS[name])
        if read:
            self.people.read_training(account)
        return account

    def open(self, name: str, kind: RoundKind, **settings: Any) -> str:
        config = PeopleRound(kind=kind, seed=7, **{"waive_pilot": "pictures of the app", **settings})
        self.rounds[name] = self.people.open_people_round(config).id
        return self.rounds[name]

    def who(self, item: Item) -> list[str]:
        """Whose work an item shows, in its order."""
        return [self.makers.get(p.manifest, "lazy") for p in item.shown if p.label in LABELS]

    def judge(self, people: Sequence[Account], round: str, plan: Callable[[Account, Item], Mapping[str, Any]],
              at_most: int = 1000) -> None:  # fmt: skip
        """They take turns until nothing is left, or so many answers are in."""
        idle: set[str] = set()
        while len(idle) < len(people) and at_most > 0:
            for account in people:
                item = self.people.drafting.claim(account, round)
                if item is None or at_most <= 0:
                    idle.add(account.id)
                    continue
                minutes = self.dice.uniform(3, 22)
                self.clock.pass_(minutes)
                self.people.judging.submit(
                    item.id, account, plan(account, item), f"{item.id} {account.id}", minutes * 60
                )
                at_most -= 1

    def holistic(self, account: Account, item: Item) -> dict[str, Any]:
        """Good work passes; Cem is lenient, and now and then somebody is wrong."""
        maker = self.who(item)[0]
        slip = self.dice.random() < (0.2 if account.name.startswith("Cem") else 0.06)
        score = (3 if self.dice.random() < 0.25 else 2) if (maker == "good") != slip else 1
        return {"score": score, "justification": WHY[maker]}

    def pairwise(self, account: Account, item: Item) -> dict[str, Any]:
        first, second = (AGENTS.index(maker) for maker in self.who(item))
        side = "first" if first < second else "second"
        return {
            "completion": side,
            "quality": "equal" if self.dice.random() < 0.1 else side,
            "justification": WHY["hasty"],
        }


LABELS = ("Alternative", "AD-1", "AD-2", "Deliverable")


def stage(store: Store) -> Scene:
    """People at work for three days. `Ada` is the admin, `Eva` has everything before her."""
    scene = Scene(store)
    people = scene.people
    ada = scene.hire("Ada Lind", "admin")
    judges = [scene.hire(name, "evaluator", "expert") for name in BACKGROUNDS]
    rita = scene.hire("Rita Sole", "reviewer")
    scene.hire("Eva Moreno", "evaluator", "expert")
    scene.hire("Noa Weiss", "evaluator", read=False)
    people.accounts.invite(["evaluator"], ada)

    golden = [("good", "web-page/bikes"), ("hasty", "logo-vector/lantern"), ("lazy", "survey-chart/commute")]
    gold = tuple(Gold(scene.made[g], {"score": 2 if g[0] == "good" else 1}, WHY[g[0]]) for g in golden)
    quiz = scene.open("quiz", RoundKind.CALIBRATION, gold=gold, encoding="utf-8")
    scene.judge(
        judges, quiz, lambda a, i: {"score": 2 if scene.who(i) == ["good"] else 1, "justification": "By the brief."}
    )
    votes = scene.open(
        "holistic",
        RoundKind.HOLISTIC,
        experiment=scene.experiment,
        reason="automation rate, November",
        encoding="utf-8",
    )
    item = people.drafting.claim(judges[2], votes)
    assert item is not None
    raise_flag(
        people.store,
        item.id,
        judges[2],
        "broken file",
        "The second page of the report stays empty in every viewer.",
        clock=people.clock,
    )
    scene.judge(judges, votes, scene.holistic, at_most=68)
    wrong = store.find(Evaluation, round=votes)[5]
    amend(
        people.store,
        ada,
        AmendmentAction.STRIKE,
        AmendmentTarget.EVALUATION,
        wrong.id,
        "judged in eleven seconds",
        clock=people.clock,
    )
    pairs = scene.open(
        "pairwise", RoundKind.PAIRWISE, experiment=scene.experiment, holistic=votes, per_pair=5, encoding="utf-8"
    )
    scene.judge(judges, pairs, scene.pairwise, at_most=22)
    audit = scene.open("audit", RoundKind.AUDIT, over=votes, encoding="utf-8")
    scene.judge(
        [rita], audit, lambda a, i: {"score": 2 if scene.who(i) == ["good"] else 1, "justification": "Looked again."}
    )
    fails = scene.open("fails", RoundKind.FALSE_NEGATIVES, over=votes, encoding="utf-8")
    scene.judge([rita], fails, lambda a, i: {"score": 1, "justification": "Rightly failed."})
    found = scene.open("integrity", RoundKind.INTEGRITY, over=votes, sample=3, encoding="utf-8")
    scene.judge(
        [rita], found,
        lambda a, i: {"finding": "shortcut" if scene.who(i) == ["lazy"] else "sound", "justification": "Step 2."},
    )  # fmt: skip
    scene.open("adjudication", RoundKind.ADJUDICATION, over=votes, encoding="utf-8")
    for_eva(scene)
    return scene


def for_eva(scene: Scene) -> None:
    """Rounds of one item each, so that a picture shows this and no other."""
    at = scene.made
    scene.open("eva holistic", RoundKind.HOLISTIC, subjects=(at["good", "web-page/bakery"],), encoding="utf-8")
    scene.open(
        "eva models",
        RoundKind.PAIRWISE,
        subjects=(at["good", "bracket-3d/shelf-bracket"], at["hasty", "bracket-3d/shelf-bracket"]),
        encoding="utf-8",
    )
    scene.open("eva rubric", RoundKind.RUBRIC, subjects=(at["hasty", "web-page/bakery"],))
