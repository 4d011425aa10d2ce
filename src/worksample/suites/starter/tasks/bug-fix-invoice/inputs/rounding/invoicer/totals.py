"""Totals of an invoice."""

from decimal import Decimal

from .money import round_cents


def invoice_totals(lines, discount_percent=0):
    """Net, discount, VAT by rate, and gross."""
    net = Decimal(0)
    vat = {}
    for line in lines:
        net += line.net
        vat[line.vat_rate] = vat.get(line.vat_rate, Decimal(0)) + round_cents(line.net * line.vat_rate / 100)
    discount = round_cents(net * Decimal(discount_percent) / 100)
    return {"net": net, "discount": discount, "vat": vat, "gross": net - discount + sum(vat.values(), Decimal(0))}
