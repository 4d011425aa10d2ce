from worksample.kit import Case, Grade, checklist, exact


def grade(case: Case) -> Grade:
    return checklist(
        case, text=lambda: exact(case.text("greeting.txt"), case.ref_text("greeting.txt"), ignore=("strip",))
    )
