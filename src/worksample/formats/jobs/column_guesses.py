"""Guesses about the columns of a table, from their names in several languages and from their cells.

A guess is never used by itself: it is shown with examples and written as a map, which the user reads and passes back.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from worksample.files.tables import cell_values as cells
from worksample.files.tables.dates import date_readings
from worksample.files.tables.intervals import Quantity, UnreadQuantity, quantities
from worksample.files.tables.table_reader import FaultyRow

LOOKED_AT = 1_000
"""Number of rows whose cells a guess rests on."""
EXAMPLE = 40
"""Maximum characters of an example."""
ENOUGH = 0.8
"""Share of a column's filled cells that must have a field's form."""

_NAMES: dict[str, str] = {
    "contract": "id nr no number num ref reference order auftrag auftragsnummer ticket key code numéro commande número "
    "pedido ordine numer zlecenie zamówienie номер заказ "
    "番号 编号 رقم job_no order_no case",
    "title": "title name subject headline betreff titel bezeichnung titre intitulé sujet objet título asunto titolo "
    "oggetto tytuł nazwa onderwerp название тема 件名 タイトル 标题 名称 عنوان task job position",
    "description": "description brief details text work scope beschreibung aufgabe leistung descripción "
    "descrição descrizione descriptif besoin opis omschrijving beskrivning описание задача 説明 "
    "内容 描述 说明 وصف was what",
    "category": "category kategorie catégorie categoría categoria kategoria categorie area department abteilung "
    "bereich service категория カテゴリ 类别 فئة",
    "contract_amount": "amount price value fee cost budget pay total preis betrag honorar wert summe prix montant "
    "coût precio importe valor preço prezzo importo cena kwota prijs bedrag pris belopp цена сумма стоимость "
    "金額 価格 价格 金额 سعر المبلغ rate",
    "currency": "currency währung devise moneda moeda valuta waluta валюта 通貨 货币 عملة",
    "hours": "hours hrs time effort duration stunden std dauer aufwand zeit heures durée horas duración ore durata "
    "godziny czas uren tid timmar часы время 時間 小时 工时 ساعات",
    "start": "start begin from beginn anfang début inicio início inizio początek начало 開始 开始 posted created date "
    "datum fecha data дата 日付 日期 تاريخ",
    "end": "end finished completed delivered due ende fertig fin fini entrega fine koniec конец 終了 结束 deadline "
    "abgabe lieferdatum",
    "monthly": "monthly per_month times_a_month a_month how_often frequency count monatlich mensuel mensual mensile "
    "miesięcznie maandelijks 毎月 每月",
    "attachments": "attachments files inputs material anhang anhänge dateien fichiers pièces archivos adjuntos "
    "arquivos allegati załączniki bijlagen файлы 添付 附件 مرفقات",
    "reference": "deliverables deliverable result output delivered_files ergebnis lieferung livrable entregable "
    "risultato wynik результат 成果物 交付物",
}
"""Field -> words that name its column, lower case. They are compared after dots, dashes and brackets are removed."""


def _fold(text: str) -> str:
    """Return a text in lower case without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))


