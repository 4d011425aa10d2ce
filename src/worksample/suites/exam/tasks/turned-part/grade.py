"""Turned part: surfaces in bands of the sampled distance, volume, size, closed; its bounding box is the zero."""

from worksample.kit import Case, Grade, solid, weighted


def grade(case: Case) -> Grade:
    bands = {2.0: 0.7, 4.0: 0.3}
    return weighted(case, solid=lambda: solid(case.output("part.obj"), case.reference("part.obj"), bands))
