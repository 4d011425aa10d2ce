"""`company`, `setup` and `services` of `[environment]`: the workplace that a task is done in."""

from __future__ import annotations

from collections.abc import Sequence

from worksample.manifests import nearest
from worksample.records import EndpointSpec, SourceFiles, WorkplaceSource

WORKPLACE = "workplace"
"""Name of the service that keeps a workplace's own, behind their endpoints and in exports."""
PORTS = {"chat": 3000, "tracker": 8091, "files": 8092, "git": 8929, "calendar": 5232}
"""Of a workplace's services, by the names under which the agent's box finds them."""


def check_workplace(network: str, company: str | None, setup: str | None, services: Sequence[str]) -> None:
    """What only the keys together can show. ValueError."""
    if (company is not None) != (network == "workplace"):
        raise ValueError('network = "workplace" and company, the folder that describes one, belong together')
    if company is None:
        if setup is not None:
            raise ValueError("setup and live are of a workplace, and there is none")
        return
    if not services:
        raise ValueError(f"services names none of the workplace; there are {', '.join(PORTS)}")
    for name in services:
        if name not in PORTS:
            raise ValueError(f"a workplace has no service {name!r}{nearest(name, PORTS)}; it has {', '.join(PORTS)}")


def endpoints_of_workplace(services: Sequence[str]) -> tuple[EndpointSpec, ...]:
    """Where the agent's programs find each service."""
    return tuple(
        EndpointSpec(name=name, port=PORTS[name], to=f"service:{WORKPLACE}:{PORTS[name]}")
        for name in dict.fromkeys(services)
        if name in PORTS
    )


def source_of(company: str | None, setup: str | None, live: str | None) -> WorkplaceSource | None:
    """What is kept of the folders."""
    if company is None:
        return None
    return WorkplaceSource(
        company=SourceFiles(name=company),
        setup=SourceFiles(name=setup) if setup else None,
        live=SourceFiles(name=live) if live else None,
    )
