"""`[calibration]` of an experiment file: what people label of a judge's work, and what it takes to be proven."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, model_validator

from worksample.records import Experiment, Frozen, Protocol

if TYPE_CHECKING:
    from worksample.metrics import CalibrationRules


class Stratum(StrEnum):
    """What work is told apart by."""

    AGENT = "agent"
    ARM = "arm"
    CATEGORY = "category"
    RELEASE_DATE = "release_date"
    IMPORTANCE = "importance"
    KIND = "kind"


class CalibrationConfig(Frozen):
    """People's labels of a judge's work, drawn at random, and the threshold that is set before there are any."""

    protocols: tuple[Protocol, ...] = ()
    """Whose judges are calibrated; by default of all protocols of the plan under which a judge is asked."""
    share: float | None = Field(default=None, gt=0, le=1)
    """Of the work (or the pairs) in each stratum that people label, at random; this or `labels`."""
    labels: int | None = Field(default=None, ge=1)
    """Pieces of work, or pairs, in each stratum that people label, at random; this or `share`."""
    strata: tuple[Stratum, ...] = (Stratum.AGENT,)
    """`agent`, `arm`, `category`, `release_date`, `importance`, `kind`: within these labels are drawn, and in each the
    judge has to be proven by itself; by default `agent`.
    """
    threshold: float = Field(default=0.8, ge=0.5, lt=1)
    """The share of people's labels that the judge must be shown to agree with: the lower end of the interval."""
    each: int = Field(default=5, ge=1)
    """Passes of people's, and fails, that the judge must have been seen on to be proven."""
    least: int = Field(default=20, ge=2)
    """Labels, and tasks with labels, below which no figure is corrected."""
    route: tuple[Literal["unproven", "disagreement"], ...] = ("unproven", "disagreement")
    """What goes to people once all labels are in: work where the judge is not proven, and work on which judges, or the
    judge and a person, disagree: `unproven`, `disagreement`, by default both. `[]`: nothing.
    """
    proofs: tuple[str, ...] = ()
    """Earlier experiments, by name or id, whose labels count towards proving a judge here: of the same version, on the
    same kind of criterion, in the same stratum. They enter no figure.
    """
    seed: int = 0
    """Decides whose work is labelled."""

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if (self.share is None) == (self.labels is None):
            raise ValueError("give share = 0.25 or labels = 20, one of them")
        lists = {"protocols": self.protocols, "strata": self.strata, "route": self.route, "proofs": self.proofs}
        for name, values in lists.items():
            if len(set(values)) < len(values):
                raise ValueError(f"{name} names one thing twice: {', '.join(values)}")
        return self

    @property
    def rules(self) -> CalibrationRules:
        """As `metrics.prove` takes them."""
        from worksample.metrics import CalibrationRules

        return CalibrationRules(threshold=self.threshold, least=self.least, each=self.each)


def calibration_of(experiment: Experiment) -> CalibrationConfig | None:
    """As it was planned: what is in force is what was set beforehand, whatever a file says today."""
    kept = experiment.settings.get("calibration")
    return None if kept is None else CalibrationConfig.model_validate(kept)


def calibrated_protocols(experiment: Experiment) -> frozenset[Protocol]:
    """The protocols whose judges are calibrated."""
    config = calibration_of(experiment)
    return frozenset() if config is None else frozenset(config.protocols)
