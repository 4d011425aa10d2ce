"""Tables without usual names of columns: guesses are shown, written as a map, and used only when the map is passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from worksample.errors import UsageError
from worksample.files.tables.table_reader import open_table
from worksample.formats.jobs import ImportJobs, import_jobs
from worksample.formats.jobs.column_guesses import guess_columns
from worksample.formats.jobs.column_map import UnclearColumns
from worksample.reports.job_advice import read_list
from worksample.tasks import read_suite

LONG = "with forty pages and pictures and texts that the client sends by mail in the first week"
TABLES = {
    "german": (
        "Auftrag Nr.;Bezeichnung;Leistung;Betrag netto;Std.;Datum;Sachbearbeiter\n"
        f"A-1;Logo;Ein Logo {LONG};1.250,00 €;4h;01.03.2026;Meier\n"
        f"A-2;Katalog;Katalog {LONG};900 €;30;04.03.2026;Kunz\n",
        "contract title description contract_amount hours start -",
    ),
    "french": (
        f"Référence;Intitulé;Descriptif;Montant HT;Durée\nR1;Logo;Un logo {LONG};1 200,50;3h\n"
        f"R2;Site;Un site {LONG};800;2h\n",
        "contract title description contract_amount hours",
    ),
    "spanish": (
        f"Pedido,Título,Descripción,Importe (EUR),Horas\n1,Logo,Un logo {LONG},1200,4\n2,Web,Una web {LONG},300,2\n",
        "contract title description contract_amount hours",
    ),
    "polish": (
        f"Numer;Nazwa;Opis;Kwota;Czas\n1;Logo;Logo {LONG};1200 zł;4\n2;Strona;Strona {LONG};300 zł;2\n",
        "contract title description contract_amount hours",
    ),
    "japanese": (
        f"番号,件名,内容,金額,時間\n1,ロゴ,{LONG} ロゴ,12000円,4時間\n2,サイト,{LONG} サイト,30000円,2時間\n",
        "contract title description contract_amount hours",
    ),
    "chinese": (
        f"编号,标题,描述,金额,工时\n1,标志,{LONG} 标志,1200元,4小时\n2,网站,{LONG} 网站,300元,2小时\n",
        "contract title description contract_amount hours",
    ),
    "russian": (
        f"Номер;Название;Описание;Сумма;Часы\n1;Логотип;{LONG} знак;1200 ₽;4\n2;Сайт;{LONG} сайт;300 ₽;2\n",
        "contract title description contract_amount hours",
    ),
    "unnamed by content": (
        f"a,b,c\n1,A logo {LONG},$120\n2,A page {LONG},$90\n",
        "- description contract_amount",
    ),
    "names that mislead": (
        f"date,amount,name\nten pieces,3.5.2026,A logo {LONG}\nmany,4.5.2026,A page {LONG}\n",
        "- - title",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_columns_are_guessed_by_names_and_cells(tmp_path: Path, name: str) -> None:
    text, expected = TABLES[name]
    path = tmp_path / "jobs.csv"
    path.write_text(text, encoding="utf-8")
    with open_table(path) as opened:
        found = guess_columns(opened.header, opened.rows)
    assert " ".join(guess.field or "-" for guess in found) == expected


def test_unclear_columns_are_answered_with_a_map_that_imports(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    path.write_text(TABLES["german"][0], encoding="utf-8")
    with pytest.raises(UnclearColumns) as refused:
        import_jobs(path, tmp_path / "out", ImportJobs())
    assert refused.value.map == tmp_path / "orders.columns.toml" and not (tmp_path / "out").exists()
    assert "Betrag netto    contract_amount  1.250,00 € | 900 €" in str(refused.value)
    made = import_jobs(path, tmp_path / "out", ImportJobs(mapping=refused.value.map))
    assert len(made.written) == 2 and made.unread == ("Sachbearbeiter",)
    assert {p.about.value.middle for p in read_suite(tmp_path / "out").packages if p.about.value} == {1250, 900}


def test_existing_map_is_kept(tmp_path: Path) -> None:
    path, kept = tmp_path / "orders.csv", tmp_path / "orders.columns.toml"
    path.write_text(TABLES["german"][0], encoding="utf-8")
    kept.write_text("# mine\n")
    with pytest.raises(UnclearColumns, match="an older map stands in"):
        import_jobs(path, tmp_path / "out", ImportJobs())
    assert kept.read_text() == "# mine\n"


def test_jobs_without_ids_are_named_by_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(f"work,price\nA logo {LONG},$120\nA page {LONG},$90\n")
    with pytest.raises(UnclearColumns) as refused:
        import_jobs(path, tmp_path / "out", ImportJobs())
    assert 'ids = "line"' in refused.value.map.read_text()
    made = import_jobs(path, tmp_path / "out", ImportJobs(mapping=refused.value.map))
    jobs = [p.about.job for p in read_suite(tmp_path / "out").packages]
    assert len(made.written) == 2 and sorted(job.contract for job in jobs if job) == ["line-2", "line-3"]


def test_advice_writes_a_map_and_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("Was;Wert;Monatlich;Stunden\nRechnungen;$60;12;1\nLogo;$300;1;5\n")
    with pytest.raises(UnclearColumns) as refused:
        read_list(path)
    listed = read_list(path, mapping=refused.value.map)
    assert [(job.title, job.value, job.monthly, job.hours) for job in listed] == [
        ("Rechnungen", 60, 12, 1), ("Logo", 300, 1, 5),
    ]  # fmt: skip


def test_map_with_hostile_names_and_cells_is_valid_toml(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text('"wo""rk\n[x]",price\n"a\x1b]0;b\x07\n[values]\ncurrency = 1",$12\n"c",$9\n', newline="")
    with pytest.raises(UnclearColumns) as refused:
        import_jobs(path, tmp_path / "out", ImportJobs())
    import tomllib

    told = tomllib.loads(refused.value.map.read_text(encoding="utf-8"))
    assert set(told) <= {"ids", "columns"} and "\x1b" not in str(refused.value)


def test_monthly_is_a_field_of_columns_only(tmp_path: Path) -> None:
    path, mapping = tmp_path / "jobs.csv", tmp_path / "m.toml"
    path.write_text("title,value\na,1\n")
    mapping.write_text("[values]\nmonthly = 3\n")
    with pytest.raises((UsageError, Exception), match="a job has no such field"):
        read_list(path, mapping=mapping)
