"""`cases/<name>/case.toml`: submissions with the score they must get."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from .faults import Faults, nearest
from .spec import CaseSpec
from .table import Table, read_toml

BASES = ("nothing", "reference")


def read_cases(root: Path, instances: Collection[str], criteria: Collection[str], faults: Faults) -> list[CaseSpec]:
    """All cases of a package, by name. `cases/reference/` (a reference in the deliverables' form) is none."""
    folder = root / "cases"
    if not folder.is_dir():
        return []
    found = []
    for path in sorted(p for p in folder.iterdir() if not p.name.startswith(".")):
        if path.is_symlink() or not path.is_dir():
            faults.add(f"cases/{path.name}", "", "is no folder", "cases/<name>/ with case.toml and output/")
        elif path.name != "reference" or (path / "case.toml").exists():
            found.append(_case(path, instances, criteria, faults))
    return found


def _case(path: Path, instances: Collection[str], criteria: Collection[str], faults: Faults) -> CaseSpec:
    table = read_toml(path / "case.toml", f"cases/{path.name}/case.toml", faults)
    about = table.text("about")
    named = [i for i in instances if i]
    instance = table.text("instance", named[0] if len(named) == 1 else None, choices=named)
    low, high = _score(table)
    passes = table.free("passes")
    for name, wanted in passes.items():
        if not isinstance(wanted, bool):
            table.fault(f"passes.{name}", f"{wanted!r} has the wrong type", "true or false")
        elif criteria and name not in criteria:
            table.fault(f"passes.{name}", f"criteria.toml has no {name!r}{nearest(name, criteria)}", sorted(criteria))
    base = table.text("base", "nothing", choices=BASES)
    table.done()
    return CaseSpec(path.name, about, instance, low, high, passes, base, path / "output")


def _score(table: Table) -> tuple[float, float]:
    says = "a number in 0..1, or { low = 0.2, high = 0.5 }"
    value = table.data.get("score")
    if isinstance(value, dict):
        inner = table.table("score")
        low, high = inner.number("low", required=True), inner.number("high", required=True)
        inner.done()
    else:
        low = high = table.number("score", required=True)
    if low is None or high is None:
        return 0.0, 1.0
    if not low <= high <= 1:
        table.fault("score", f"{value} is not allowed", says)
        return 0.0, 1.0
    return low, high
