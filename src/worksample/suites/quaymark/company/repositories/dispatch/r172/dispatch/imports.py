"""Orders from customers' files: `number;customer;pallets`."""

from .orders import Order


def read_orders(text):
    """(orders, faults): what can be read, and a line for each that cannot."""
    orders, faults = [], []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        fields = [field.strip() for field in line.split(";")]
        if not line.strip():
            continue
        if len(fields) != 3 or not fields[2].isdigit():
            faults.append(f"line {number}: {line[:60]!r}")
        else:
            orders.append(Order(fields[0], fields[1], int(fields[2])))
    return orders, faults
