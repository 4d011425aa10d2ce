"""Detection of the encoding of a short text that is not UTF-8."""

from __future__ import annotations

import random

import pytest

from worksample.viewing.in_box.text_encoding import decode, encoding

TEXTS = {
    "cp1252": (
        "Name;Straße\nMüller;Hauptstraße 5\n",
        "id;libellé\n1;Été à Genève\n",
        "id,año\n1,niño\n",
        "id;Preis\n1;5 €\n",
        "a “quoted” word — and it’s here",
        "São João, ação",
        "Blåbær på øya\n",
        "temp\n20 °C ± 1\n",
        "¿Qué? ½ £5 §4 a³ m²\n",
        "één “café”… – naïef",
        "Æblegrød €5,–",
        "Hyvää päivää",
        "Þórður át ísinn í gær",
        "La información señala que el niño comió más piñas según el año pasado; ¿cuál será la razón? " * 10,
        "Le rapport présente les résultats de l’année écoulée, déployés à Genève. " * 10,
    ),
    "cp1250": (
        "jméno;město\nJiří Dvořák;Plzeň\n",
        "ťažký kôň; čerešňa",
        "Šibenik; čaša; đak",
        "Zażółć gęślą jaźń, proszę państwa. " * 10,
        "Árvíztűrő tükörfúrógép, köszönöm szépen. " * 10,
    ),
    "cp1251": ("имя;город\nИван;Москва\n",),
    "koi8_r": ("имя;город\nИван Петров приехал в город;Москва\n",),
    "cp1253": ("όνομα;πόλη\nΓιώργος;Αθήνα\n",),
    "cp932": ("名前;都市\n山田太郎;東京\n", "商品名,price\nテレビ,100\n"),
    "gb18030": ("姓名;城市\n王小明;北京\n",),
    "cp949": ("이름;도시\n홍길동;서울\n",),
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts])
def test_short_text_is_read_as_written(name: str, text: str) -> None:
    assert decode(text.encode(name)) == text


def test_bytes_without_text_have_no_encoding() -> None:
    some = random.Random(1)
    assert encoding(some.randbytes(3000)) is None
    assert encoding(bytes(some.randrange(128, 256) for _ in range(3000))) is None
