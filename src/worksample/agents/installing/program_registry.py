"""Which programs there are: entry points of the group `worksample.harnesses`, so that other packages can bring more."""

from __future__ import annotations

from importlib.metadata import entry_points

from worksample.errors import PlanError

from .program import Program

GROUP = "worksample.harnesses"


def program_names() -> tuple[str, ...]:
    """Of all that are known here; nothing is imported."""
    return tuple(sorted({point.name for point in entry_points(group=GROUP)}))


def find_program(name: str) -> Program | None:
    """The program of a harness, or None where no program is called so. PlanError for an entry point that is broken."""
    for point in entry_points(group=GROUP, name=name):
        try:
            found = point.load()
        except (ImportError, AttributeError) as error:
            raise PlanError(
                f"the harness {name} cannot be loaded: {error}",
                where=point.value,
                next="see docs/harnesses.md, Adding one",
            ) from error
        if not isinstance(found, Program) or found.name != name:
            raise PlanError(f"{point.value} is not a Program called {name!r}", next="see docs/harnesses.md, Adding one")
        return found
    return None
