"""Totals of an invoice."""

from collections import defaultdict
from decimal import Decimal

from .money import round_cents


def invoice_totals(lines, discount_percent=0):
    """Net, discount, VAT by rate, and gross."""
    share = Decimal(discount_percent) / 100
    nets = defaultdict(Decimal)
    for line in lines:
        nets[line.vat_rate] += line.net
    discounts = {rate: round_cents(net * share) for rate, net in nets.items()}
    vat = {rate: round_cents((net - discounts[rate]) * rate / 100) for rate, net in nets.items()}
    net, discount = sum(nets.values(), Decimal(0)), sum(discounts.values(), Decimal(0))
    return {"net": net, "discount": discount, "vat": vat, "gross": net - discount + sum(vat.values(), Decimal(0))}
