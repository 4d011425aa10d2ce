"""Totals of an invoice."""

from decimal import Decimal

from .money import round_cents


def invoice_totals(lines, discount_percent=0):
    """Net, discount, VAT by rate, and gross."""
    share = Decimal(discount_percent) / 100
    net = sum((line.net for line in lines), Decimal(0))
    discount = round_cents(net * share)
    vat = {}
    for line in lines:
        vat[line.vat_rate] = vat.get(line.vat_rate, Decimal(0)) + line.net * (1 - share) * line.vat_rate / 100
    vat = {rate: round_cents(amount) for rate, amount in vat.items()}
    return {"net": net, "discount": discount, "vat": vat, "gross": net - discount + sum(vat.values(), Decimal(0))}
