"""The box of a workplace's services: its config, and the command of the program that runs them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from worksample.box import BoxConfig, BoxLimits, Mount
from worksample.records import ServiceLimits, ServiceSpec
from worksample.sandboxes.services.service_boxes import FILES, SCRATCH, STATE
from worksample.tasks.workplace_settings import PORTS, WORKPLACE

from .page_libraries import libraries_of
from .redmine import redmine_folder
from .service_programs import LIBRARY, PROGRAMS, python_folder

SEED, COMPANY, SETUP = f"{FILES}/seed", f"{FILES}/company", f"{FILES}/setup"
SUPERVISOR = ("python3", "-m", "in_box.supervisor")
LIMITS = ServiceLimits(memory=2 << 30, processes=400, disk=1 << 30)
"""Limits of the box in which all services of a workplace run together."""


def box_config(names: Sequence[str], mounts: Mapping[str, Path], label: str) -> BoxConfig:
    """Return the config of a box that contains the services' programs. `mounts` contains further read-only folders by
    their path in the box.
    """
    given = {f"{FILES}/programs/in_box": PROGRAMS, LIBRARY: python_folder(names), **mounts}
    if "tracker" in names and (redmine := redmine_folder()) is not None:
        given[f"{FILES}/redmine"] = redmine
    given |= {f"{FILES}/{one.name}": path for one in libraries_of(names) if (path := one.path()) is not None}
    return BoxConfig(
        mounts=tuple(Mount(str(source), target) for target, source in given.items()),
        output=STATE,
        scratch=SCRATCH,
        writable=("/var/lib/redmine",),
        env=(("PYTHONPATH", f"{FILES}/programs"), ("TZ", "UTC")),
        limits=BoxLimits(memory=LIMITS.memory, processes=LIMITS.processes, disk=LIMITS.disk),
        label=label,
    )


def service_spec(
    names: Sequence[str], *, accounts: Mapping[str, str], operator: str, dialects: Sequence[str] = ()
) -> ServiceSpec:
    """Return the spec of the supervisor that runs the services. `accounts` contains the passwords by person; `operator`
    is the operator's password.
    """
    more = ["--seed", SEED, *(["--dialects", ",".join(dialects)] if dialects else [])]
    return _spec(names, more, {"WORKPLACE_ACCOUNTS": json.dumps(dict(accounts)), "WORKPLACE_OPERATOR": operator})


def warm_spec(names: Sequence[str]) -> ServiceSpec:
    """Return the spec of a supervisor that loads the services' programs and then waits for the arguments of a
    company.
    """
    return _spec(names, ["--spare"], {})


def _spec(names: Sequence[str], more: Sequence[str], env: Mapping[str, str]) -> ServiceSpec:
    argv = (*SUPERVISOR, f"{STATE}/{WORKPLACE}", "--services", ",".join(names), *more)
    ports = tuple(PORTS[name] for name in names)
    return ServiceSpec(name=WORKPLACE, box=WORKPLACE, argv=argv, env=dict(env), ports=ports, wait=120.0, limits=LIMITS)
