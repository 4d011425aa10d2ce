"""Invoice numbers."""


def next_number(existing, year):
    """The next number of a year."""
    highest = 0
    for number in existing:
        left, _, right = number.partition("-")
        if left == str(year) and len(right) >= 4 and right.isdigit():
            highest = max(highest, int(right))
    return f"{year}-{str(highest + 1).zfill(4)}"
