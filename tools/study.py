"""A study with differences to look at: `python tools/study.py FOLDER` (about three minutes on two cores).

Five scripted agents of graded skill work on the starter suite in real sandboxes, and its graders grade what they hand
in. An agent replays the suite's good script on as many of the instances as its skill says, chosen by a seed, and the
hasty or the lazy one on the others; the tokens of its answers, the prices of its model and the release dates are
invented, and named so. Writes FOLDER/store and FOLDER/report, of which the pictures in the docs are taken.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import worksample as ws
from worksample.agents.agent_script import Script, ScriptStep, read_script
from worksample.reports import ReportConfig
from worksample.tasks import find_suite


@dataclass(frozen=True)
class Skill:
    """How often an agent works well and how often not at all, and what it is said to cost."""

    name: str
    good: float
    lazy: float
    prompt: int
    """Tokens of the prompt of an answer."""
    price: tuple[float, float]
    released: str


SKILLS = (
    Skill("novice", 0.15, 0.30, 1_500, (0.10, 0.40), "2025-09-01"),
    Skill("apprentice", 0.30, 0.15, 4_000, (0.50, 2.00), "2026-01-15"),
    Skill("journeyman", 0.50, 0.10, 6_000, (1.00, 4.00), "2026-04-10"),
    Skill("specialist", 0.60, 0.05, 14_000, (3.00, 15.00), "2026-06-20"),
    Skill("master", 0.80, 0.00, 12_000, (2.50, 10.00), "2026-09-30"),
)
SEED = 11
ANSWER = 900
"""Tokens of an answer, and half as many again at random."""


def agents(folder: Path) -> list[dict[str, Any]]:
    """Write a folder of scripts for each skill; returns the agents as `run` takes them."""
    shipped = find_suite("starter").parent / "scripts"
    scripts = {name: read_script(shipped / name) for name in ("good", "hasty", "lazy")}
    out = []
    for skill in SKILLS:
        place = folder / skill.name
        place.mkdir(parents=True, exist_ok=True)
        for task, text in mixed(skill, scripts):
            (place / f"{task}.toml").write_text(text, encoding="utf-8")
        out.append(
            {
                "name": skill.name,
                "harness": "scripted",
                "model": f"script/{skill.name}",
                "script": str(place),
                "release_date": skill.released,
            }
        )
    return out


def mixed(skill: Skill, scripts: Mapping[str, Script]) -> Iterator[tuple[str, str]]:
    """Each task's script file: of every instance one of the three scripts, with the tokens of this agent.

    One draw per instance for all skills: what a better agent fails, a worse one mostly fails, too.
    """
    spent = random.Random(f"{SEED} {skill.name}")
    for task in sorted(scripts["good"].tasks):
        lines: list[str] = []
        for instance in (found.name for found in ws.task(find_suite("starter").parent / "tasks" / task).instances):
            luck = random.Random(f"{SEED} {task} {instance}").random() + spent.uniform(-0.2, 0.2)
            kind = "good" if luck < skill.good else "lazy" if luck > 1 - skill.lazy else "hasty"
            own = scripts[kind].tasks[task]
            for step in own.instances.get(instance, own.steps):
                lines += [f"[[instance.{instance}.step]]", *_toml(step, skill, spent), ""]
        yield task, "\n".join(lines)


def _toml(step: ScriptStep, skill: Skill, spent: random.Random) -> Iterator[str]:
    for key, value in step.model_dump(mode="json", exclude_defaults=True, exclude={"usage"}).items():
        yield f"{key} = {json.dumps(value, ensure_ascii=False)}"
    yield f"usage = {{ input = {round(skill.prompt * spent.uniform(0.6, 1.8))}, output = {_answer(spent)} }}"


def _answer(spent: random.Random) -> int:
    return round(ANSWER * spent.uniform(0.5, 1.5))


def main() -> None:
    """Read the arguments, run the study and write its report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="made where it is not there")
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--only", action="append", default=[], help="as for `worksample run`")
    given = parser.parse_args()
    prices = {f"script/{s.name}": {"input": s.price[0], "output": s.price[1]} for s in SKILLS}
    run = ws.run(
        "starter",
        agents(given.folder / "scripts"),
        name="graded-skill",
        store=given.folder / "store",
        parallel=given.parallel,
        only=given.only,
        prices=prices,
        author="tools/study.py",
    )
    config = ReportConfig(name="Five scripted agents of graded skill (prices and dates invented)", illustrative=True)
    ws.report(run, out=given.folder / "report", config=config)
    sys.stdout.write(f"report: {given.folder / 'report' / 'index.html'}\n")


if __name__ == "__main__":
    main()
