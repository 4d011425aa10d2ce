"""Plan: lines within 0.2 mm (1 mm for 30 %), both ways; a frame around everything earns nothing."""

from worksample.kit import Case, Grade, plan, weighted


def grade(case: Case) -> Grade:
    return weighted(case, lines=lambda: plan(case.output("plan.svg"), case.reference("plan.svg"), {0.2: 0.7, 1.0: 0.3}))
