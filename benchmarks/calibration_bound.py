"""How often an interval has to hold the truth for a judge that never errs, if it is to hold it for judges whose errors
20 labels do not show.

    python -m benchmarks.calibration_bound

Judges that only miss passes (or only pass fails), on a share e of the jobs, show no error on n labels with the chance
q = (1 - e)**n. Then the data are those of a judge that never errs, and the truth lies e beside the judge's rate. An
interval that misses in at most 7 % of all draws misses in at most 0.07 / q of those. Take one whose ends are, where no
error was seen, functions of the judge's rate that rise with it, reaching as far on neighbouring rates: its ends lie at
least max over e of (e - s * quantile(0.07 / q)) from that rate, which has the standard error s. So far a right judge's
rate has to stray for a miss. Normal approximation; rates within 0..1 bound e.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from benchmarks.calibration_coverage import World, worlds

from worksample.metrics.calibration.sample import Kind

MISSES = 0.07
STEPS = 4000
NORMAL = NormalDist()


def reach(labels: int, error: float, most: float) -> float:
    """How far an end has to lie from the judge's rate at least. `most`: the largest share of such errors."""
    found = 0.0
    for step in range(1, STEPS):
        share = most * step / STEPS
        unseen = (1 - share) ** labels
        if unseen <= MISSES:
            break
        found = max(found, share - error * NORMAL.inv_cdf(MISSES / unseen))
    return found


def least(world: World) -> float:
    """The share of draws in which such an interval holds the truth at least."""
    error = math.sqrt(world.rate * (1 - world.rate) / world.jobs)
    ends = (reach(world.labels, error, most) for most in (1 - world.rate, world.rate))
    return 1 - sum(NORMAL.cdf(-end / error) for end in ends)


def main() -> None:
    chosen = [w for w in worlds() if w.kind is Kind.RATE and w.judge == "right" and w.agents == 1]
    found = [(world, least(world)) for world in chosen]
    for world, share in found:
        print(f"{world.said} | at least {100 * share:.1f} %")
    print(f"{sum(share > 0.97 for _, share in found)} of {len(found)} above 97 %")


if __name__ == "__main__":
    main()