_WORDS = {field: frozenset(_fold(words).split()) for field, words in _NAMES.items()}
_FILE = re.compile(r"[^\s,;|]+\.[A-Za-z0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class ColumnGuess:
    """A column of a table, and the field of a job that it probably holds."""

    column: str
    field: str
    """A field of a job, or `monthly`; "" if none fits."""
    examples: tuple[str, ...]
    """Up to two cells."""
    why: str
    """What the guess rests on: the column's name, its cells, or both."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """Facts about a column's cells: share of filled cells that have each form."""

    filled: int
    distinct: float
    length: float
    number: float
    money: float
    hours: float
    date: float
    file: float

    @property
    def worded(self) -> bool:
        return self.filled > 0 and max(self.number, self.date, self.file) < ENOUGH


def guess_columns(header: Sequence[str], rows: Iterable[tuple[int, Mapping[str, Any]]]) -> tuple[ColumnGuess, ...]:
    """Guess what each column of a table holds, in the table's order. At most one column per field.

    rows: (line, row); the first `LOOKED_AT` are read.
    """
    looked = [row for _, row in islice(rows, LOOKED_AT) if not isinstance(row, FaultyRow)]
    cells_of = {name: [row.get(name) for row in looked if not cells.is_blank(row.get(name))] for name in header}
    seen = {name: _look(found) for name, found in cells_of.items()}
    ranked = sorted(
        ((_score(field, name, seen[name]), -n, field, name) for n, name in enumerate(header) for field in _NAMES),
        reverse=True,
    )
    chosen: dict[str, tuple[str, str]] = {}
    for (by_name, by_cells), _, field, name in ranked:
        if by_name + by_cells >= 2 and name not in chosen and field not in {f for f, _ in chosen.values()}:
            why = " and ".join(
                word for word, counts in (("its name", by_name > 0), ("its cells", by_cells > 0)) if counts
            )
            chosen[name] = field, why
    found = [(name, *chosen.get(name, ("", ""))) for name in header]
    return tuple(ColumnGuess(name, field, _examples(cells_of[name]), why) for name, field, why in found)


def _words_of(name: str) -> list[str]:
    return [word for word in re.split(r"[\W_]+", _fold(name)) if word]


def _score(field: str, name: str, seen: _Seen) -> tuple[float, float]:
    """Return how well a column's name and its cells suit a field; (-9, 0) if the cells cannot be that field."""
    words = _words_of(name)
    by_name = 0.0
    if words and ((len(words) == 1 and words[0] in _WORDS[field]) or "_".join(words) in _WORDS[field]):
        by_name = 3.0
    elif any(word in _WORDS[field] for word in words):
        by_name = 2.0
    by_cells = _suits(field, seen)
    return (by_name, by_cells) if by_cells >= 0 else (-9.0, 0.0)


def _suits(field: str, seen: _Seen) -> float:
    """Return 2 if the cells alone show the field, 0.5 if they suit it, and -1 if they contradict it."""
    fits = {
        "contract": (seen.distinct == 1 and seen.length <= 40 and seen.date < ENOUGH and seen.money == 0, False),
        "title": (seen.worded and seen.length <= 200, False),
        "description": (seen.worded, seen.length > 60 and seen.distinct > 0.5),
        "category": (seen.worded and seen.length <= 80, False),
        "contract_amount": (seen.number >= ENOUGH, seen.money >= 0.5),
        "currency": (seen.worded and seen.length <= 5, False),
        "hours": (seen.hours >= ENOUGH and seen.money == 0, seen.hours >= ENOUGH and seen.number < 0.5),
        "monthly": (seen.number >= ENOUGH and seen.money == 0, False),
        "start": (seen.date >= ENOUGH, False),
        "end": (seen.date >= ENOUGH, False),
        "attachments": (seen.worded or seen.file >= ENOUGH, False),
        "reference": (seen.worded or seen.file >= ENOUGH, False),
    }
    suits, shows = fits[field]
    if not seen.filled or not suits:
        return -1.0 if seen.filled else 0.0
    return 2.0 if shows else 0.5


def _look(found: Sequence[Any]) -> _Seen:
    texts = [str(cell).strip() for cell in found]
    n = max(len(found), 1)

    def share(test: Any) -> float:
        return sum(bool(test(cell)) for cell in found) / n

    return _Seen(
        filled=len(found),
        distinct=len(set(texts)) / n,
        length=sum(map(len, texts)) / n,
        number=share(lambda cell: _quantity(cell, Quantity.MONEY) is not None),
        money=share(lambda cell: bool(_quantity(cell, Quantity.MONEY))),
        hours=share(lambda cell: _quantity(cell, Quantity.HOURS) is not None),
        date=share(_is_date),
        file=share(lambda cell: isinstance(cell, list) or bool(_FILE.fullmatch(str(cell).strip()))),
    )


def _quantity(cell: Any, kind: Quantity) -> str | None:
    """Return the currency of a cell with an amount, "" if it names none, and None if it has no amount."""
    if isinstance(cell, bool):
        return None
    if isinstance(cell, int | float):
        return str(getattr(cell, "currency", ""))
    if not isinstance(cell, str):
        return "" if kind is Quantity.HOURS and hasattr(cell, "total_seconds") else None
    try:
        found = quantities(cell.strip(), kind)
    except UnreadQuantity:
        return None
    return found.currency if found is not None else None


def _is_date(cell: Any) -> bool:
    return hasattr(cell, "year") or (isinstance(cell, str) and len(cell) <= 60 and bool(date_readings(cell.strip()).by))


def _examples(found: Sequence[Any]) -> tuple[str, ...]:
    texts = dict.fromkeys(" ".join(str(cell).split()) for cell in found)
    return tuple(text if len(text) <= EXAMPLE else text[: EXAMPLE - 1] + "…" for text in islice(texts, 2))
