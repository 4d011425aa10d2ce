"""Demo: the starter suite with the scripted agents that ship with it."""

from __future__ import annotations

from worksample.tasks import find_suite

from .config import AgentConfig, ExperimentConfig, LimitsConfig

SUITE = "starter"
TIME = "5m"
"""Time limit of a trial. Scripts need seconds, but a plan states the longest possible time."""


def demo_config(store: str, *, parallel: int, sandbox: str, only: tuple[str, ...] = ()) -> ExperimentConfig:
    """Return the demo's configuration. Every folder in the suite's `scripts/` is an agent of that name."""
    folder = find_suite(SUITE).parent / "scripts"
    agents = tuple(
        AgentConfig(name=path.name, harness="scripted", script=str(path))
        for path in sorted(folder.iterdir())
        if path.is_dir()
    )
    return ExperimentConfig(
        name="demo",
        store=store,
        suite=SUITE,
        only=only,
        agents=agents,
        limits=LimitsConfig.model_validate({"time": TIME}),
        parallel=parallel,
        sandbox=sandbox,
        author="demo",
    )
