"""Framework contracts: what is taken off the base price, by customer."""

from decimal import Decimal

DISCOUNTS = {
    "Nordvik Foods": Decimal("0.075"),
    "Halden Pharma": Decimal("0.120"),
    "Brasserie Lemaire": Decimal("0.000"),
    "Oakridge Garden": Decimal("0.035"),
    "Kaiser Ersatzteile": Decimal("0.050"),
    "Pellworm Dairy": Decimal("0.085"),
}


def discount_of(customer):
    """0 for who has no contract."""
    return DISCOUNTS.get(customer, Decimal(0))
