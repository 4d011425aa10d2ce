"""Reader of `cases/<name>/case.toml`: submissions for testing a grader, each with the score that it must get."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from worksample.files.config_files import AllowedText, Faults, Flag, Line, nearest, read_toml, validate, value_fault
from worksample.records import Frozen

from .package_spec import CaseSpec

SCRIPT = "script.toml"
Share = Annotated[float, Field(strict=True, ge=0, le=1)]


class ScoreTable(Frozen):
    """The allowed range of a case's score, from `low` to `high`."""

    low: Share
    high: Share

    @model_validator(mode="after")
    def _require_order(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"low ({self.low:g}) is above high ({self.high:g})")
        return self


def _bounds(value: Any) -> Any:
    if isinstance(value, dict):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise value_fault()
    return {"low": value, "high": value}


class CaseTable(Frozen):
    """The content of a `case.toml`."""

    model_config = ConfigDict(strict=True)
    about: Line
    instance: str = ""
    score: Annotated[
        ScoreTable, BeforeValidator(_bounds), AllowedText("a number in 0..1, or { low = 0.2, high = 0.5 }")
    ]
    passes: dict[str, Flag] = {}
    base: Literal["nothing", "reference"] = "nothing"


def read_cases(root: Path, instances: Collection[str], criteria: Collection[str], faults: Faults) -> list[CaseSpec]:
    """Read all cases of a package, ordered by name. The folder `cases/reference/` contains the reference in the form of
    deliverables and is not a case, unless it has a `case.toml`.
    """
    folder = root / "cases"
    if not folder.is_dir():
        return []
    found = []
    for path in sorted(p for p in folder.iterdir() if not p.name.startswith(".")):
        if path.is_symlink() or not path.is_dir():
            faults.add(f"cases/{path.name}", "", "is not a folder", "cases/<name>/ with case.toml and output/")
        elif path.name != "reference" or (path / "case.toml").exists():
            case = _case(path, instances, criteria, faults)
            found += [case] if case else []
    return found


def _case(path: Path, instances: Collection[str], criteria: Collection[str], faults: Faults) -> CaseSpec | None:
    file = f"cases/{path.name}/case.toml"
    document = read_toml(path / "case.toml", file, faults)
    table = None if document.broken else validate(CaseTable, document.data, faults, file=file)
    if table is None:
        return None
    named = [i for i in instances if i]
    instance = table.instance or (named[0] if len(named) == 1 else "")
    if not instance and not faults.has(file, "instance"):
        faults.add(file, "instance", "is missing", named)
    elif instance and named and instance not in named:
        faults.add(file, "instance", f"{instance[:60]!r} is not allowed{nearest(instance, named)}", named)
    for name in table.passes:
        if criteria and name not in criteria:
            what = f"criteria.toml has no {name[:60]!r}{nearest(name, criteria)}"
            faults.add(file, f"passes.{name[:60]}", what, sorted(criteria))
    score = table.score
    return CaseSpec(
        path.name,
        table.about,
        instance,
        score.low,
        score.high,
        table.passes,
        table.base,
        path / "output",
        _script(path),
    )


def _script(folder: Path) -> Path | None:
    """Return the path of the case's `script.toml`; None if there is no such file."""
    return folder / SCRIPT if (folder / SCRIPT).is_file() else None
