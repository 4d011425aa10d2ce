"""Mends the package below the working folder (due-dates)."""

import pathlib

terms = pathlib.Path("invoicer/terms.py")
text = terms.read_text()
start, end = text.index("def last_day"), text.index("def due_date")
new = """def last_day(day):
    return day.replace(day=monthrange(day.year, day.month)[1])


def later(day, months):
    years, month = divmod(day.month - 1 + months, 12)
    first = date(day.year + years, month + 1, 1)
    return first.replace(day=min(day.day, last_day(first).day))


def no_weekend(day):
    while day.weekday() > 4:
        day += timedelta(days=1)
    return day


"""
text = text[:start] + new + text[end:]
text = text.replace(
    "return last_day(day) + timedelta(days=int(m.group(1) or 0))",
    "return no_weekend(last_day(day) + timedelta(days=int(m.group(1) or 0)))",
)
terms.write_text(text.replace("import re\n", "import re\nfrom calendar import monthrange\n", 1))
pathlib.Path("invoicer/numbers.py").write_text('''"""Invoice numbers."""

import re


def next_number(existing, year):
    """One more than the highest number of the year, compared as a number."""
    pattern = re.compile(f"{year}-([0-9]{{4,}})")
    used = [int(match.group(1)) for match in map(pattern.fullmatch, existing) if match]
    return f"{year}-{max([0, *used]) + 1:04}"
''')
