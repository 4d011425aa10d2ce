"""`[environment]` and `[deliverables]`: where the work is done and what must come of it."""

from __future__ import annotations

import posixpath

from worksample.records import Deliverable, Environment, Limits, Paths

from .table import Table

INTERFACES = ("terminal",)
NETWORKS = ("none",)
_COMMAND = r"[A-Za-z0-9][A-Za-z0-9._+-]*"
OURS = ("/task/grader", "/task/probes", "/task/trajectory", "/task/exports", "/task/scratch", "/task/result")
"""Places in a box that no task can take for itself."""


def read_environment(table: Table) -> Environment:
    """The table as a record. Interfaces and networks that no sandbox offers are faults; an instance that names services
    which nobody can give is planned as not attemptable.
    """
    interfaces = table.texts("interfaces", choices=INTERFACES) if table.has("interfaces") else INTERFACES
    found = Environment(
        interfaces=interfaces,
        network=table.text("network", "none", choices=NETWORKS),
        services=table.texts("services", pattern=r"[a-z0-9][a-z0-9_-]*"),
        software=table.texts("software", pattern=_COMMAND),
        requires=table.texts("requires", pattern=r"[a-z0-9][a-z0-9_-]*"),
        limits=_limits(table.table("limits")),
        paths=_paths(table.table("paths")),
    )
    table.done()
    return found


def _limits(table: Table) -> Limits:
    plain = Limits()
    tokens = table.number("tokens", above=True, whole=True)
    turns = table.number("turns", above=True, whole=True)
    processes = table.number("processes", plain.processes, above=True, whole=True)
    found = Limits(
        time=table.number("time", above=True),
        cost=table.number("cost", above=True),
        tokens=None if tokens is None else int(tokens),
        turns=None if turns is None else int(turns),
        memory=table.size("memory", plain.memory) or plain.memory,
        processes=int(processes or plain.processes),
        disk=table.size("disk", plain.disk) or plain.disk,
    )
    table.done()
    return found


def _paths(table: Table) -> Paths:
    plain = Paths()
    says = "a plain absolute path such as '/task/output'"
    found = {}
    for name, default in plain:
        path = table.text(name, default)
        if not path.startswith("/") or posixpath.normpath(path) != path or path == "/" or "\0" in path:
            table.fault(name, f"{path!r} is not allowed", says)
            path = default
        elif any(path == o or path.startswith(o + "/") for o in OURS):
            table.fault(name, f"{path!r} is a place of the platform", says)
            path = default
        found[name] = path
    table.done()
    if len(set(found.values())) < len(found):
        table.faults.add(table.file, table.at, "input, software, output and reference need a path each")
        return plain
    return Paths(**found)


def read_deliverables(table: Table) -> tuple[Deliverable, ...]:
    """Name -> what it is. A name ends in `/` for a folder and may hold `*` for several files."""
    found = []
    for name in table.data:
        inner = table.table(name)
        if inner.broken:
            continue
        steps = name.removesuffix("/").split("/")
        if name.startswith("/") or any(s in ("", ".", "..") for s in steps) or any(not c.isprintable() for c in name):
            table.fault(f'"{name}"', "is no name inside the output folder", "a relative path without '..'")
            continue
        found.append(
            Deliverable(
                name=name,
                format=inner.text("format", pattern=r"[A-Za-z0-9][A-Za-z0-9.+-]*", says="a short word such as 'csv'"),
                required=inner.flag("required", True),
                about=inner.text("about", ""),
            )
        )
        inner.done()
    return tuple(found)
