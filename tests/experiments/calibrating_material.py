"""An experiment whose rubric a judge answers, on a loopback service, and people who label some of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.judged_by_people import BRIEF
from worksample.experiments.config import AgentConfig, ExperimentConfig
from worksample.models import JudgeConfig, Price
from worksample.models.service_config import ServiceConfig
from worksample.people import Account, Item, People
from worksample.results.calibration.config import CalibrationConfig

MODEL = "openai-api/local/judge-1"
TASK = """
id = "letter{n}"
title = "A letter"
version = "1.0"
canary = "worksample-canary-0c0ffee0-1234-4abc-8def-0123456789ac"

[deliverables]
"letter.txt" = {{ format = "txt", about = "the letter" }}

{gradings}

[[instance]]
name = "ada"
inputs = "inputs"
reference = "reference"
"""
RUBRIC = """
[[criterion]]
id = "kind"
text = "Greets the person."
importance = "critical"
by = "judge"
"""
SCRIPT = """[[step]]
run = '''printf '%s\\n' "{text}" > {{output}}/letter.txt'''
"""
GOOD, BAD = "Dear reader", "You again"


def tasks(folder: Path, count: int, protocol: str = "rubric") -> tuple[str, ...]:
    """As many tasks of one instance each, in which a judge answers everything."""
    for n in range(count):
        files = {
            "task.toml": TASK.format(n=n, gradings=f"[grading.{protocol}]"), "brief.md": BRIEF,
            "inputs/name.txt": "Ada", "reference/letter.txt": "Dear Ada",
        }  # fmt: skip
        if protocol == "rubric":
            files["criteria.toml"] = RUBRIC
        for path, text in files.items():
            where = folder / f"letter{n}" / path
            where.parent.mkdir(parents=True, exist_ok=True)
            where.write_text(text)
    return tuple(str(folder / f"letter{n}") for n in range(count))


def agent(folder: Path, name: str, texts: Sequence[str], **rest: Any) -> AgentConfig:
    """Who writes the n-th of these texts in the n-th task."""
    scripts = folder / f"scripts-{name}"
    scripts.mkdir(parents=True, exist_ok=True)
    for n, text in enumerate(texts):
        (scripts / f"letter{n}.toml").write_text(SCRIPT.format(text=text))
    return AgentConfig(harness="scripted", name=name, script=str(scripts), **rest)


def config_of(
    folder: Path, base_url: str, agents: Mapping[str, Sequence[str]], protocol: str = "rubric", **rest: Any
) -> ExperimentConfig:
    """Agents by name, each with its text for every task; `rest`: keys of the experiment file."""
    count = max(len(texts) for texts in agents.values())
    given: dict[str, Any] = {
        "name": "letters", "tasks": tasks(folder, count, protocol), "sandbox": "none", "author": "tester",
        "agents": tuple(agent(folder, name, texts) for name, texts in agents.items()),
        "judges": {"judge": JudgeConfig(model=MODEL)}, "prices": {MODEL: Price(input=1.0, output=10.0)},
        "services": {"openai-api/local": ServiceConfig(base_url=base_url, retries=0)},
        "calibration": CalibrationConfig(share=0.5),
    }  # fmt: skip
    return ExperimentConfig(**(given | rest))


def say_of(item: Item, passed: bool) -> dict[str, Any]:
    """A person's answer to an item."""
    if item.protocol == "holistic":
        return {"score": 2 if passed else 1, "justification": "letter.txt says it"}
    if passed:
        return {"marks": {"kind": "pass"}}
    return {"marks": {"kind": "fail"}, "feedback": {"kind": "letter.txt greets nobody"}}


def text_of(people: People, item: Item, *labels: str) -> str:
    """What the deliverable says that an evaluator is shown; of a pair the one with this label."""
    pane = next(p for p in item.shown if p.label in (labels or ("Deliverable", "Alternative")))
    blob = people.store.manifest(pane.manifest).entries[0].blob
    assert blob is not None
    return people.store.blobs.read(blob).decode().strip()


def work_off(people: People, account: Account, passes: Callable[[str], bool], most: int = 10**9) -> int:
    """Answer what is given out, by what the deliverable says; how many."""
    count = 0
    while count < most and (item := people.drafting.claim(account)) is not None:
        people.judging.submit(
            item.id, account, say_of(item, passes(text_of(people, item))), f"{item.id} {account.id}", 45
        )
        count += 1
    return count
