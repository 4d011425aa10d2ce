"""Names in plain Latin letters."""

from __future__ import annotations

import pytest

from worksample.agents import define
from worksample.ascii_names import plain_letters
from worksample.experiments.config_file import name_of
from worksample.tasks.taxonomy import slug


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Logo für", "logo-fur"), ("Łódź, Straße 3", "lodz-strasse-3"), ("Ærø & Øre", "aero-ore"),
        ("naïve café", "naive-cafe"), ("cafe\u0301", "cafe"), ("日本", ""),
        ("Data Extraction/ETL", "data-extraction-etl"),
    ],
)  # fmt: skip
def test_slug_keeps_accented_letters_as_plain_ones(title: str, name: str) -> None:
    assert slug(title) == name
    assert name_of(title) == (name or "experiment")


def test_agents_name_keeps_them_too() -> None:
    assert define(harness="worker", model="local/Größe").name == "worker-grosse"


def test_plain_letters_leave_other_scripts_and_ascii_alone() -> None:
    assert plain_letters("Страница 日本 a-B_c") == "Страница 日本 a-B_c"
