"""`[calibration]` of an experiment file: the part of a judge's work that people label, and the rule for proving the
judge.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, model_validator

from worksample.records import Experiment, Frozen, Protocol

if TYPE_CHECKING:
    from worksample.metrics import CalibrationRules


class Stratum(StrEnum):
    """Properties by which work is divided into strata."""

    AGENT = "agent"
    ARM = "arm"
    CATEGORY = "category"
    RELEASE_DATE = "release_date"
    IMPORTANCE = "importance"
    KIND = "kind"


class CalibrationConfig(Frozen):
    """Settings of people's labels of a judge's work, drawn at random, with a threshold that is set beforehand."""

    protocols: tuple[Protocol, ...] = ()
    """Protocols whose judges are calibrated; by default all protocols of the plan under which a judge is asked."""
    share: float | None = Field(default=None, gt=0, le=1)
    """Share of the work (or the pairs) in each stratum that people label, drawn at random; set this or `labels`."""
    labels: int | None = Field(default=None, ge=1)
    """Number of submissions, or pairs, in each stratum that people label, drawn at random; set this or `share`."""
    strata: tuple[Stratum, ...] = (Stratum.AGENT,)
    """`agent`, `arm`, `category`, `release_date`, `importance`, `kind`: labels are drawn within these, and the judge
    must be proven in each; by default `agent`.
    """
    threshold: float = Field(default=0.8, ge=0.5, lt=1)
    """Share of people's labels that the judge must agree with: the lower end of the interval must reach it."""
    each: int = Field(default=5, ge=1)
    """Minimum numbers of passes and of fails by people that the judge must have been compared with to be proven."""
    least: int = Field(default=20, ge=2)
    """Minimum numbers of labels, and of tasks with labels, for a corrected figure."""
    route: tuple[Literal["unproven", "disagreement"], ...] = ("unproven", "disagreement")
    """Work that goes to people once all labels are in. `unproven`: work of judges that are not proven; `disagreement`:
    work on which judges, or the judge and a person, disagree. By default both; `[]`: none.
    """
    proofs: tuple[str, ...] = ()
    """Earlier experiments, by name or id, whose labels count towards proving a judge in this one, if version, kind of
    criterion and stratum are the same. They enter no figure.
    """
    seed: int = 0
    """Seed of the draw of labels."""

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
        """Return the rules in the form of `metrics.prove`."""
        from worksample.metrics import CalibrationRules

        return CalibrationRules(threshold=self.threshold, least=self.least, each=self.each)


def calibration_of(experiment: Experiment) -> CalibrationConfig | None:
    """Return the calibration as it was planned. A later change of the file has no effect."""
    kept = experiment.settings.get("calibration")
    return None if kept is None else CalibrationConfig.model_validate(kept)


def calibrated_protocols(experiment: Experiment) -> frozenset[Protocol]:
    """Return the protocols whose judges are calibrated."""
    config = calibration_of(experiment)
    return frozenset() if config is None else frozenset(config.protocols)
