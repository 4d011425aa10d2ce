from worksample.kit import Case, Grade, exact, weighted


def grade(case: Case) -> Grade:
    def same(key: str) -> object:
        return exact(str(case.json("total.json").get(key)), str(case.ref_json("total.json")[key]))

    return weighted(case, count=lambda: same("count"), total=lambda: same("total"))
