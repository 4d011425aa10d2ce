"""Comparison of two agents on the same work, or of one agent in two experiments: paired difference and changes per
instance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from worksample import metrics as m
from worksample.errors import UsageError
from worksample.experiments.experiment_lookup import find_experiment
from worksample.extras import need
from worksample.metrics import Estimate
from worksample.records import Experiment, GradePayload, Origin, PartPayload, Protocol, Submission
from worksample.reports.chosen_experiments import is_private, require_same_lock
from worksample.results.judged_rounds import read_grades
from worksample.results.result_set import ResultSet
from worksample.store import Store

from .comparison_parts import Part, parts_of, trials_of
from .figure_settings import MeasureConfig
from .result_rows import Group, agent_groups, attempts_of

MOST_WORDS = 300
NEXT = "worksample list, then worksample compare AGENT AGENT --experiment NAME"


@dataclass(frozen=True, slots=True)
class Change:
    """An instance with the mean scores of both agents, and the reasons for lost points.

    `change` is gained or lost if the agents differ in full credit, otherwise better, worse or same. It is "first only"
    or "second only" if the other agent has no graded trial; that agent's score is then None.
    """

    instance: str
    first: float | None
    second: float | None
    change: str
    first_why: str
    second_why: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference `second` minus `first` of two agents, paired by instance, in scores and in full passes.

    `sign_test` is the exact p over tasks on which the agents differ. `changes` lists all instances, largest differences
    first; it is empty for a private suite. `experiments` contains the ids of the experiments of the two agents.
    """

    first: str
    second: str
    experiments: tuple[str, str]
    protocol: Protocol
    score: Estimate
    passed: Estimate
    sign_test: Estimate
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    not_worse: Estimate | None = None
    """Confidence that the second agent's pass rate is lower by less than the margin. None if no margin was given."""
    parts: tuple[Part, ...] = ()
    """The comparison by part of the work. Empty if the config names no breakdown."""

    def plain(self) -> dict[str, Any]:
        """Return the comparison as JSON types."""
        return {
            "first": self.first,
            "second": self.second,
            "experiments": list(self.experiments),
            "protocol": self.protocol.value,
            "score": self.score.as_dict(),
            "passed": self.passed.as_dict(),
            "sign_test": self.sign_test.as_dict(),
            "not_worse": None if self.not_worse is None else self.not_worse.as_dict(),
            "changes": [
                {
                    "instance": c.instance,
                    "first": c.first,
                    "second": c.second,
                    "change": c.change,
                    "first_why": c.first_why,
                    "second_why": c.second_why,
                }
                for c in self.changes
            ],
            "notes": list(self.notes),
            "parts": [part.plain() for part in self.parts],
        }


def compare(
    store: Store,
    a: str,
    b: str,
    config: MeasureConfig | None = None,
    *,
    experiment: str = "",
    margin: float | None = None,
) -> Comparison:
    """Compare `a` with `b`. Each is the name or id of an agent within `experiment` (by default the latest), of an
    experiment with a single agent, or `EXPERIMENT:AGENT`.

    `config.by` breaks the difference down by part of the work. `margin` adds a test of non-inferiority: whether the
    pass rate of `b` is lower by less than the margin (0.05 is five points). Raises PlanError if the experiments' locks
    are different; UsageError if a name matches no agent or several agents.
    """
    need("report")
    config = config or MeasureConfig()
    sides = [_side(store, name, experiment) for name in (a, b)]
    require_same_lock([found for found, _ in sides])
    (one, protocol, results), (two, _, beside) = (_group(store, found, who, config) for found, who in sides)
    if sides[0][0].id == sides[1][0].id and one.rows["who"][0] == two.rows["who"][0]:
        raise UsageError(f"{a!r} and {b!r} are the same agent", next=NEXT)
    tables = [trials_of(group.rows, "score") for group in (one, two)]
    full = [trials_of(group.rows, "passed") for group in (one, two)]
    found = m.paired_difference(*tables, name="score", how=config.how)
    passes = m.paired_difference(*full, name="full pass", how=config.how)
    homes = (sides[0][0], sides[1][0])
    names = [_label_of(group, home, homes) for group, home in zip((one, two), homes, strict=True)]
    notes = [f"{n}: {_count(g.rows)}" for n, g in zip(names, (one, two), strict=True)]
    hidden = is_private(store, homes)
    changes = () if hidden else _changes(store, _by_passing(found.instances, passes.instances), one.rows, two.rows)
    parts: tuple[Part, ...] = ()
    if config.by not in ("", "agent"):
        rows = [of.with_group(group.rows, config.by) for of, group in ((results, one), (beside, two))]
        parts = parts_of(rows[0], rows[1], config.how)
        notes += ["groups overlap: do not average them"] if config.by == "platform" else []
    if hidden:
        notes.append("the suite is private: changes by instance are not shown")
    return Comparison(
        names[0], names[1], (homes[0].id, homes[1].id), protocol, found.difference, passes.difference, found.sign_test,
        changes, tuple(notes), None if margin is None else passes.not_worse(margin), parts,
    )  # fmt: skip


def _label_of(group: Group, home: Experiment, homes: tuple[Experiment, Experiment]) -> str:
    one, two = homes
    if one.id == two.id:
        return group.label
    return f"{home.id if one.name == two.name else home.name}: {group.label}"


def _count(rows: pl.DataFrame) -> str:
    states = dict(rows["state"].value_counts(sort=True).iter_rows())
    return ", ".join(f"{count} {state}" for state, count in states.items()) + f" of {rows.height} planned"


