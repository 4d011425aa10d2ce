"""Per cent of tax, by what is invoiced."""

RATES = {"rental": 21, "lessons": 21, "goods": 21}
