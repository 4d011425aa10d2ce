"""Effect of the model that plays the colleagues, measured on the same work done with two such models.

Simulated colleagues make work easier than real people do (TAC 3.2, and later work on simulated users). So a score
depends on the agent and on the model that played its colleagues.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from worksample import metrics as m
from worksample.records import Experiment, Protocol
from worksample.results.result_set import ResultSet
from worksample.tasks.workplace_settings import COLLEAGUE

from .comparison_parts import trials_of
from .figure_settings import MeasureConfig
from .result_rows import attempts_of
from .section import Section, SectionRow

COLUMNS = ("the other colleague", "score here", "score there", "difference")
ALL = "all agents"


@dataclass(frozen=True)
class _OtherColleague:
    """The same work, done with another model for the colleagues. `frame` contains the first attempts."""

    model: str
    names: tuple[str, ...]
    frame: pl.DataFrame


def sections(results: ResultSet, config: MeasureConfig) -> Iterator[Section]:
    """Yield a section if two experiments have an agent in common and their locks differ only in the model of the
    colleagues.
    """
    here = results.experiments[0].lock.roles.get(COLLEAGUE)
    if here is None:
        return
    protocol = results.primary
    mine = attempts_of(results.frame(protocol))
    rows: list[SectionRow] = []
    named: list[str] = []
    for other in _others(results, config, here, protocol):
        lines = list(_lines(config, mine, other))
        rows += lines
        named += [f"{', '.join(other.names)} has {other.model}"] if lines else []
    if rows:
        notes = (
            f"the colleagues here are played by {here}; {'; '.join(named)}",
            "the other experiment minus this one, over tasks with a graded trial in both; in points of the score",
            "the agents and the work are the same: only the colleagues' model and chance differ",
        )
        yield Section("colleagues", "Sensitivity to the colleague's model", "TAC 3.2", COLUMNS, tuple(rows), notes)


def _others(results: ResultSet, config: MeasureConfig, here: str, protocol: Protocol) -> Iterator[_OtherColleague]:
    """Yield, for each other model of the colleagues, all experiments that used it as one group."""
    first = results.experiments[0]
    by_model: dict[str, list[Experiment]] = {}
    for one in results.store.find(Experiment):
        model = one.lock.roles.get(COLLEAGUE)
        alike = first.lock.replaced(roles={**first.lock.roles, COLLEAGUE: model or here})
        if model not in (None, here) and one.lock.comparable == alike.comparable:
            by_model.setdefault(str(model), []).append(one)
    for model, found in sorted(by_model.items()):
        beside = ResultSet(results.store, found, config.work_rules)
        yield _OtherColleague(model, tuple(dict.fromkeys(e.name for e in found)), attempts_of(beside.frame(protocol)))


def _lines(config: MeasureConfig, mine: pl.DataFrame, other: _OtherColleague) -> Iterator[SectionRow]:
    """Yield a line for each agent that worked with both models, and a line for all of them if there are several."""
    agents = sorted(set(mine["agent"].drop_nulls()) & set(other.frame["agent"].drop_nulls()))
    both = [frame.filter(pl.col("agent").is_in(agents)) for frame in (mine, other.frame)]
    for agent in agents:
        sides = [frame.filter(pl.col("agent") == agent) for frame in both]
        yield _line(config, sides[0]["label"][0], agent, sides, other.model)
    if len(agents) > 1:
        yield _line(config, ALL, None, both, other.model)


def _line(config: MeasureConfig, label: str, agent: str | None, sides: list[pl.DataFrame], model: str) -> SectionRow:
    trials = [trials_of(rows, "score") for rows in sides]
    found = m.paired_difference(*trials, name="difference", how=config.how)
    means = [
        m.mean_score(one.score, state=one.state, task=one.task, instance=one.instance, name=name, how=config.how)
        for one, name in zip(trials, COLUMNS[1:3], strict=True)
    ]
    return SectionRow(label, agent, (model, *means, found.difference))
