"""Outbreak: the vehicle counts only with its own row of the table right, so that a guess earns nothing."""

from worksample.kit import Case, Check, Grade, every, tabular, weighted

LIKE = {"cases": int, "people": int, "vehicle": str}
RATES = {"attack_exposed_pct": 0.05, "attack_unexposed_pct": 0.05, "relative_risk": 0.01, "low": 0.01, "high": 0.01}


def grade(case: Case) -> Grade:
    want, foods = case.ref_json("summary.json"), case.ref_rows("foods.csv")

    def counts() -> Check:
        got = case.json("summary.json", like=LIKE)
        return every(Check.of(got[k] == want[k], f"{k} are {got[k]}") for k in ("cases", "people"))

    def vehicle() -> Check:
        got = case.json("summary.json", like=LIKE)["vehicle"].strip().lower()
        rows = [row for row in case.rows("foods.csv").rows if str(row["food"]).strip().lower() == want["vehicle"]]
        own = [row for row in foods.rows if row["food"] == want["vehicle"]]
        named = Check.of(got == want["vehicle"], f"the vehicle is {got!r}")
        return every([named, tabular(rows, own, keys=["food"], tolerance=RATES, partial=False)])

    return weighted(
        case,
        counts=counts,
        curve=lambda: tabular(case.rows("curve.csv"), case.ref_rows("curve.csv"), keys=["date"]),
        foods=lambda: tabular(case.rows("foods.csv"), foods, keys=["food"], tolerance=RATES),
        vehicle=vehicle,
    )
