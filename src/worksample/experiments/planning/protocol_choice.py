"""Choice of the protocol for an experiment that names none, and errors for instances that a protocol cannot grade."""

from __future__ import annotations

from collections.abc import Sequence

from worksample.errors import PlanError
from worksample.records import (
    Instance,
    Protocol,
)

USUAL = (Protocol.PROGRAM, Protocol.CHECKPOINTS, Protocol.RUBRIC, Protocol.HOLISTIC, Protocol.PAIRWISE)
"""Order in which protocols are tried as the default."""


def default_protocol(instances: Sequence[Instance]) -> tuple[Protocol, ...]:
    """Return the first protocol that all instances have. PlanError if they have none in common.

    Without instances, which are refused elsewhere, return programs.
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
"""Maximum number of tasks that a command names."""


def ungradable_error(protocol: Protocol, lacking: Sequence[Instance], of: int) -> PlanError:
    """Build the error for instances without a grading under the protocol. It suggests runs that are possible."""
    first = lacking[0]
    many = f" ({len(lacking)} of {of} instances lack it)" if len(lacking) > 1 else ""
    have = ", ".join(sorted(first.grading)) or "none"
    return PlanError(
        f"instance {first.key} has no grading under protocol {protocol}; it has: {have}{many}",
        next=one_run_per_protocol(lacking) or "leave it out with --only",
    )


def one_run_per_protocol(instances: Sequence[Instance]) -> str:
    """Return flags for one run per protocol; "" if there is none."""
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
