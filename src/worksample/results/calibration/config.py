"""The table `[calibration]` of an experiment file: which part of a judge's work people label, and when the judge counts
as proven.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, model_validator

from worksample.records import Experiment, Frozen, Protocol

if TYPE_CHECKING:
    from worksample.metrics import CalibrationRules


class Stratum(StrEnum):
    """Properties by which work is divided into groups (strata) before labels are drawn."""

    AGENT = "agent"
    ARM = "arm"
    CATEGORY = "category"
    RELEASE_DATE = "release_date"
    IMPORTANCE = "importance"
    KIND = "kind"


class CalibrationConfig(Frozen):
    """Settings of calibration: people label a random sample of a judge's work, and the judge must reach a threshold
    that was set before.
    """

    protocols: tuple[Protocol, ...] = ()
    """Protocols whose judges are calibrated; by default all protocols of the plan that use a judge."""
    share: float | None = Field(default=None, gt=0, le=1)
    """Share of the submissions (or pairs) in each stratum that people label, drawn at random; set either `share` or
    `labels`.
    """
    labels: int | None = Field(default=None, ge=1)
    """Number of submissions (or pairs) in each stratum that people label, drawn at random; set either `labels` or
    `share`.
    """
    strata: tuple[Stratum, ...] = (Stratum.AGENT,)
    """Properties that divide the work into strata: `agent`, `arm`, `category`, `release_date`, `importance`, `kind`.
    Labels are drawn in each stratum, and the judge must be proven in each stratum. By default `agent`.
    """
    threshold: float = Field(default=0.8, ge=0.5, lt=1)
    """Share of people's labels with which the judge must agree. The lower end of the confidence interval must reach
    this share.
    """
    each: int = Field(default=5, ge=1)
    """Minimum number of passes by people, and of fails by people, with which the judge must be compared before it can
    be proven.
    """
    least: int = Field(default=20, ge=2)
    """Minimum number of labels, and of tasks with labels, for a figure that is corrected with labels."""
    route: tuple[Literal["unproven", "disagreement"], ...] = ("unproven", "disagreement")
    """Work that people decide after all labels are in. `unproven`: work of judges that are not proven. `disagreement`:
    work on which judges disagree with each other or with a person. By default both; `[]` for none.
    """
    proofs: tuple[str, ...] = ()
    """Earlier experiments, by name or id, whose labels also help to prove a judge. They count only if the judge's
    version, the kind of criterion and the stratum are equal. They are not used in any figure.
    """
    seed: int = 0
    """Seed of the random draw of labels."""

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if (self.share is None) == (self.labels is None):
            raise ValueError("give either share = 0.25 or labels = 20")
        lists = {"protocols": self.protocols, "strata": self.strata, "route": self.route, "proofs": self.proofs}
        for name, values in lists.items():
            if len(set(values)) < len(values):
                raise ValueError(f"{name} lists a value twice: {', '.join(values)}")
        return self

    @property
    def rules(self) -> CalibrationRules:
        """Return the settings in the form that `metrics.prove` needs."""
        from worksample.metrics import CalibrationRules

        return CalibrationRules(threshold=self.threshold, least=self.least, each=self.each)


def calibration_of(experiment: Experiment) -> CalibrationConfig | None:
    """Return the calibration settings with which the experiment was planned. Later changes of the experiment file have
    no effect.
    """
    kept = experiment.settings.get("calibration")
    return None if kept is None else CalibrationConfig.model_validate(kept)


def calibrated_protocols(experiment: Experiment) -> frozenset[Protocol]:
    """Return the protocols of the experiment whose judges are calibrated."""
    config = calibration_of(experiment)
    return frozenset() if config is None else frozenset(config.protocols)
