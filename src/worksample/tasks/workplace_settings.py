"""The keys `company`, `setup`, `live`, `services` and `dialects` of `[environment]`: the simulated workplace of a
task.
"""

from __future__ import annotations

from collections.abc import Sequence

from worksample.files.config_files import nearest
from worksample.records import EndpointSpec, SourceFiles, WorkplaceSource

COLLEAGUE = "colleague"
"""Role of the model that plays simulated colleagues."""
WORKPLACE = "workplace"
"""Name of the service that runs a whole workplace. Endpoints and exports use this name."""
PORTS = {"chat": 3000, "tracker": 8091, "files": 8092, "git": 8929, "calendar": 5232}
"""TCP ports of a workplace's services, by the host names that programs in the agent's box use."""
DIALECTS = {
    "gitlab": ("git", 8929),
    "owncloud": ("files", 80),
    "plane": ("tracker", 8091),
    "rocketchat": ("chat", 3000),
}
"""The service that offers another product's API, and the additional TCP port for this API, by product."""
BESIDES = {"gitlab": ("tracker",)}
"""Further services that a product's API needs, by product."""


def check_workplace(
    network: str, company: str | None, setup: str | None, services: Sequence[str], dialects: Sequence[str] = ()
) -> None:
    """Raise ValueError if the keys of a workplace contradict each other, or if a service or dialect is unknown."""
    if (company is not None) != (network == "workplace"):
        raise ValueError(
            'network = "workplace" needs company (the folder of a company), and company needs network = "workplace"'
        )
    if company is None:
        if setup is not None or dialects:
            raise ValueError('setup, live and dialects need a workplace, but network is not "workplace"')
        return
    if not services:
        raise ValueError(f"services must list at least one service of the workplace: {', '.join(PORTS)}")
    for name in services:
        if name not in PORTS:
            raise ValueError(f"a workplace has no service {name!r}{nearest(name, PORTS)}; it has {', '.join(PORTS)}")
    for name in dialects:
        if name not in DIALECTS:
            raise ValueError(f"there is no dialect {name!r}{nearest(name, DIALECTS)}; there are {', '.join(DIALECTS)}")
        for wanted in (DIALECTS[name][0], *BESIDES.get(name, ())):
            if wanted not in services:
                raise ValueError(f"the dialect {name!r} needs the service {wanted!r}, which `services` does not list")


def endpoints_of_workplace(services: Sequence[str], dialects: Sequence[str] = ()) -> tuple[EndpointSpec, ...]:
    """Return the endpoints at which the agent's programs reach each service and each dialect of the workplace."""
    places = [(name, PORTS[name], name) for name in dict.fromkeys(services) if name in PORTS]
    places += [(name, DIALECTS[name][1], DIALECTS[name][0]) for name in dict.fromkeys(dialects) if name in DIALECTS]
    return tuple(
        EndpointSpec(name=name, port=port, to=f"service:{WORKPLACE}:{PORTS[service]}") for name, port, service in places
    )


def source_of(
    company: str | None, setup: str | None, live: str | None, dialects: Sequence[str] = ()
) -> WorkplaceSource | None:
    """Return the workplace as a record. Return None if the task has no company."""
    if company is None:
        return None
    return WorkplaceSource(
        company=SourceFiles(name=company),
        setup=SourceFiles(name=setup) if setup else None,
        live=SourceFiles(name=live) if live else None,
        dialects=tuple(dict.fromkeys(dialects)),
    )
