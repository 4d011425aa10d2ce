"""What to type where a protocol cannot judge all the work: jobs from a list often have none in common."""

from __future__ import annotations

from collections.abc import Sequence

from worksample.errors import PlanError
from worksample.records import Instance, Protocol

NAMED = 3
"""Tasks that a command names."""


def ungradable(protocol: Protocol, lacking: Sequence[Instance], of: int) -> PlanError:
    """Of `of` instances these have no grading under the protocol: the error, with the runs that could be made."""
    first = lacking[0]
    many = f" ({len(lacking)} of {of} instances lack it)" if len(lacking) > 1 else ""
    have = ", ".join(sorted(first.grading)) or "none"
    return PlanError(
        f"instance {first.key} has no grading under protocol {protocol}; it has: {have}{many}",
        next=apart(lacking) or "leave it out with --only",
    )


def apart(instances: Sequence[Instance]) -> str:
    """One run for each protocol, as flags; "" where there is none."""
    tasks: dict[Protocol, dict[str, None]] = {}
    for instance in instances:
        for protocol in sorted(instance.grading)[:1]:
            tasks.setdefault(protocol, {})[instance.key.partition("/")[0]] = None
    runs = [
        f"--protocol {protocol} {' '.join(f'--only {name}' for name in list(names)[:NAMED])}"
        + (" ..." if len(names) > NAMED else "")
        for protocol, names in tasks.items()
    ]
    return f"one run for each protocol: {'; '.join(runs)}" if runs else ""
