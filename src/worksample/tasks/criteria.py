"""Reader and writer of `criteria.toml`: one tree of criteria for rubrics and checkpoints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, ValidationError

from worksample.files.config_files import AllowedText, Faults, read_toml, validate
from worksample.records import By, CheckpointKind, Criteria, Criterion, Frozen, Importance

DEPTH = 8
"""Maximum number of levels in a tree of criteria."""


class CriterionTable(Criterion):
    """The table `[[criterion]]` of a `criteria.toml`."""

    model_config = ConfigDict(strict=True)
    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$"), AllowedText("lower case letters, digits, _ and -")]
    importance: Annotated[Importance, Field(strict=False)] | None = None
    by: Annotated[By, Field(strict=False)] = By.PROGRAM
    kind: Annotated[CheckpointKind, Field(strict=False)] | None = None
    parts: Annotated[tuple[CriterionTable, ...], Field(strict=False)] = Field(default=(), alias="part")


class CriteriaTable(Frozen):
    """The content of a `criteria.toml`."""

    criterion: tuple[CriterionTable, ...]


def read_criteria(path: Path, faults: Faults) -> Criteria:
    """Read the tree of criteria from a file. A missing file gives an empty tree. Every error is added to `faults`."""
    if not path.exists():
        return Criteria()
    document = read_toml(path, path.name, faults)
    if document.broken:
        return Criteria()
    if not document.data.get("criterion", ()):
        faults.add(path.name, "criterion", "the file has no criterion", "at least one [[criterion]]")
        return Criteria()
    table = validate(CriteriaTable, document.data, faults, file=path.name)
    if table is None:
        return Criteria()
    if any(_depth(node) > DEPTH for node in table.criterion):
        faults.add(path.name, "criterion", f"criteria nest at most {DEPTH} levels deep")
        return Criteria()
    try:
        return Criteria.model_validate({"criteria": [node.plain() for node in table.criterion]})
    except ValidationError as error:
        for one in error.errors(include_url=False):
            faults.add(path.name, "criterion", one["msg"].removeprefix("Value error, "))
        return Criteria()


def write_criteria(criteria: Criteria) -> str:
    """Return the text of a `criteria.toml` with these criteria."""
    return "\n".join(line for node in criteria.criteria for line in _table(node, "criterion"))


def _table(node: Criterion, path: str) -> list[str]:
    """Return the TOML lines of a criterion and of its parts. Empty values are left out."""
    lines = [f"[[{path}]]", f"id = {_quote(node.id)}", f"text = {_quote(node.text)}"]
    if node.points is not None:
        lines.append(f"points = {node.points!r}")
    if node.importance is not None:
        lines.append(f"importance = {_quote(node.importance)}")
    if not node.parts:
        lines.append(f"by = {_quote(node.by)}")
    if node.kind is not None:
        lines.append(f"kind = {_quote(node.kind)}")
    lines += [f"{name} = true" for name in ("gate", "implies_others") if getattr(node, name)]
    lines.append("")
    return lines + [line for part in node.parts for line in _table(part, f"{path}.part")]


def _quote(text: str) -> str:
    """Return a text as a basic TOML string. JSON and TOML have the same escapes, except for one character that JSON
    does not escape.
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _depth(node: Criterion) -> int:
    return max((1 + _depth(part) for part in node.parts), default=0)
