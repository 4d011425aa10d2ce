"""Variable star: each element within its tolerance; the epoch in any cycle."""

from worksample.kit import Case, Check, Grade, close, every, weighted

LIKE = {"period_days": float, "amplitude_mag": float, "mean_mag": float, "epoch_of_maximum_bjd": float,
        "observations_used": int}  # fmt: skip


def grade(case: Case) -> Grade:
    want = case.ref_json("star.json")

    def near(name: str, allowed: float) -> Check:
        got = case.json("star.json", like=LIKE)[name]
        return Check.of(close(got, want[name], allowed), f"{name} is {got}")

    def epoch() -> Check:
        period = want["period_days"]
        away = (case.json("star.json", like=LIKE)["epoch_of_maximum_bjd"] - want["epoch_of_maximum_bjd"]) / period
        return Check.of(
            abs(away - round(away)) <= 0.02 and abs(away) < 1_000, "the epoch is no maximum of these nights"
        )

    return weighted(
        case,
        period=lambda: near("period_days", 1e-4),
        shape=lambda: every([near("amplitude_mag", 0.01), near("mean_mag", 0.005)]),
        epoch=epoch,
        used=lambda: near("observations_used", 0),
    )
