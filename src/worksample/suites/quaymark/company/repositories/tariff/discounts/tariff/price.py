"""What a delivery costs."""

from decimal import Decimal

from .contracts import discount_of

CENT = Decimal("0.01")


def base(kilometres, pallets):
    """Call-out, distance and pallets, before anything is taken off."""
    return Decimal("38.00") + Decimal("0.92") * kilometres + Decimal("6.45") * pallets


def price(customer, kilometres, pallets):
    """What the customer pays, by contract."""
    return (base(kilometres, pallets) * (1 - discount_of(customer))).quantize(CENT)