def _side(store: Store, name: str, experiment: str) -> tuple[Experiment, str]:
    """Return the experiment and the agent to which `name` refers. The agent is a name, an id, or "" for the only agent
    of the experiment.
    """
    head, mark, tail = name.partition(":")
    if mark:
        return find_experiment(store, head), tail
    home = find_experiment(store, experiment)
    if any(name in (id, id.partition("@")[0]) for id in home.agents) or name in _handed_in(store, home):
        return home, name
    try:
        return find_experiment(store, name), ""
    except UsageError as missing:
        agents = ", ".join([*(id.partition("@")[0] for id in home.agents), *_handed_in(store, home)]) or "none yet"
        raise UsageError(
            f"{name!r} is not an agent of {home.name} ({agents}), nor an experiment", next=NEXT
        ) from missing


def _handed_in(store: Store, home: Experiment) -> list[str]:
    """Return the entrants whose handed-in work is judged in the experiment's rounds, or belongs to one of its
    instances.
    """
    made = store.find(Submission, origin=[Origin.PERSON, Origin.EXTERNAL])
    mine = [s for s in made if s.experiment == home.id or (s.experiment is None and s.instance in home.lock.instances)]
    return sorted({s.entrant for s in mine})


def _group(store: Store, experiment: Experiment, who: str, config: MeasureConfig) -> tuple[Group, Protocol, ResultSet]:
    results = ResultSet(store, [experiment], config.work_rules)
    frame = results.judged_frame(results.primary)
    if frame is None:
        raise UsageError(f"no work of {experiment.name} is graded yet", next=f"worksample resume {experiment.name}")
    found = list(agent_groups(attempts_of(frame)))
    fitting = [g for g in found if who in ("", g.agent, g.label, g.rows["agent_name"][0], g.rows["who"][0])]
    if len(fitting) != 1:
        names = ", ".join(g.label for g in fitting or found)
        what = f"{who!r} fits several" if fitting else f"{who!r} is not one"
        said = f"{experiment.name} has several agents: {names}" if not who else f"{what} of {names}"
        raise UsageError(said, next=f"worksample compare {experiment.name}:AGENT ...")
    return fitting[0], results.primary, results


def _changes(store: Store, table: pl.DataFrame, one: pl.DataFrame, two: pl.DataFrame) -> tuple[Change, ...]:
    """Return the changes by instance. Instances that only one of the two agents has come last."""
    whys = [_whys(store, rows) for rows in (one, two)]
    means = [_means(rows) for rows in (one, two)]
    out = []
    for task, instance, first, second, _, change in table.iter_rows():
        key = f"{task}/{instance}"
        out.append(Change(key, first, second, change, whys[0].get(key, ""), whys[1].get(key, "")))
    out.sort(key=lambda c: (-abs((c.second or 0) - (c.first or 0)), c.instance))
    both = {c.instance for c in out}
    for place, said in ((0, "first only"), (1, "second only")):
        for key in sorted(means[place].keys() - both):
            score = means[place][key]
            first, second = (score, None) if place == 0 else (None, score)
            out.append(Change(key, first, second, said, whys[0].get(key, ""), whys[1].get(key, "")))
    return tuple(out)


def _by_passing(scores: pl.DataFrame, passes: pl.DataFrame) -> pl.DataFrame:
    """Return the instances with the column `change`: gained or lost if the agents differ in passing, otherwise better
    or worse if they differ in score.
    """
    said = passes.select("task", "instance", passing="change")
    frame = scores.join(said, on=["task", "instance"], how="left", maintain_order="left")
    by_score = pl.col("change").replace({"gained": "better", "lost": "worse"})
    change = pl.when(pl.col("passing").is_in(["gained", "lost"])).then("passing").otherwise(by_score)
    return frame.with_columns(change=change).drop("passing")


def _means(rows: pl.DataFrame) -> dict[str, float]:
    graded = rows.filter(pl.col("state") == "valid").group_by("key").agg(pl.col("score").mean())
    return dict(graded.iter_rows())


def _whys(store: Store, rows: pl.DataFrame) -> dict[str, str]:
    """Return, for each instance, the reasons why trials did not pass: those of the verdict, or else the cause of the
    trial.
    """
    told: dict[str, list[str]] = {}
    rows = rows.filter(~((pl.col("state") == "valid") & pl.col("passed").fill_null(False)))
    grades = dict(read_grades(store, rows["evaluation"].drop_nulls().unique().to_list()))
    columns = ("key", "state", "reason", "evaluation", "cause")
    for key, state, reason, evaluation, cause in rows.select(columns).iter_rows():
        said = _why(grades[evaluation]) if evaluation in grades and state == "valid" else (reason or "")[:MOST_WORDS]
        words = said or cause or ("" if state == "valid" else state)
        if words and words not in told.setdefault(key, []):
            told[key].append(words)
    return {key: " | ".join(words) for key, words in told.items()}


def _why(grade: GradePayload, length: int = 300) -> str:
    """Return the reasons in a grade: those of the parts without full points, or else those of the grade as a whole."""
    missed = [p for p in grade.leaves if not p.passed]
    said = "; ".join(f"{p.name}: {p.reason or _points(p)}" for p in missed) or grade.reason
    return said if len(said) <= length else f"{said[: length - 1]}…"


def _points(part: PartPayload) -> str:
    if part.fraction is None:
        return str(part.skip).replace("_", " ") if part.skip else "skipped"
    return f"{part.fraction * part.points:g} of {part.points:g}"
