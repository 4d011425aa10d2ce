"""Checks of the settings `[calibration]` of a plan: they must concern judges, and must not change after planning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from worksample.errors import PlanError
from worksample.experiments.config import ExperimentConfig
from worksample.grading.evaluator_kinds import evaluator_kinds
from worksample.records import EvaluatorKind, Experiment, Instance, Protocol
from worksample.results.calibration.config import calibration_of
from worksample.results.calibration.prior_labels import earlier_experiments
from worksample.store import Store

WHERE = "[calibration]"


def with_calibrated_protocols(
    config: ExperimentConfig, instances: Iterable[Instance], protocols: Sequence[Protocol]
) -> ExperimentConfig:
    """Return the configuration with the protocols whose judges are calibrated. Raises PlanError if no judge evaluates
    any instance.
    """
    if config.calibration is None:
        return config
    known = list(instances)
    judged = tuple(p for p in protocols if _asks_judges(config, known, p))
    asked = config.calibration.protocols
    strange = [p for p in asked if p not in judged]
    if strange:
        raise PlanError(
            f"protocol {strange[0]} does not use a judge", where=f"{WHERE} protocols",
            next=f"leave it out, or {_how(strange[0])}",
        )  # fmt: skip
    if not judged:
        raise PlanError(
            "nothing to calibrate: this experiment asks no judge", where=WHERE,
            next=f"leave it out, or {_how(protocols[0])}",
        )  # fmt: skip
    return config.replaced(calibration=config.calibration.replaced(protocols=asked or judged))


def _asks_judges(config: ExperimentConfig, instances: Sequence[Instance], protocol: Protocol) -> bool:
    if protocol in (Protocol.HOLISTIC, Protocol.PAIRWISE):
        return any(protocol in judge.rounds for judge in config.judges.values())
    return any(EvaluatorKind.JUDGE in evaluator_kinds(i.grading[protocol]) for i in instances if protocol in i.grading)


def _how(protocol: Protocol) -> str:
    if protocol in (Protocol.HOLISTIC, Protocol.PAIRWISE):
        return "configure a judge for it: [judges.judge] with model and rounds"
    return 'let a judge answer criteria: by = "judge" in criteria.toml'


def require_same_calibration(kept: Experiment, now: Experiment) -> None:
    """Check that the settings `[calibration]` of a plan have not changed since the experiment was planned. Raises
    PlanError if they would draw other labels or test judges in another way.
    """
    before, asked = calibration_of(kept), calibration_of(now)
    if before != asked:
        raise PlanError(
            "these settings differ from those with which the experiment was planned", where=WHERE,
            next=f"worksample resume {kept.id}, or another --name",
        )  # fmt: skip


def require_earlier_labels(store: Store, experiment: Experiment) -> None:
    """Check that the experiment whose labels are reused exists. Raises PlanError if the store lacks it."""
    config = calibration_of(experiment)
    if config is not None:
        earlier_experiments(store, experiment, config)
