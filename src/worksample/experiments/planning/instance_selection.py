"""Selection of an experiment's instances: from a suite and task folders, filtered by patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from worksample.errors import PlanError
from worksample.experiments.config import ExperimentConfig
from worksample.files import Sink
from worksample.records import Instance, Suite, Task
from worksample.tasks import find_suite, ingest, ingest_suite, read_package, read_suite


@dataclass(frozen=True)
class Selection:
    """Selected instances and their suite and tasks. The content of their files is in the sink that was passed to
    `select`.
    """

    tasks: tuple[Task, ...]
    instances: tuple[Instance, ...]
    others: tuple[Instance, ...]
    """Instances that were read but not selected."""
    suite: Suite | None
    roles: dict[str, str]


def select(config: ExperimentConfig, sink: Sink) -> Selection:
    """Read the suite and the tasks that `config` names, and select the instances that its patterns match.

    Raises ManifestError if a package or the suite is invalid. Raises PlanError if a pattern matches nothing.
    """
    tasks: list[Task] = []
    instances: list[Instance] = []
    suite: Suite | None = None
    if config.suite:
        all_of_it = ingest_suite(read_suite(find_suite(config.suite)), sink)
        suite = all_of_it.suite
        tasks += all_of_it.tasks
        instances += all_of_it.instances
    for folder in config.tasks:
        taken = ingest(read_package(Path(folder)), sink)
        tasks.append(taken.task)
        instances += taken.instances
    kept = filter_instances(instances, config.only)
    others = tuple(i for i in instances if i not in kept)
    return Selection(tuple(tasks), kept, others, suite, dict(suite.roles) if suite else {})


def filter_instances(instances: Sequence[Instance], only: Sequence[str]) -> tuple[Instance, ...]:
    """Return the instances whose `task` or `task/name` matches one of the patterns. Without patterns, return all
    instances.
    """
    if not only:
        return tuple(instances)
    for pattern in only:
        if not any(_matches(i, pattern) for i in instances):
            names = ", ".join(sorted({i.task for i in instances}))
            raise PlanError(
                f"--only {pattern!r} matches no instance; the tasks are: {names}", next="worksample suite show NAME"
            )
    return tuple(i for i in instances if any(_matches(i, pattern) for pattern in only))


def _matches(instance: Instance, pattern: str) -> bool:
    return fnmatchcase(instance.key if "/" in pattern else instance.task, pattern)
