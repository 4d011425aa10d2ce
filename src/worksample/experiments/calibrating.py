"""`[calibration]` of a plan: whose judges it is about, and that it was set beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from worksample.errors import PlanError
from worksample.grading.evaluator_kinds import kinds_of
from worksample.records import EvaluatorKind, Experiment, Instance, Protocol
from worksample.results.calibration.config import calibration_of
from worksample.results.calibration.prior_labels import earlier
from worksample.store import Store

from .config import ExperimentConfig

WHERE = "[calibration]"


def calibrating(
    config: ExperimentConfig, instances: Iterable[Instance], protocols: Sequence[Protocol]
) -> ExperimentConfig:
    """`config` with the protocols whose judges are calibrated, by name. PlanError where no judge is asked anything."""
    if config.calibration is None:
        return config
    known = list(instances)
    judged = tuple(p for p in protocols if _judged(config, known, p))
    asked = config.calibration.protocols
    strange = [p for p in asked if p not in judged]
    if strange:
        raise PlanError(
            f"no judge is asked under {strange[0]}", where=f"{WHERE} protocols",
            next=f"leave it out, or {_how(strange[0])}",
        )  # fmt: skip
    if not judged:
        raise PlanError(
            "there is nothing to calibrate: no judge is asked anything here", where=WHERE,
            next=f"leave it out, or {_how(protocols[0])}",
        )  # fmt: skip
    return config.replaced(calibration=config.calibration.replaced(protocols=asked or judged))


def _judged(config: ExperimentConfig, instances: Sequence[Instance], protocol: Protocol) -> bool:
    if protocol in (Protocol.HOLISTIC, Protocol.PAIRWISE):
        return any(protocol in judge.rounds for judge in config.judges.values())
    return any(EvaluatorKind.JUDGE in kinds_of(i.grading[protocol]) for i in instances if protocol in i.grading)


def _how(protocol: Protocol) -> str:
    if protocol in (Protocol.HOLISTIC, Protocol.PAIRWISE):
        return "configure a judge for it: [judges.judge] with model and rounds"
    return 'let a judge answer criteria: by = "judge" in criteria.toml'


def need_same(kept: Experiment, now: Experiment) -> None:
    """PlanError where labels would be drawn, or judges be proven, otherwise than was planned."""
    before, asked = calibration_of(kept), calibration_of(now)
    if before != asked:
        raise PlanError(
            "was set when this experiment was planned, and is another now", where=WHERE,
            next=f"worksample resume {kept.id}, or another --name",
        )  # fmt: skip


def need_earlier(store: Store, experiment: Experiment) -> None:
    """PlanError where labels of an experiment are to be taken over that there is not."""
    config = calibration_of(experiment)
    if config is not None:
        earlier(store, experiment, config)
