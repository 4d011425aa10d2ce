"""Dates as people write them, and the evidence of a whole column about the order of day and month.

`03/04/2026` is the 3rd of April or the 4th of March. If the other dates of the column fit only one order, that order
counts; otherwise the text stays ambiguous. With points the day comes first in every country (CLDR's short dates).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from .intervals import with_latin_digits
from .numbers import plain_form

ORDERS: Mapping[str, str] = {"DMY": "day first", "MDY": "month first", "YMD": "year first"}
"""Order of day, month and year -> its name in messages."""
LONGEST = 60
FIRST_YEAR, LAST_YEAR = 1900, 2199
"""Years that are read; others belong to other calendars, or are mistakes."""
_DIGITS = re.compile(
    r"(?P<a>\d{1,4})(?P<mark>\s?[./]\s?|-)(?P<b>\d{1,2})(?P=mark)(?P<c>\d{4}|\d{1,2})(?P<end>\.?)", re.ASCII
)
_EAST = re.compile(r"(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]")
_TIME = re.compile(
    r"^(?P<day>.*?\d.*?)(?:,?\s+|T)(?:at |um )?"
    r"(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.\d{1,9})?)?"
    r"\s?(?P<half>[AaPp]\.?[Mm]\.?)?(?: Uhr)?(?P<utc>\s?Z|\s?UTC)?$"
)
_FILLERS = frozenset(
    ("of", "de", "del", "den", "der", "d", "le", "er", "st", "nd", "rd", "th", "г", "года", "р", "року")
)
_MONTH_NAMES = (
    "ene enero gen gener gennaio ian ianuarie jaan jaanuar jan janeiro januar januara januari january "
    "janv janvaris janvier led leden ledna oca ocak saus sausio sausis sij sijecanj sijecnja sty styczen "
    "stycznia tammi tammikuu tammikuuta ιαν ιανουαριοσ ιανουαριου січ січень січня янв январь января",
    "feb febbraio febr febrer febrero februar februara februari februarie februaris february fev "
    "fevereiro fevr fevrier helmi helmikuu helmikuuta lut lutego luty sub subat uno unor unora vas "
    "vasario vasaris veebr veebruar velj veljaca veljace φεβ φεβρουαριοσ φεβρουαριου лют лютии лютого "
    "февр февраль февраля",
    "bre brezen brezna kov kovas kovo maalis maaliskuu maaliskuuta maart mar marc marca march marcius "
    "marco marec maret mars mart martie marts marz marzec marzo mrt mrz ozu ozujak ozujka μαρ μαρτιοσ "
    "μαρτιου бер березень березня мар март марта",
    "abr abril apr april aprila aprile aprilie aprilis aprill avr avril bal balandis balandzio dub duben "
    "dubna huhti huhtikuu huhtikuuta kwi kwiecien kwietnia nis nisan tra travanj travnja απρ απριλιοσ "
    "απριλιου апр апрель апреля квіт квітень квітня",
    "geg geguze geguzes kve kveten kvetna mag maggio mai maig maijs maio maj maja majus may mayo mayıs "
    "mei svi svibanj svibnja touko toukokuu toukokuuta μαι μαιοσ μαιου маи мая трав травень травня",
    "birz birzelio birzelis cerven cervna cvn cze czerwca czerwiec giu giugno haz haziran iun iunie juin "
    "jun juna june junho juni junij junijs junio junius juny juuni kesa kesakuu kesakuuta lipanj lipnja "
    "ιουν ιουνιοσ ιουνιου июн июнь июня черв червень червня",
    "cervence cervenec cvc heina heinakuu heinakuuta iul iulie juil juillet jul jula julho juli julij "
    "julijs julio juliol julius july juuli liep liepa liepos lipca lipiec lug luglio srpanj srpnja tem "
    "temmuz ιουλ ιουλιοσ ιουλιου июл июль июля лип липень липня",
    "ago agost agosto agu agustos agustus aout aug august augusta augusti augusts augustus augusztus avg "
    "avgust elo elokuu elokuuta kol kolovoz kolovoza rugp rugpjucio rugpjutis sie sierpien sierpnia srpen "
    "srpna αυγ αυγουστοσ αυγουστου авг август августа серп серпень серпня",
    "eyl eylul rugs rugsejis rugsejo ruj rujan rujna sep sept september septembra septembre septembrie "
    "septembris septiembre set setembre setembro settembre syys syyskuu syyskuuta szept szeptember wrz "
    "wrzesien wrzesnia zar zari σεπ σεπτεμβριοσ σεπτεμβριου вер вересень вересня сент сентябрь сентября",
    "eki ekim loka lokakuu lokakuuta oct october octobre octombrie octubre okt oktober oktobra oktobris "
    "oktoober ott ottobre out outubro paz pazdziernik pazdziernika rij rijen rijna spal spalio spalis οκτ "
    "οκτωβριοσ οκτωβριου жовт жовтень жовтня окт октябрь октября",
    "kas kasım lapkr lapkricio lapkritis listopadu marras marraskuu marraskuuta noiembrie nov november "
    "novembra novembre novembris novembro noviembre stu studeni studenoga νοε νοεμβριοσ νοεμβριου лист "
    "листопад листопада нояб ноябрь ноября",
    "ara aralık dec december decembra decembre decembrie decembris des desember desembre dets detsember "
    "dez dezember dezembro dic dicembre diciembre gru grudnia grudzien gruod gruodis gruodzio joulu "
    "joulukuu joulukuuta pro prosinac prosinca prosince prosinec δεκ δεκεμβριοσ δεκεμβριου груд грудень "
    "грудня дек декабрь декабря",
)
"""The names of January, and so on, in languages of Europe, as Unicode's CLDR lists them, without accents. A name that
means different months in two languages (`listopad`) is left out.
"""
MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
"""Name without accents, in lower case -> month."""


@dataclass(frozen=True, slots=True)
class DateReadings:
    """The moments that a text may mean, by order; without a time zone if the text has none."""

    by: Mapping[str, datetime]
    short_year: bool = False
    """Whether the year has two digits."""

    @property
    def unclear(self) -> bool:
        return len(set(self.by.values())) > 1

    @property
    def only(self) -> datetime | None:
        """The moment if the text has exactly one reading, otherwise None."""
        return None if self.unclear else next(iter(self.by.values()), None)


def date_readings(text: str) -> DateReadings:
    """Return every reading of a text that is not in ISO 8601: numbers, or a day with the name of a month."""
    bare = with_latin_digits(plain_form(text))
    if not bare or len(bare) > LONGEST:
        return DateReadings({})
    bare, clock = _split_time(bare)
    if clock is None:
        return DateReadings({})
    found, short = _days(bare)
    return DateReadings({order: day + clock for order, day in found.items()}, short)


def _split_time(text: str) -> tuple[str, timedelta | None]:
    """Return the day's text, and the time of day; None if it is no time."""
    found = _TIME.match(text)
    if found is None:
        return text, timedelta()
    hour, half = int(found["hour"]), (found["half"] or "")[:1].lower()
    if hour > (12 if half else 23) or (half and not hour):
        return text, None
    hour = hour % 12 + (12 if half == "p" else 0) if half else hour
    clock = timedelta(hours=hour, minutes=int(found["minute"]), seconds=int(found["second"] or 0))
    return found["day"].strip(), clock


