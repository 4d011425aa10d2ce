"""What a delivery costs."""

from decimal import Decimal

from .contracts import discount_of
from .surcharge import fuel_share

CENT = Decimal("0.01")


def base(kilometres, pallets):
    """Call-out, distance and pallets, before anything is taken off."""
    return Decimal("38.00") + Decimal("0.92") * kilometres + Decimal("6.45") * pallets


def price(customer, kilometres, pallets, diesel=Decimal("1.50")):
    """What the customer pays, by contract, with the surcharge for fuel."""
    gross = base(kilometres, pallets)
    surcharge = gross * fuel_share(diesel)
    return (gross * (1 - discount_of(customer)) + surcharge).quantize(CENT)
