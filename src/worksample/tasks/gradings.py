"""`[grading.PROTOCOL]`: how submissions are judged under each protocol."""

from __future__ import annotations

from pathlib import Path

from worksample.records import Protocol

from .spec import GradingSpec
from .table import Table
from .tree import path_problem

PROGRAMS = (Protocol.PROGRAM, Protocol.CHECKPOINTS)
RESERVED = ("timeout", "memory")
"""Names in a grading's settings that the platform fills from the keys beside them."""


def read_gradings(root: Path, table: Table) -> dict[Protocol, GradingSpec]:
    """A spec per protocol; at least one is wanted."""
    known = [p.value for p in Protocol]
    found = {}
    for name in known:
        if table.has(name):
            inner = table.table(name)
            if not inner.broken:
                found[Protocol(name)] = _grading(root, inner, Protocol(name))
    table.done()
    if not found and not table.broken:
        table.faults.add(table.file, table.at, "no protocol is given", [f"[grading.{n}]" for n in known])
    return found


def _grading(root: Path, table: Table, protocol: Protocol) -> GradingSpec:
    settings = table.free("settings")
    for name in RESERVED:
        if name in settings:
            table.fault(f"settings.{name}", f"is a reserved name; give {name} under [{table.at}] itself")
    entry = ""
    if protocol in PROGRAMS:
        entry = table.text("entry", "grade.py", pattern=r".+\.py", says="a Python file in the package")
        problem = path_problem(root, entry, folder=False)
        if problem:
            table.fault("entry", f"{entry!r} {problem}")
        timeout, memory = table.number("timeout", above=True), table.size("memory")
        settings |= {"timeout": timeout} if timeout is not None else {}
        settings |= {"memory": memory} if memory is not None else {}
    shown = table.flag("shown", False)
    table.done()
    return GradingSpec(protocol, entry, shown, settings)
