"""Loan: LibreOffice computes the workbook with the given and with other inputs; typed numbers make it 0."""

from worksample.kit import Case, Check, Grade, weighted, workbook_model

PLACES = [f"Summary!B{row}" for row in (2, 3, 4, 5)]
OTHER = {"Inputs!B2": 81_000, "Inputs!B3": 0.0415, "Inputs!B4": 96, "Inputs!B5": 75, "Inputs!B6": 5}


def grade(case: Case) -> Grade:
    found: dict[str, Check] = {}

    def model(*places: str) -> Check:
        name = places[0]
        if name not in found:
            cells = dict.fromkeys(places, 0.01)
            found[name] = workbook_model(case, "model.xlsx", cells, scenarios=({}, OTHER), formulas=PLACES)
        return found[name]

    def living() -> Check:
        check = model(*PLACES)
        return Check.of(not check.reason.startswith("no formula"), check.reason)

    def of(places: list[str]) -> Check:
        check = model(*PLACES)
        if check.reason.startswith("no formula"):
            return check
        return Check(1 - sum(place in check.reason for place in places) / len(places), check.reason)

    return weighted(case, payment=lambda: of(PLACES[:1]), results=lambda: of(PLACES[1:]), living=living)
