"""The surcharge for fuel: 1.2 % for every full 5 cents that a litre of diesel costs above 1.50 EUR."""

from decimal import Decimal

FREE, STEP, SHARE = Decimal("1.50"), Decimal("0.05"), Decimal("0.012")


def fuel_share(diesel):
    """The share that is added, such as 0.048 for 1.73 EUR a litre."""
    if diesel <= FREE:
        return Decimal(0)
    return (diesel - FREE) // STEP * SHARE
