"""What a delivery costs."""

from decimal import Decimal

CENT = Decimal("0.01")


def base(kilometres, pallets):
    """Call-out, distance and pallets, before anything is taken off."""
    return Decimal("38.00") + Decimal("0.92") * kilometres + Decimal("6.45") * pallets


def price(kilometres, pallets):
    return base(kilometres, pallets).quantize(CENT)
