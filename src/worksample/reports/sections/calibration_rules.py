"""What it takes for a judge to be proven, in a report."""

from __future__ import annotations

from worksample import metrics as m
from worksample.errors import UsageError
from worksample.results.calibration.config import calibration_of
from worksample.results.result_set import ResultSet

from .config import MeasureConfig


def rules_of(results: ResultSet, config: MeasureConfig) -> m.CalibrationRules:
    """What was asked for, else what was set when the experiments were planned. UsageError where those differ."""
    if config.calibration is not None:
        return config.calibration
    found = {planned.rules for e in results.experiments if (planned := calibration_of(e))}
    if len(found) > 1:
        raise UsageError(
            "the experiments set different thresholds for their judges", next="worksample report EXPERIMENT"
        )
    return found.pop() if found else m.CalibrationRules()
