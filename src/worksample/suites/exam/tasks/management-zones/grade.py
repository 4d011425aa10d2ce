"""Zones: cells by name, 97 % overlap for full marks, yield and rate; one box for all cells earns nothing."""

from worksample.kit import Case, Grade, ShapeRules, shapes, weighted

RULES = ShapeRules(key="cell", overlap=0.97, properties={"yield_t_ha": 0.01, "rate_kg_ha": 0.0})


def grade(case: Case) -> Grade:
    return weighted(case, cells=lambda: shapes(case.output("zones.geojson"), case.reference("zones.geojson"), RULES))
