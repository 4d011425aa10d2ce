"""Reserves: factors to 0.0001, money to one unit."""

from worksample.kit import Case, Check, Grade, ValueRules, close, weighted
from worksample.kit.comparisons.values import compare_values


def grade(case: Case) -> Grade:
    want = case.ref_json("reserves.json")
    like = {"factors": [float], "years": dict, "total_reserve": float}

    def part(name: str, rules: ValueRules) -> Check:
        return compare_values(case.json("reserves.json", like=like)[name], want[name], rules)

    def total() -> Check:
        got = case.json("reserves.json", like=like)["total_reserve"]
        return Check.of(close(got, want["total_reserve"], 1.0), f"the total is {got}")

    return weighted(
        case,
        factors=lambda: part("factors", ValueRules(tolerance=1e-4)),
        reserves=lambda: part("years", ValueRules(tolerance=1.0)),
        total=total,
    )
