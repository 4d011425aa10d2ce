"""Registry of programs: entry points of the group `worksample.harnesses`, so that other packages can add some."""

from __future__ import annotations

from importlib.metadata import entry_points

from worksample.errors import PlanError

from .agent_program import Program

GROUP = "worksample.harnesses"


def program_names() -> tuple[str, ...]:
    """Return the names of all known programs, without importing them."""
    return tuple(sorted({point.name for point in entry_points(group=GROUP)}))


def find_program(name: str) -> Program | None:
    """Return the program of a harness, or None if there is none. PlanError for a broken entry point."""
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
