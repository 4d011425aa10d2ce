"""A small checkout with the structure of Agents' Last Exam's public repository, made by hand; no line is theirs."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = "/media/user/data/agenthle"
COMMON = """
import os
from dataclasses import dataclass


@dataclass
class GeneralTaskConfig:
    DOMAIN_NAME: str = ""
    TASK_NAME: str = ""
    VARIANT_NAME: str = "base"
    OS_TYPE: str = "linux"
    REMOTE_ROOT_DIR: str = os.environ.get("REMOTE_ROOT_DIR", "/media/user/data/agenthle")

    def folder(self, name):
        parts = [self.REMOTE_ROOT_DIR, self.DOMAIN_NAME, self.TASK_NAME, self.VARIANT_NAME, name]
        return ("\\\\" if self.OS_TYPE == "windows" else "/").join(part for part in parts if part)

    def to_metadata(self):
        return {
            "domain_name": self.DOMAIN_NAME, "task_name": self.TASK_NAME, "variant_name": self.VARIANT_NAME,
            "requires_task_data": True, "task_dir": self.folder(""), "input_dir": self.folder("input"),
            "software_dir": self.folder("software"), "remote_output_dir": self.folder("output"),
            "reference_dir": self.folder("reference"),
        }
"""
MAIN = """
import cua_bench as cb
{imports}
from tasks.common_config import GeneralTaskConfig


@cb.tasks_config(split="train")
def load():
{load}


@cb.setup_task(split="train")
async def start(task_cfg, session: cb.DesktopSession):
{start}


@cb.evaluate_task(split="train")
async def evaluate(task_cfg, session: cb.DesktopSession) -> list[float]:
{evaluate}
"""
LOAD = """
found = []
for name in {variants!r}:
    cfg = GeneralTaskConfig(DOMAIN_NAME={domain!r}, TASK_NAME={task!r}, VARIANT_NAME=name, OS_TYPE={system!r})
    found.append(cb.Task(
        description=f"Write the sum to {{cfg.folder('output')}} ({{name}}).", metadata=cfg.to_metadata(),
        computer={{"provider": "computer", "setup_config": {{"os_type": cfg.OS_TYPE}}}},
    ))
return found
"""


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.strip("\n").splitlines())


def add_package(
    checkout: Path, place: str, *, load: str = "", start: str = "pass", evaluate: str = "return [1.0]",
    imports: str = "", variants: tuple[str, ...] = ("base",), system: str = "linux", snapshot: str = "cpu-free-ubuntu",
    modules: dict[str, str] | None = None,
) -> Path:  # fmt: skip
    """Add a package to a checkout, which is created if missing. load: the body of `load()`; modules: scripts."""
    tasks = checkout / "tasks"
    tasks.mkdir(parents=True, exist_ok=True)
    (tasks / "common_config.py").write_text(COMMON)
    domain, task = place.split("/")
    folder = tasks / place
    (folder / "scripts").mkdir(parents=True)
    usual = LOAD.format(variants=variants, domain=domain, task=task, system=system)
    (folder / "main.py").write_text(
        MAIN.format(
            imports=imports, load=_indented(load or usual), start=_indented(start), evaluate=_indented(evaluate)
        )
    )
    for name, text in (modules or {}).items():
        (folder / "scripts" / f"{name}.py").write_text(text)
    card = {"taskId": place, "title": f"Task {task}", "vm": {"snapshot": snapshot}}
    (folder / "task_card.json").write_text(json.dumps(card))
    return folder


def add_tier(checkout: Path, tier: str, *places: str) -> None:
    """Write the list of a tier."""
    folder = checkout / "selected_tasks" / "full"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{tier}.txt").write_text("".join(f"{place}\n" for place in places))


def add_data(data: Path, place: str, variant: str = "base", **files: str) -> None:
    """Write files of an instance; a key `input__numbers_csv` is the file `input/numbers.csv`."""
    for key, text in files.items():
        folder, _, name = key.partition("__")
        path = data / place / variant / folder / ".".join(name.rsplit("_", 1))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
