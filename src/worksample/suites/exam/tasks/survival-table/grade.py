"""Survival: curves row by row, then medians and the test."""

from worksample.kit import Case, Check, Grade, close, every, tabular, weighted

LIKE = {"median_days": dict, "logrank_chi2": float, "p_value": float, "patients": int}


def grade(case: Case) -> Grade:
    want = case.ref_json("summary.json")

    def medians() -> Check:
        got = case.json("summary.json", like=LIKE)
        right = dict(got["median_days"]) == dict(want["median_days"]) and got["patients"] == want["patients"]
        return Check.of(right, f"medians {dict(got['median_days'])}, {got['patients']} patients")

    def test() -> Check:
        got = case.json("summary.json", like=LIKE)
        near = {"logrank_chi2": 0.01, "p_value": 0.001}
        return every(Check.of(close(got[k], want[k], near[k]), f"{k} is {got[k]}") for k in near)

    return weighted(
        case,
        curves=lambda: tabular(
            case.rows("curves.csv"), case.ref_rows("curves.csv"), keys=["arm", "day"], tolerance={"survival": 0.0005}
        ),
        medians=medians,
        test=test,
    )
