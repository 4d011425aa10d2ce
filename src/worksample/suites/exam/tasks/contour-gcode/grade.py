"""Contour: the cuts within 0.05 mm, under the machine's rules; the bounding box at the lowest height is the zero."""

import json

from worksample.kit import Case, Grade, MachineRules, toolpath, weighted


def grade(case: Case) -> Grade:
    job = json.loads(case.input("job.json").read_text())
    rules = MachineRules(
        safe_z=job["safe_z_mm"], feed=job["feed_mm_min"], low=(-1e6, -1e6, -job["thickness_mm"] - 0.05)
    )
    return weighted(
        case,
        path=lambda: toolpath(case.output("contour.nc"), case.reference("contour.nc"), {0.05: 1}, rules=rules),
    )
