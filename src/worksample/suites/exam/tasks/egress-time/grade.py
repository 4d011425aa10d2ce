"""Egress: exits cell by cell; the judgement counts only with the figures that lead to it."""

from worksample.kit import Case, Check, Grade, close, every, tabular, weighted

LIKE = {"people": int, "evacuation_s": float, "margin_s": float, "acceptable": bool}


def grade(case: Case) -> Grade:
    want = case.ref_json("summary.json")

    def summary() -> Check:
        got = case.json("summary.json", like=LIKE)
        near = {"people": 0, "evacuation_s": 0.2, "margin_s": 0.2}
        checks = [Check.of(close(got[k], want[k], near[k]), f"{k} is {got[k]}") for k in near]
        return every([*checks, Check.of(got["acceptable"] is want["acceptable"], "the judgement is wrong")])

    return weighted(
        case,
        exits=lambda: tabular(
            case.rows("exits.csv"),
            case.ref_rows("exits.csv"),
            keys=["exit"],
            tolerance={"walking_s": 0.1, "queue_s": 0.1, "clear_s": 0.1},
        ),
        summary=summary,
    )
