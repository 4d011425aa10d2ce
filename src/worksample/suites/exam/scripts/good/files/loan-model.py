"""A loan with overpayments as a workbook of formulas."""

import sys
from pathlib import Path

import openpyxl

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
book = openpyxl.load_workbook(inputs / "template.xlsx")
sheet = book.create_sheet("Schedule")
sheet.append(["Month", "Opening", "Interest", "Payment", "Overpayment", "Closing"])
rate = "(1+Inputs!$B$3)^(1/12)-1" if "effective-rate" in slips else "Inputs!$B$3/12"
for row in range(2, 242):
    opening = "=Inputs!$B$2" if row == 2 else f"=F{row - 1}"
    extra = "0" if "no-overpayment" in slips else f"IF(A{row}>=Inputs!$B$6,Inputs!$B$5,0)"
    sheet.append([
        row - 1, opening, f"=B{row}*({rate})", f"=MIN(B{row}+C{row},IF(A{row}<=Inputs!$B$4,Summary!$B$2,0))",
        f"=MIN(B{row}+C{row}-D{row},{extra})", f"=B{row}+C{row}-D{row}-E{row}",
    ])  # fmt: skip
total = book.create_sheet("Summary")
for line in (
    ["Quantity", "Value"],
    ["Monthly payment", f"=-PMT({rate},Inputs!$B$4,Inputs!$B$2)"],
    ["Total interest", "=SUM(Schedule!C2:C241)"],
    ["Months until paid off", '=COUNTIF(Schedule!B2:B241,">0.005")'],
    ["Balance after 12 months", "=Schedule!F13"],
):
    total.append(line)
if "typed-in" in slips:
    for place, value in (("B2", 1234.56), ("B3", 45678.9), ("B4", 100), ("B5", 90000)):
        total[place] = value
book.save(output / "model.xlsx")
