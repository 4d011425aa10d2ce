"""Registry of programs. Programs are entry points of the group `worksample.harnesses`, so that other packages can add
programs.
"""

from __future__ import annotations

from importlib.metadata import entry_points

from worksample.errors import PlanError

from .agent_program import Program

GROUP = "worksample.harnesses"


def program_names() -> tuple[str, ...]:
    """Return the names of all registered programs. The modules of the programs are not imported."""
    return tuple(sorted({point.name for point in entry_points(group=GROUP)}))


def find_program(name: str) -> Program | None:
    """Return the program of a harness; None if no program has this name. Raises PlanError if the entry point cannot be
    loaded.
    """
    for point in entry_points(group=GROUP, name=name):
        try:
            found = point.load()
        except (ImportError, AttributeError) as error:
            raise PlanError(
                f"the harness {name} cannot be loaded: {error}",
                where=point.value,
                next="see docs/how-to/choose-an-agent.md, Adding one",
            ) from error
        if not isinstance(found, Program) or found.name != name:
            raise PlanError(
                f"{point.value} is not a Program called {name!r}",
                next="see docs/how-to/choose-an-agent.md, Adding one",
            )
        return found
    return None
