"""Pallets and deliveries of a month, by depot."""

import sys

from .loads import of_month, read


def totals(rows):
    """{depot: (deliveries, pallets)} of what was delivered."""
    found = {}
    for row in rows:
        if row["status"] in ("delivered", "corrected"):
            deliveries, pallets = found.get(row["depot"], (0, 0))
            found[row["depot"]] = deliveries + 1, pallets + int(row["pallets"])
    return found


def main(path, month):
    for depot, (deliveries, pallets) in sorted(totals(of_month(read(path), month)).items()):
        print(f"{depot},{deliveries},{pallets}")


if __name__ == "__main__":
    main(*sys.argv[1:])
