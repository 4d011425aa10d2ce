"""New task packages for `worksample task new`: small and complete packages that pass the audit."""

from __future__ import annotations

import re
import uuid
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from worksample.errors import UsageError
from worksample.records import Protocol

from .instances import NAME

TEMPLATE, BY = "template", "template_variants"
GRADING = "grading.toml"
"""Name of the file in each folder of `template_variants` that contains the grading table for `task.toml`."""
OFFERED = (Protocol.PROGRAM, Protocol.RUBRIC, Protocol.HOLISTIC)
"""Protocols for which a template of a package exists."""


def scaffold(root: Path, id: str, *, title: str = "", protocol: Protocol = Protocol.PROGRAM) -> Path:
    """Write a new package to the folder `root/id` and return this folder.

    The package has two instances, two scripted agents, and its own canary. A package for programs has a grader with
    test cases, a package for rubrics has criteria. Raises UsageError if the id is malformed, the protocol has no
    template, or the folder exists.
    """
    if protocol not in OFFERED:
        what = f"there is no template for {protocol.value}"
        raise UsageError(what, where="task new", next=f"take one of {', '.join(OFFERED)} and edit task.toml")
    if not re.fullmatch(NAME, id):
        raise UsageError(f"{id!r} is not a task's id", where="task new", next="use lower case letters, digits and '-'")
    target = Path(root) / id
    if target.exists():
        raise UsageError("the folder exists already", where=str(target), next="choose another id or folder")
    filled = {
        "@ID@": id,
        "@TITLE@": (title or id.replace("-", " ").capitalize()).replace("\\", "").replace('"', "'"),
        "@CANARY@": f"worksample-canary-{uuid.uuid4()}",
    }
    source = resources.files(__package__)
    own = source.joinpath(BY, protocol.value)
    filled["@GRADING@"] = own.joinpath(GRADING).read_text("utf-8").rstrip("\n")
    for folder in (source.joinpath(TEMPLATE), own):
        _copy(folder, target, filled)
    (target / GRADING).unlink()
    return target


def _copy(source: Traversable, target: Path, filled: dict[str, str]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for entry in sorted(source.iterdir(), key=lambda e: e.name):
        if entry.name == "__pycache__":
            continue
        if entry.is_dir():
            _copy(entry, target / entry.name, filled)
            continue
        text = _fill(entry.read_text("utf-8"), filled)
        # The template's Python carries another ending, so that no tool takes it for a module of ours.
        name = _fill(entry.name.removesuffix(".txt") if entry.name.endswith(".py.txt") else entry.name, filled)
        (target / name).write_text(text, encoding="utf-8")


def _fill(text: str, filled: dict[str, str]) -> str:
    for mark, value in filled.items():
        text = text.replace(mark, value)
    return text
