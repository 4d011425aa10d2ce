"""Stroop: participants cell by cell, then the exclusions and the test."""

from worksample.kit import Case, Check, Grade, close, every, tabular, weighted

LIKE = {"n": int, "excluded": [str], "mean_effect_ms": float, "sd_effect_ms": float, "t": float, "cohens_dz": float}
NEAR = {"n": 0, "mean_effect_ms": 0.05, "sd_effect_ms": 0.05, "t": 0.01, "cohens_dz": 0.005}


def grade(case: Case) -> Grade:
    want = case.ref_json("summary.json")
    allowed = {"accuracy": 0.0005, "congruent_ms": 0.05, "incongruent_ms": 0.05, "effect_ms": 0.05}

    def excluded() -> Check:
        got = case.json("summary.json", like=LIKE)["excluded"]
        return Check.of(sorted(got) == want["excluded"], f"excluded are {got[:10]}")

    def test() -> Check:
        got = case.json("summary.json", like=LIKE)
        return every(Check.of(close(got[k], want[k], near), f"{k} is {got[k]}") for k, near in NEAR.items())

    return weighted(
        case,
        people=lambda: tabular(
            case.rows("participants.csv"), case.ref_rows("participants.csv"), keys=["participant"], tolerance=allowed
        ),
        excluded=excluded,
        test=test,
    )