def _days(text: str) -> tuple[dict[str, datetime], bool]:
    """Return the possible days by order, and whether the year has two digits."""
    if east := _EAST.fullmatch(text):
        return _valid({"YMD": (east[1], east[2], east[3])}), False
    digits = _DIGITS.fullmatch(text)
    if digits is None:
        return _valid(_split_named_date(text)), False
    a, b, c = digits["a"], digits["b"], digits["c"]
    if len(a) == 4:
        return (_valid({"YMD": (a, b, c)}) if len(c) < 3 else {}), False
    if len(a) == 3 or (len(c) < 4 and len(c) != 2):
        return {}, False
    point = digits["mark"].strip() == "."
    orders = {"DMY": (c, b, a)} if point else {"DMY": (c, b, a), "MDY": (c, a, b)}
    if len(c) == 2 and len(a) == 2:
        orders["YMD"] = (a, b, c)
    return _valid(orders), len(c) == 2


def _split_named_date(text: str) -> dict[str, tuple[str, str, str]]:
    """Return day, month and year of a text with the name of one month."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    tokens = re.findall(r"\d+|[^\W\d_]+", plain)
    if re.sub(r"[\w\s.,/\-º°]+", "", plain):
        return {}
    words = [token for token in tokens if not token.isdigit() and token not in _FILLERS]
    numbers = [token for token in tokens if token.isdigit()]
    if len(words) != 1 or len(numbers) != 2 or words[0] not in MONTHS:
        return {}
    month = str(MONTHS[words[0]])
    day, year = (numbers[1], numbers[0]) if len(numbers[0]) == 4 else numbers
    if len(day) > 2 or len(year) not in (2, 4):
        return {}
    return {"DMY": (year, month, day)}


def _valid(orders: Mapping[str, tuple[str, str, str]]) -> dict[str, datetime]:
    found = {}
    for order, (year, month, day) in orders.items():
        # Two digits: 1969 to 2068, as POSIX reads them.
        whole = int(year) if len(year) == 4 else int(year) + (2000 if int(year) < 69 else 1900)
        if FIRST_YEAR <= whole <= LAST_YEAR and 1 <= int(month) <= 12:
            try:
                found[order] = datetime(whole, int(month), int(day))
            except ValueError:
                continue
    return found


@dataclass(slots=True)
class ColumnDates:
    """Evidence of one column's dates about the order of day and month."""

    proof: dict[str, str] = field(default_factory=dict)
    """Order -> a text, with its place, that is a date in this order only."""
    excluded: set[str] = field(default_factory=set)
    """Orders in which some text of the column is no date."""
    unclear: str = ""
    """The first ambiguous text, with its place."""
    unclear_text: str = ""
    _ends: dict[str, set[int]] = field(default_factory=lambda: {"first": set(), "last": set()})
    """The first and the last numbers of texts with a year of two digits."""

    def see(self, text: str, where: str = "") -> None:
        """Add one more text of the column to the evidence."""
        found = date_readings(text)
        if not found.by or re.search(r"[^\W\d_]{4}|^\d{4}-", text):
            return  # the name of a month, or ISO 8601: nothing to decide
        shown = f"`{text.strip()[:40]}`{f' ({where})' if where else ''}"
        self.excluded |= ORDERS.keys() - found.by.keys()
        if len(found.by) == 1:
            self.proof.setdefault(next(iter(found.by)), shown)
        if found.short_year:
            ends = re.findall(r"\d+", text)
            self._ends["first"].add(int(ends[0]))
            self._ends["last"].add(int(ends[2]))
        if found.unclear and not self.unclear:
            self.unclear, self.unclear_text = shown, text

    @property
    def order(self) -> str:
        """The order that the column proves; "" if it proves none, or if its dates contradict one another."""
        possible = set(ORDERS) - self.excluded
        if len(possible) > 1 and self._ends["last"]:
            first, last = (max(self._ends[end]) - min(self._ends[end]) for end in ("first", "last"))
            if last <= 2 and first > 5:
                possible.discard("YMD")
            elif first <= 2 and last > 5:
                possible &= {"YMD"}
        return next(iter(possible)) if len(possible) == 1 else ""

    @property
    def why(self) -> str:
        """The reason for the order, or the reason why it stays ambiguous."""
        if len(self.proof) > 1:
            return f"the column has both {' and '.join(self.proof.values())}"
        if self.proof:
            other = "" if self.order else " in another order"
            return f"the column has {next(iter(self.proof.values()))}{other}"
        return "its years vary least" if self.order else "no other date of the column tells"
