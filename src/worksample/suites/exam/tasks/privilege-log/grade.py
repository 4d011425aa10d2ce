"""Privilege log: which mails, then what is said of them. A log that withholds every mail earns nothing."""

from worksample.kit import Case, Check, Grade, tabular, weighted
from worksample.kit.comparisons.bands import above_floor


def grade(case: Case) -> Grade:
    want = case.ref_rows("log.csv")
    mails = sum(1 for _ in case.folder("input").glob("mail-*.eml"))

    def withheld() -> Check:
        check = tabular(case.rows("log.csv"), want, keys=["file"], columns=())
        return above_floor(check, len(want) / mails)

    return weighted(
        case,
        withheld=withheld,
        rows=lambda: tabular(
            case.rows("log.csv"), want, keys=["file"], columns=["bates", "date", "from", "recipients"]
        ),
        complete=lambda: tabular(case.rows("log.csv"), want, keys=["file"], columns=(), partial=False),
    )
