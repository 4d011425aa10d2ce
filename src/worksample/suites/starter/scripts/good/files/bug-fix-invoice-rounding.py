"""Mends the package below the working folder (rounding)."""

import pathlib

money = pathlib.Path("invoicer/money.py")
text = money.read_text()
old = text[text.index("def round_cents") : text.index("def format_amount")]
new = """def round_cents(value):
    # commercial rounding, without a detour over binary fractions
    return Decimal(value).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


"""
money.write_text(text.replace(old, new).replace("import Decimal", "import ROUND_HALF_UP, Decimal"))
pathlib.Path("invoicer/totals.py").write_text('''"""Totals of an invoice."""

from decimal import Decimal

from .money import round_cents


def invoice_totals(lines, discount_percent=0):
    """Net, discount, VAT by rate, and gross: discount and VAT are computed once per rate."""
    percent = Decimal(discount_percent)
    totals = {"net": Decimal(0), "discount": Decimal(0), "vat": {}}
    for rate in dict.fromkeys(line.vat_rate for line in lines):
        net = sum(line.net for line in lines if line.vat_rate == rate)
        discount = round_cents(net * percent / 100)
        totals["net"] += net
        totals["discount"] += discount
        totals["vat"][rate] = round_cents((net - discount) * rate / 100)
    totals["gross"] = totals["net"] - totals["discount"] + sum(totals["vat"].values())
    return totals
''')
