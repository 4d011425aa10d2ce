"""Packages that no program grades, and people who judge what agents make of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from worksample.experiments.config import AgentConfig, ExperimentConfig
from worksample.people import Account, Item, People
from worksample.store import Store

TASK = """
id = "letter"
title = "A letter"
version = "1.0"
canary = "worksample-canary-0c0ffee0-1234-4abc-8def-0123456789ac"

[deliverables]
"letter.txt" = {{ format = "txt", about = "the letter" }}

{gradings}

[[instance]]
name = "ada"
inputs = "inputs/ada"
reference = "reference/ada"

[[instance]]
name = "grace"
inputs = "inputs/grace"
reference = "reference/grace"
"""
RUBRIC = """
[[criterion]]
id = "named"
text = "Names the person."
importance = "critical"
by = "person"

[[criterion]]
id = "kind"
text = "Is kind."
importance = "optional"
by = "person"
"""
SCRIPT = """[[step]]
run = '''printf 'Dear %s\n' "$(cat {input}/name.txt)" > {output}/letter.txt'''
"""


def package(folder: Path, *protocols: str, by: str = "person") -> Path:
    """A task of two instances, judged under these protocols, without any `grade.py`. by: who decides criteria."""
    root = folder / "letter"
    gradings = "\n".join(f"[grading.{protocol}]" for protocol in protocols)
    files = {"task.toml": TASK.format(gradings=gradings), "brief.md": BRIEF, "scripts/letter.toml": SCRIPT}
    if "rubric" in protocols:
        files["criteria.toml"] = RUBRIC.replace('"person"', f'"{by}"')
    for name in ("ada", "grace"):
        files |= {f"inputs/{name}/name.txt": name, f"reference/{name}/letter.txt": f"Dear {name}"}
    for path, text in files.items():
        where = folder / path if path.startswith("scripts/") else root / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text)
    return root


BRIEF = "# Work description\n\nWrite a letter.\n\n# Provided material\n\nA name.\n\n# Deliverables\n\nletter.txt\n"


def config_of(folder: Path, *protocols: str, by: str = "person", **rest: object) -> ExperimentConfig:
    """One scripted agent on both instances, without isolation: nothing here is about boxes."""
    task = package(folder, *protocols, by=by)
    given = {"name": "letters", "tasks": (str(task),), "sandbox": "none", "author": "tester"} | rest
    agents = (AgentConfig(harness="scripted", name="good", script=str(folder / "scripts")),)
    return ExperimentConfig(agents=agents, **given)  # type: ignore[arg-type]


def hire(store: Store, *names: str) -> tuple[People, list[Account]]:
    """People who have read the instructions."""
    people = People(store)
    found = []
    for name in names:
        account = people.accounts.accept(people.accounts.invite(("expert",)), name, None)
        people.read_training(account)
        found.append(account)
    return people, found


def judge_all(people: People, accounts: Sequence[Account]) -> int:
    """Everybody accepts all that is left; how many answers were handed in."""
    count = 0
    for account in accounts:
        while (item := people.drafting.claim(account)) is not None:
            people.judging.submit(item.id, account, answer(item), f"{item.id} {account.id}", 45)
            count += 1
    return count


def answer(item: Item) -> dict[str, object]:
    """That it is good."""
    if item.protocol == "rubric":
        return {"marks": {"named": "pass", "kind": "fail"}, "feedback": {"kind": "it is curt"}}
    if item.protocol == "pairwise":
        return {"completion": "first", "quality": "first", "justification": "letter.txt"}
    return {"score": 2, "justification": "letter.txt names the person"}
