"""Choice of a protocol for an experiment that names none, and the error for instances that a protocol cannot grade."""

from __future__ import annotations

from collections.abc import Sequence

from worksample.errors import PlanError
from worksample.records import (
    Instance,
    Protocol,
)

USUAL = (Protocol.PROGRAM, Protocol.CHECKPOINTS, Protocol.RUBRIC, Protocol.HOLISTIC, Protocol.PAIRWISE)
"""Protocols in the order in which they are tried as the default of an experiment."""


def default_protocol(instances: Sequence[Instance]) -> tuple[Protocol, ...]:
    """Return the first protocol under which all instances can be graded. Raises PlanError if no protocol fits all
    instances.

    Without instances, return the protocol `program`; another check refuses experiments without instances.
    """
    for protocol in USUAL:
        if all(protocol in i.grading for i in instances):
            return (protocol,)
    different = {tuple(sorted(i.grading)): i.key for i in reversed(instances)}
    have = "; ".join(f"{key} has {', '.join(protocols) or 'none'}" for protocols, key in different.items())
    raise PlanError(
        f"the instances have no protocol in common: {have}",
        next=one_run_per_protocol(instances) or "leave some out with --only",
    )


NAMED = 3
"""Maximum number of tasks that a suggested command names."""


def ungradable_error(protocol: Protocol, lacking: Sequence[Instance], of: int) -> PlanError:
    """Build the error for instances that cannot be graded under the protocol. The error suggests commands that can
    run.
    """
    first = lacking[0]
    many = f" ({len(lacking)} of {of} instances lack it)" if len(lacking) > 1 else ""
    have = ", ".join(sorted(first.grading)) or "none"
    return PlanError(
        f"instance {first.key} has no grading under protocol {protocol}; it has: {have}{many}",
        next=one_run_per_protocol(lacking) or "leave it out with --only",
    )


def one_run_per_protocol(instances: Sequence[Instance]) -> str:
    """Return command-line flags for one run per protocol, if the instances need different protocols; otherwise ""."""
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
