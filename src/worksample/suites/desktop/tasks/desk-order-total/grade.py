"""The total must be a formula with the right result, and LibreOffice must have made it."""

from openpyxl import load_workbook

from worksample.kit import Case, Check, Grade, checklist


def grade(case: Case) -> Grade:
    path, seen = case.output("order.xlsx"), case.desktop()
    formula = str(load_workbook(path).active["C5"].value)
    total = load_workbook(path, data_only=True).active["C5"].value
    wanted = float(case.ref_text("total.txt"))
    return checklist(
        case,
        formula=Check.of(formula.startswith("="), f"C5 has {formula[:100]}"),
        total=Check.of(isinstance(total, int | float) and abs(total - wanted) < 0.005, f"C5 shows {str(total)[:100]}"),
        by_hand=Check.of(seen.used("*/soffice.bin") > 0 and bool(seen.acts("type")), "made in LibreOffice's window"),
    )
