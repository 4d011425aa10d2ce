"""Reading frames: rows by place and strand; proteins of those rows."""

from worksample.kit import Case, Grade, tabular, weighted


def grade(case: Case) -> Grade:
    want = case.ref_rows("orfs.csv")
    keys = ["start", "end", "strand"]
    return weighted(
        case,
        places=lambda: tabular(case.rows("orfs.csv"), want, keys=keys, columns=["codons"]),
        proteins=lambda: tabular(case.rows("orfs.csv"), want, keys=keys, columns=["protein"]),
    )
