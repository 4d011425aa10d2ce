"""Invoice numbers."""


def next_number(existing, year):
    return f"{year}-{len([n for n in existing if n.startswith(str(year))]) + 1:04d}"
