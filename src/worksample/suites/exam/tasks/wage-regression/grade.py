"""Wages: sample, estimates and errors, each within its tolerance."""

from worksample.kit import Case, Check, Grade, average, close, every, weighted

PAIR = {"estimate": float, "robust_se": float}
NAMES = ("constant", "schooling", "experience", "experience_squared", "female", "union")
LIKE = {"n": int, "r_squared": float, "coefficients": dict.fromkeys(NAMES, PAIR)}


def grade(case: Case) -> Grade:
    want = case.ref_json("wages.json")

    def sample() -> Check:
        got = case.json("wages.json", like=LIKE)
        near = {"n": 0, "r_squared": 0.001}
        return every(Check.of(close(got[k], want[k], near[k]), f"{k} is {got[k]}") for k in near)

    def part(name: str) -> Check:
        got = case.json("wages.json", like=LIKE)["coefficients"]
        right = want["coefficients"]
        return average(Check.of(close(got[k][name], right[k][name], 2e-4), f"{k}: {got[k][name]}") for k in NAMES)

    return weighted(case, sample=sample, estimates=lambda: part("estimate"), errors=lambda: part("robust_se"))
