"""URDF: values of links and joints by name; only a tree over all links counts."""

from worksample.kit import Case, Grade, urdf, weighted


def grade(case: Case) -> Grade:
    return weighted(case, description=lambda: urdf(case.output("arm.urdf"), case.reference("arm.urdf"), tolerance=1e-5))
