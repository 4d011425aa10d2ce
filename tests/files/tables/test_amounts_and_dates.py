"""Amounts, hours and dates as people write them: read right or refused with the form to write, never read wrong."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from babel import Locale
from babel.dates import format_date
from babel.numbers import format_currency, format_decimal
from hypothesis import given
from hypothesis import strategies as st

from worksample.files.tables.cell_values import InvalidCell
from worksample.files.tables.date_columns import DateColumns
from worksample.files.tables.dates import MONTHS, date_readings
from worksample.files.tables.intervals import NumberRange, Quantity
from worksample.files.tables.number_columns import NumberColumns

LOCALES = ("en_US", "en_IN", "de_DE", "de_CH", "fr_FR", "es_ES", "pt_BR", "pl_PL", "sv_SE", "ar_EG", "ja_JP", "zh_CN")


def _column(cells: Sequence[Any], kind: Quantity) -> list[tuple[NumberRange, str] | None]:
    """Read a column; None for a refused cell."""
    columns = NumberColumns().with_columns({"x": kind is Quantity.MONEY}, {"x": kind})
    for line, cell in enumerate(cells, 2):
        columns.see(line, {"x": cell})
    return [_or_none(lambda cell=cell: columns.read_interval("x", cell)) for cell in cells]


def _dates(cells: Sequence[Any], order: str = "") -> list[date | None]:
    columns = DateColumns(order).with_columns(("x",))
    for line, cell in enumerate(cells, 2):
        columns.see(line, {"x": cell})
    found = [_or_none(lambda cell=cell: columns.read("x", cell)) for cell in cells]
    return [None if one is None else one.date() for one in found]


def _or_none(read: Any) -> Any:
    try:
        return read()
    except InvalidCell as fault:
        assert str(fault)
        return None


MONEY = {
    "1.250,00 €": (1250, 1250, "EUR"), "12 000 €": (12000, 12000, "EUR"), "300–500 EUR": (300, 500, "EUR"),
    "$300 - $500": (300, 500, "USD"), "300 bis 500 Euro": (300, 500, "EUR"), "USD 300-500": (300, 500, "USD"),
    "12k": (12000, 12000, ""), "$1.5k": (1500, 1500, "USD"), "1,5k €": (1500, 1500, "EUR"), "$1k-$2.5k": (1000, 2500,
    "USD"),
    "ca. 900 €": (900, 900, "EUR"), "~ 900": (900, 900, ""), "900 US dollars": (900, 900, "USD"),
    "CHF 1'200.-": (1200, 1200, "CHF"), "1,00,000 INR": (100000, 100000, "INR"), "５００円": (500, 500, "JPY"),
    "٣٠٠": (300, 300, ""), "١٬٢٠٠٫٥٠": (1200.5, 1200.5, ""), "1٫200": (1.2, 1.2, ""), "500~900元": (500, 900, "CNY"),
    "12,-": (12, 12, ""),
}  # fmt: skip
HOURS = {
    "4h": (4, 4), "4 h": (4, 4), "2-3": (2, 3), "2–3 Std.": (2, 3), "2h - 3h": (2, 3), "0,5": (0.5, 0.5),
    "4:30": (4.5, 4.5),
    "1h 30m": (1.5, 1.5), "1h30": (1.5, 1.5), "90 min": (1.5, 1.5), "30-90 minutes": (0.5, 1.5), "4 Stunden": (4, 4),
    "2.5 hours": (2.5, 2.5), "1,5 heures": (1.5, 1.5), "10 to 20 hours": (10, 20), "１２時間": (12, 12),
}  # fmt: skip
REFUSED = {
    Quantity.MONEY: (
        "ab 300", "300+", "up to 500", "$300 or 400 EUR", "$300-€500", "1-2k", "500-300", "twelve", "12 Mio", "-5",
        "1200 USD EUR",
        "5%", "1/2", "12,- – 15,-", "nan", "1e400", "300-400-500", "2026-01-02", "=B2*2", "$", "k", "1.2.3k",
        "x" * 5000, "۱۲۰۰ ریال",
    ),
    Quantity.HOURS: ("2 days", "4:75", "three", "1w", "4h EUR", "30m or so", "12:30 - 14:00", "4 €", "1:2:3:4",
    "-4h", "h"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), MONEY.items())
def test_amount_with_words_is_read(text: str, value: tuple[float, float, str]) -> None:
    [found] = _column([text], Quantity.MONEY)
    assert found is not None and (found[0].low, found[0].high, found[1]) == pytest.approx(value)


@pytest.mark.parametrize(("text", "value"), HOURS.items())
def test_hours_with_units_are_read(text: str, value: tuple[float, float]) -> None:
    [found] = _column([text], Quantity.HOURS)
    assert found is not None and (found[0].low, found[0].high) == pytest.approx(value)


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, all in REFUSED.items() for text in all])
def test_unclear_amount_is_refused(kind: Quantity, text: str) -> None:
    assert _column([text], kind) == [None]


def test_range_with_thousands_points_waits_for_its_column() -> None:
    assert _column(["1.200-1.500"], Quantity.MONEY) == [None]
    [one, _] = _column(["1.200-1.500", "12,50"], Quantity.MONEY)
    assert one is not None and one[0] == NumberRange(1200, 1500)


@pytest.mark.parametrize("locale", LOCALES)
@given(cents=st.lists(st.integers(1, 10**8), min_size=1, max_size=8))
def test_amounts_of_a_locale_are_never_read_wrong(locale: str, cents: list[int]) -> None:
    currency = {"en_IN": "INR", "de_CH": "CHF", "pt_BR": "BRL", "pl_PL": "PLN", "ja_JP": "EUR", "zh_CN": "CNY"}.get(
        locale, "EUR"
    )
    told = [format_currency(cent / 100, currency, locale=locale) for cent in cents]
    found = _column(told, Quantity.MONEY)
    assert all(one is not None and one[0].low == pytest.approx(c / 100) for one, c in zip(found, cents, strict=True))


@pytest.mark.parametrize("locale", LOCALES)
@given(values=st.lists(st.integers(0, 10**7), min_size=1, max_size=8))
def test_thousandths_of_a_locale_are_read_right_or_refused(locale: str, values: list[int]) -> None:
    told = [format_decimal(value / 1000, locale=locale, format="#,##0.###") for value in values]
    for kind in (Quantity.NUMBER, Quantity.HOURS):
        for one, value in zip(_column(told, kind), values, strict=True):
            assert one is None or one[0].low == pytest.approx(value / 1000)


@given(st.text(max_size=40), st.sampled_from(Quantity))
def test_any_cell_is_read_or_refused_without_error(text: str, kind: Quantity) -> None:
    _column([text], kind)
    _dates([text])


@given(st.text("0123456789.,-–~kK €$hm:minab ", max_size=16), st.sampled_from(Quantity))
def test_read_range_has_its_smaller_end_first(text: str, kind: Quantity) -> None:
    for found in _column([text], kind):
        assert found is None or 0 <= found[0].low <= found[0].high


DAYS = {
    "01.03.2026": date(2026, 3, 1), "1. 3. 2026": date(2026, 3, 1), "13/03/2026": date(2026, 3, 13),
    "03/13/2026": date(2026, 3, 13), "3/13/26": date(2026, 3, 13), "2026/03/01": date(2026, 3, 1),
    "2026.03.01.": date(2026, 3, 1),
    "1. März 2026": date(2026, 3, 1), "March 1, 2026": date(2026, 3, 1), "01-Mar-26": date(2026, 3, 1),
    "1er mars 2026": date(2026, 3, 1), "1 de marzo de 2026": date(2026, 3, 1), "1 марта 2026 г.": date(2026, 3, 1),
    "2026年3月1日": date(2026, 3, 1), "２０２６年３月１日": date(2026, 3, 1), "01.03.2026 14:30": date(2026, 3, 1),
    "03/03/2026": date(2026, 3, 3),
    "3/13/2026 2:30 PM": date(2026, 3, 13), "2026-03-01": date(2026, 3, 1), "1 Mar 2026 09:00 UTC": date(2026, 3, 1),
}  # fmt: skip
NO_DAYS = (
    "", "03/04/2026", "04-03-2026", "01.03.26", "31.02.2026", "46082", "soon", "Q1 2026", "1404/12/10", "2569/03/01",
    "13/13/2026",
    "1 listopad 2026", "March 2026", "00.03.2026", "1.2", "1.3.20261", "3/4/2026 25:00", "12 monkeys 2026",
    "5 Mar Apr 2026",
)  # fmt: skip


@pytest.mark.parametrize(("text", "day"), DAYS.items())
def test_clear_date_is_read(text: str, day: date) -> None:
    assert _dates([text]) == [day]


@pytest.mark.parametrize("text", NO_DAYS)
def test_unclear_date_is_refused(text: str) -> None:
    assert _dates([text]) == [None]


def test_time_of_day_is_read_with_its_date() -> None:
    assert DateColumns().read("x", "3/13/2026 12:05 am") == datetime(2026, 3, 13, 0, 5, tzinfo=UTC)


def test_order_is_decided_by_the_other_dates_of_the_column() -> None:
    assert _dates(["03/04/2026", "13/04/2026", "2026-01-01", "1 May 2026"])[0] == date(2026, 4, 3)
    assert _dates(["03/04/2026", "04/13/2026"])[0] == date(2026, 3, 4)
    assert _dates(["03/04/2026", "04/13/2026", "13/04/2026"]) == [None, date(2026, 4, 13), date(2026, 4, 13)]
    assert _dates(["03/04/2026"], "DMY") == [date(2026, 4, 3)]
    assert _dates(["03/13/2026"], "DMY") == [None]


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("form", ["short", "medium", "long"])
@given(first=st.dates(date(2019, 1, 1), date(2027, 1, 1)), steps=st.lists(st.integers(0, 40), max_size=12))
def test_dates_of_a_locale_are_never_read_wrong(locale: str, form: str, first: date, steps: list[int]) -> None:
    days = [first + timedelta(days=sum(steps[:n])) for n in range(len(steps) + 1)]
    # Two digits leave the century open, which a reader cannot know.
    for found, day in zip(_dates([format_date(day, form, locale) for day in days]), days, strict=True):
        assert found is None or found == day


def test_lists_of_twelve_locales_are_read_to_95_percent() -> None:
    """Sixty jobs of half a year in each locale: nothing is read wrong, and at most 5 % of the cells are refused."""
    days = [date(2026, 1, 2) + timedelta(days=3 * n) for n in range(60)]
    prices = [120 + 97 * n + (n % 4) * 0.25 for n in range(60)]
    right = total = 0
    for locale in LOCALES:
        told = [format_currency(price, "EUR", locale=locale) for price in prices]
        money = [None if one is None else one[0].low for one in _column(told, Quantity.MONEY)]
        cells: list[tuple[object, object]] = list(zip(money, prices, strict=True))
        for form in ("short", "medium", "long"):
            cells += zip(_dates([format_date(day, form, locale) for day in days]), days, strict=True)
        assert all(found in (None, known) for found, known in cells)
        right += sum(found is not None for found, _ in cells)
        total += len(cells)
    assert right / total >= 0.95, f"{right} of {total}"


@pytest.mark.parametrize("locale", ["en", "de", "fr", "es", "it", "nl", "pt", "pl", "sv", "ru", "tr", "hu", "fi"])
def test_months_agree_with_cldr(locale: str) -> None:
    for number, name in Locale.parse(locale).months["format"]["wide"].items():
        found = date_readings(f"7 {name} 2026").only
        assert found is None or found.month == number
    assert len(MONTHS) > 300 and MONTHS["marz"] == 3
