"""Import of tables of jobs from other tools: rows become packages, or are refused line by line with a reason."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.run_cli import cli, cli_json
from formats.job_rows import ROW, row, write_csv, write_jsonl
from running.profiles import is_quick_run
from worksample.audit.brief_checks import check_brief
from worksample.cli.format_commands import FormatCommands
from worksample.errors import ImportFailed, ManifestError, UsageError
from worksample.files import HashSink
from worksample.formats.jobs import ImportJobs, import_jobs
from worksample.formats.jobs.column_map import UnclearColumns
from worksample.formats.jobs.job_package import FILE_LIMIT
from worksample.formats.jobs.posting import category_of
from worksample.records import ContractType, Importance, Job, Protocol
from worksample.tasks import ingest, read_package, read_suite
from worksample.tasks.taxonomy import categories, lookup

UPBENCH = ImportJobs(preset="upbench")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "style.txt").write_text("Short sentences.")
    return tmp_path


def test_every_column_of_the_paper_is_imported(folder: Path) -> None:
    made = import_jobs(write_csv(folder / "projects.csv", [ROW]), folder / "out", UPBENCH)
    package = read_package(folder / "out" / made.written[0])
    job, value = package.about.job, package.about.value
    assert job is not None and value is not None
    assert (job.contract, job.job_amount, job.contract_amount, job.milestone_amount) == ("c-1001", 150, 1200.5, None)
    assert job.start is not None and job.end is not None
    assert (job.start.isoformat(), job.end.isoformat()) == ("2025-01-02T08:00:00+00:00", "2025-01-09T17:30:00+00:00")
    assert (job.category, job.subcategory, job.subsubcategory) == ("Writing", "Content Writing", "Article Writing")
    assert (job.openings, job.milestones, job.automation_desire) == (1, 1, 3.5)
    assert (job.onet_tasks, job.attachments) == (("Write copy",), ("style.txt",))
    assert (job.type, job.payment_verified, job.expertise) == (ContractType.FIXED, True, "Intermediate")
    assert (value.middle, value.currency, value.date.isoformat()) == (1200.5, "USD", "2025-01-09")
    assert package.about.category == "upwork:writing/content-writing"
    assert [c.importance for c in package.criteria.leaves] == [
        Importance.CRITICAL, Importance.IMPORTANT, Importance.PITFALL,
    ]  # fmt: skip
    assert {c.by.value for c in package.criteria.leaves} == {"person"}
    assert (package.root / "inputs" / "style.txt").read_text() == "Short sentences."
    assert read_suite(folder / "out").visibility == "private"


def test_excluded_jobs_are_counted_by_reason(folder: Path) -> None:
    rows = [
        row(),
        row(contract_id="2", status="Cancelled"),
        row(contract_id="3", contract_type="Hourly"),
        row(contract_id="4", num_milestones="3"),
        row(contract_id="5", payment_verified="no", contract_type="hourly"),
    ]
    table = write_csv(folder / "jobs.csv", rows)
    made = import_jobs(table, folder / "paper", UPBENCH)
    assert made.left_out == {"completed": 1, "payment-verified": 1, "fixed-price": 1, "single-milestone": 1}
    assert (made.rows, len(made.written)) == (5, 1)
    everything = import_jobs(table, folder / "all", ImportJobs())
    tags = {p.about.job.contract: p.about.tags for p in read_suite(folder / "all").packages if p.about.job}
    assert (len(everything.written), tags["3"], tags["4"]) == (5, ("hourly",), ("several-milestones",))


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "negative hours": ({"hours": "-3"}, "hours: is below 0"),
    "a formula": ({"contract_amount": "=A1*2"}, "contract_amount: is a formula"),
    "no number": ({"contract_amount": "forty"}, "'forty' is not a number; write it as 1200"),
    "infinite": ({"contract_amount": "inf"}, "is not a number"),
    "no description": ({"job_description": " "}, "no description"),
    "no id": ({"contract_id": ""}, "no id"),
    "ends before it starts": ({"end_ts": "2024-01-01"}, "before it starts"),
    "a date of another land": ({"start_ts": "03/04/2025"}, "is 2025-04-03 or 2025-03-04, and no other date"),
    "a missing attachment": ({"attachments": "gone.pdf"}, "'gone.pdf': no such file"),
    "an attachment elsewhere": ({"attachments": "../../etc/passwd"}, "is outside the folder of"),
    "an attachment on the web": ({"attachments": "https://example.com/a.pdf"}, "is a web address"),
    "a folder as attachment": ({"attachments": "sub"}, "'sub': is a directory"),
    "a link as attachment": ({"attachments": "link.txt"}, "'link.txt': too many levels"),
    "a rubric of another form": ({"acceptance_criteria": "Looks good"}, "line 1 is not"),
    "currencies mixed": (
        {"contract_amount": "€900", "job_amount": "GBP 800"},
        "amounts name several currencies: EUR, GBP",
    ),
    "broken JSON": ({"onet_tasks": "[1, 2"}, "is not valid JSON"),
    "another kind of contract": ({"contract_type": "barter"}, "neither fixed nor hourly"),
    "the same id again": ({"contract_id": "c-1001"}, "is already used in line 2"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faulty_row_is_named_and_nothing_is_written(folder: Path, name: str) -> None:
    changes, said = FAULTS[name]
    (folder / "sub").mkdir()
    (folder / "link.txt").symlink_to("style.txt")
    table = write_csv(folder / "jobs.csv", [{**ROW, "hours": ""}, {**ROW, "hours": "", "contract_id": "2", **changes}])
    with pytest.raises(ImportFailed, match="1 of 2 jobs have errors") as caught:
        import_jobs(table, folder / "out", ImportJobs())
    # The rubric of three lines takes the first job to line 4 of the file.
    assert "line 5: " in str(caught.value) and said in str(caught.value)
    assert not (folder / "out").exists()
    made = import_jobs(table, folder / "out", ImportJobs(skip_faulty=True))
    assert (len(made.written), list(made.faults)) == (1, ["line 5"])


@pytest.mark.parametrize(
    ("encoding", "mark"), [("utf-8", ","), ("utf-8-sig", ";"), ("utf-16", "\t"), ("cp1252", ";"), ("cp1251", ",")]
)
def test_table_is_read_in_its_own_encoding(folder: Path, encoding: str, mark: str) -> None:
    said = "Переведите это описание товара на литературный язык, пожалуйста" if encoding == "cp1251" else (
        "Übersetzung für ein Café: höfliche Sätze über Öl, naïve Gäste und große Straßen"
    )  # fmt: skip
    rows = [row(contract_id=str(n), job_description=said, attachments="") for n in range(8)]
    table = write_csv(folder / ("t.tsv" if mark == "\t" else "t.csv"), rows, encoding=encoding, mark=mark)
    config = ImportJobs()
    if encoding.startswith("cp"):
        with pytest.raises(ImportFailed, match="not UTF-8"):
            import_jobs(table, folder / "out", config)
        config = ImportJobs(encoding=encoding)
    made = import_jobs(table, folder / "out", config)
    assert len(made.written) == 8
    assert said in (folder / "out" / made.written[0] / "brief.md").read_text()


def test_all_forms_of_a_table_make_the_same_packages(folder: Path) -> None:
    rows = [row(), row(contract_id="2", contract_amount="90", attachments="")]
    tables = [write_csv(folder / "a.csv", rows), write_jsonl(folder / "a.jsonl", rows)]
    (folder / "a.json").write_text(json.dumps({"jobs": rows}))
    pl.DataFrame(rows).write_parquet(folder / "a.parquet")
    found = []
    for table in (*tables, folder / "a.json", folder / "a.parquet"):
        out = folder / f"out{table.suffix}"
        import_jobs(table, out, UPBENCH)
        found.append([(p.id, p.about.replaced(provenance=""), p.criteria) for p in read_suite(out).packages])
    assert all(f == found[0] for f in found) and len(found[0]) == 2


def test_mapping_file_names_a_firms_columns(folder: Path) -> None:
    table = write_csv(folder / "list.csv", [{"Nr": "7", "Was": "Rechnung prüfen", "Wert": "1200,50", "Std": "2"}])
    mapping = folder / "map.toml"
    mapping.write_text(
        'columns = {contract="Nr", description="Was", contract_amount="Wert"}\nvalues = {currency="EUR"}'
    )
    made = import_jobs(table, folder / "out", ImportJobs(mapping=mapping))
    package = read_package(folder / "out" / made.written[0])
    assert package.about.value is not None
    assert (package.about.value.middle, package.about.value.currency, made.unread) == (1200.5, "EUR", ("Std",))
    # An amount names its currency itself, too; a bare $ beside another dollar's code is that one.
    for n, (cell, code, kept) in enumerate(
        (("€1,200", "", "EUR"), ("1200 GBP", "gbp", "GBP"), ("$1200", "CAD", "CAD"))
    ):
        rows = [{"id": f"j{n}", "brief": "Write.", "value": cell, "currency": code}]
        made = import_jobs(write_csv(folder / f"{n}.csv", rows), folder / f"out-{n}", ImportJobs())
        value = read_package(folder / f"out-{n}" / made.written[0]).about.value
        assert value is not None and (value.middle, value.currency) == (1200, kept)
        assert made.foreign == {kept: 1}
    mapping.write_text('columns = {contract="Nummer", descripton="Was"}\nvalues = {hours = "two"}')
    with pytest.raises(ManifestError) as caught:
        import_jobs(table, folder / "out", ImportJobs(mapping=mapping))
    assert "no column 'Nummer'" in str(caught.value) and "did you mean 'description'" in str(caught.value)
    assert "'two' is not a number" in str(caught.value)


def test_jobs_priced_in_other_currencies_are_reported(folder: Path) -> None:
    codes = ("XYZ", "EUR", "EUR", "USD", "")
    rows = [{"id": str(n), "brief": "Write.", "value": "10", "currency": code} for n, code in enumerate(codes)]
    table = write_csv(folder / "list.csv", [*rows, {"id": "free", "brief": "Write.", "value": "", "currency": "JPY"}])
    made = CliRunner().invoke(FormatCommands("import")["jobs"].load(), [str(table), str(folder / "out")])
    assert "priced in a currency other than US dollars: 2 in EUR, 1 in XYZ; they are left out of" in made.output
    assert "without a price: 1;" in made.output


def test_interrupted_import_continues(folder: Path) -> None:
    rows = [row(contract_id=str(n), attachments="") for n in range(3)]
    import_jobs(write_csv(folder / "jobs.csv", rows[:2]), folder / "out", ImportJobs())
    kept = sorted(p.stat().st_mtime_ns for p in (folder / "out").rglob("task.toml"))
    made = import_jobs(write_csv(folder / "jobs.csv", rows), folder / "out", ImportJobs())
    assert (len(made.written), made.there) == (1, 2)
    assert set(kept) < {p.stat().st_mtime_ns for p in (folder / "out").rglob("task.toml")}
    assert len(import_jobs(folder / "jobs.csv", folder / "out", ImportJobs(overwrite=True)).written) == 3


def test_accented_title_names_its_package_and_older_name_is_kept(folder: Path) -> None:
    jobs = write_csv(folder / "jobs.csv", [row(contract_id="7", job_title="Logo für Łódź", attachments="")])
    made = import_jobs(jobs, folder / "out", ImportJobs())
    assert made.written == ("logo-fur-lodz-7",)
    (folder / "out" / "logo-fur-lodz-7").rename(folder / "out" / "logo-f-r-d-7")
    assert import_jobs(jobs, folder / "out", ImportJobs()).there == 1
    assert [p.parent.name for p in (folder / "out").glob("*/task.toml")] == ["logo-f-r-d-7"]
    other = write_csv(folder / "jobs.csv", [row(contract_id="8", job_title="Logo für Łódź", attachments="")])
    assert import_jobs(other, folder / "out", ImportJobs()).written == ("logo-fur-lodz-8",)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"contract_amount": "1e44"}, "contract_amount: 1e+44 is more than 100,000,000 USD"),
        ({"job_amount": "100000001"}, "job_amount: 100,000,001 is more than 100,000,000 USD"),
        ({"job_amount": "9e13", "contract_amount": "", "currency": "VND"}, "is more than 10,000,000,000,000 VND"),
        ({"hours": "1e7"}, "hours: 10,000,000 is more than 1,000,000 hours"),
    ],
)
def test_impossible_price_is_a_fault_of_its_row(changes: dict[str, str], said: str, folder: Path) -> None:
    with pytest.raises(ImportFailed) as caught:
        import_jobs(write_csv(folder / "jobs.csv", [row(attachments="", **changes)]), folder / "out", ImportJobs())
    assert said in caught.value.faults["line 2"]
    yens = row(attachments="", job_amount="2e9", contract_amount="", currency="JPY")
    assert import_jobs(write_csv(folder / "jobs.csv", [yens]), folder / "out", ImportJobs()).written


def test_gdpval_table_is_imported_with_rubric_and_files(folder: Path) -> None:
    (folder / "reference_files" / "ab").mkdir(parents=True)
    (folder / "reference_files" / "ab" / "Ledger.xlsx").write_bytes(b"PK")
    (folder / "deliverable_files").mkdir()
    (folder / "deliverable_files" / "Answer.xlsx").write_bytes(b"PK")
    rubric = [
        {"rubric_item_id": "1", "criterion": "Delivers one workbook", "score": 2, "required": True},
        {"rubric_item_id": "2", "criterion": "Invents an account", "score": -5, "required": False},
    ]
    pl.DataFrame([{
        "task_id": "7d7fc9a7-21a7-4b83-906f-416dea5ad04f", "sector": "Finance and Insurance",
        "occupation": "Accountants and Auditors", "prompt": "You are an auditor.\nAmortise the prepaid expenses.",
        "reference_files": ["reference_files/ab/Ledger.xlsx"], "deliverable_files": ["deliverable_files/Answer.xlsx"],
        "rubric_json": json.dumps(rubric),
    }]).write_parquet(folder / "gdpval.parquet")  # fmt: skip
    made = import_jobs(folder / "gdpval.parquet", folder / "out", ImportJobs(preset="gdpval"))
    package = read_package(folder / "out" / made.written[0])
    assert set(package.gradings) == {Protocol.RUBRIC, Protocol.HOLISTIC}
    assert [(c.points, c.importance) for c in package.criteria.leaves] == [(2, None), (None, Importance.PITFALL)]
    assert {p.name for p in (package.root / "inputs").iterdir()} == {"Ledger.xlsx"}
    assert {p.name for p in (package.root / "reference").iterdir()} == {"Answer.xlsx"}
    assert package.about.job is not None and package.about.job.subcategory == "Accountants and Auditors"


def test_project_folders_are_imported_with_the_humans_deliverable(folder: Path) -> None:
    project = folder / "projects" / "p1"
    for name, text in {
        "brief.md": "Draw it.",
        "inputs/a/plan.txt": "x",
        "human_deliverable/drawing.svg": "<svg/>",
    }.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    (project / "metadata.json").write_text('{"title": "A drawing", "contract_amount": 250, "hours": 4}')
    (folder / "projects" / "p2").mkdir()
    made = import_jobs(folder / "projects", folder / "out", ImportJobs(skip_faulty=True))
    package = read_package(folder / "out" / made.written[0])
    assert (package.title, list(package.gradings), made.faults) == (
        "A drawing", [Protocol.HOLISTIC], {"line 2": "no description"},
    )  # fmt: skip
    assert (package.root / "reference" / "drawing.svg").is_file()
    assert package.about.hours is not None and package.about.hours.middle == 4


@settings(max_examples=40, deadline=None)
@given(
    said=st.text(min_size=1, max_size=300).filter(lambda t: t.strip()), title=st.text(max_size=150),
    contract=st.text(min_size=1, max_size=60).filter(lambda t: t.strip()), category=st.text(max_size=40),
    amount=st.one_of(st.none(), st.floats(0, 1e9)), tags=st.lists(st.text(max_size=20), max_size=3),
)  # fmt: skip
def test_random_job_gives_a_valid_package_or_a_named_fault(
    tmp_path_factory: pytest.TempPathFactory, said: str, title: str, contract: str, category: str,
    amount: float | None, tags: list[str],
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("jobs")
    one = {"contract": contract, "title": title, "description": said, "category": category, "contract_amount": amount,
           "tags": tags}  # fmt: skip
    made = import_jobs(write_jsonl(folder / "t.jsonl", [one]), folder / "out", ImportJobs(skip_faulty=True))
    assert made.rows == len(made.written) + len(made.faults) == 1
    for name in made.written:
        package = read_package(folder / "out" / name)
        assert package.instances[0].brief == (folder / "out" / name / "brief.md").read_text()
        instance = ingest(package, HashSink()).instances[0]
        assert not [f for f in check_brief(instance) if "not filled" in f.what]


def test_command_reports_the_outcome_of_rows(folder: Path) -> None:
    rows = [row(note="x"), row(contract_id="2", contract_type="hourly", note="x")]
    table = write_csv(folder / "jobs.csv", rows)
    made = cli_json("import", "upbench", table, folder / "out")
    assert (made["rows"], made["left_out"], made["unread"]) == (2, {"fixed-price": 1}, ["note"])
    again = cli("import", "jobs", table, folder / "more", "--filter", "paid")
    assert again.returncode != 0 and "there is no filter 'paid'" in again.stderr


def test_wrong_option_values_are_reported(folder: Path) -> None:
    with pytest.raises(UsageError, match="no encoding 'ebcdic-9'"):
        import_jobs(folder, folder / "out", ImportJobs(encoding="ebcdic-9"))
    with pytest.raises(UsageError, match=r"(?s)no such file.*next: ls "):
        import_jobs(folder / "none.csv", folder / "out", ImportJobs())
    (folder / "jobs.ods").write_bytes(b"PK")
    with pytest.raises(UsageError, match="save it as"):
        import_jobs(folder / "jobs.ods", folder / "out", ImportJobs())
    (folder / "broken.parquet").write_bytes(b"PAR1")
    with pytest.raises(ImportFailed, match=r"(?s)not valid Parquet.*next: correct the file"):
        import_jobs(folder / "broken.parquet", folder / "out", ImportJobs())
    (folder / "twice.csv").write_text("id,id\n1,2\n")
    with pytest.raises(ImportFailed, match="occurs twice"):
        import_jobs(folder / "twice.csv", folder / "out", ImportJobs())


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "a.csv",
            "id,title\n1,one,more\n",
            "line 2: has more cells than the header: 3, not 2.*put cells that hold the",
        ),
        ("a.csv", 'id,title\n1,"one\n', "line 2: .*next: correct the file, then run the same command again"),
        ("a.jsonl", '{"id": "1"}\n{\n', "line 2: is not JSON.*next: correct them, or leave them"),
        ("a.json", "[", "not valid JSON.*next: correct the file, then"),
        ("one/metadata.json", "{", "line 1: one/metadata.json is not JSON.*next: correct them, or leave"),
        ("one/metadata.json", "[]", "one/metadata.json does not hold a JSON object.*next: correct them"),
    ],
)
def test_broken_table_error_names_file_and_next_step(name: str, text: str, said: str, tmp_path: Path) -> None:
    table = tmp_path / name
    table.parent.mkdir(exist_ok=True)
    table.write_text(text)
    with pytest.raises(ImportFailed, match=f"(?s){said}"):
        import_jobs(table if table.parent == tmp_path else tmp_path, tmp_path / "out", ImportJobs())


def test_category_names_of_the_paper_are_known() -> None:
    """UpBench 3.1 has eight categories in Upwork's spelling; our own tables use our names."""
    paper = (
        "Accounting & Consulting", "Admin Support", "Data Science & Analytics", "Engineering & Architecture",
        "Sales & Marketing", "Translation", "Web, Mobile & Software Development", "Writing",
    )  # fmt: skip
    found = [category_of(Job(contract="1", category=name, subcategory="Something new")) for name in paper]
    assert all(id.startswith("upwork:") and "/" not in id for id in found) and len(set(found)) == len(paper)
    for one in categories("upwork"):
        names = (lookup(one.parent).title, one.title) if one.parent else (one.title, "")
        assert category_of(Job(contract="1", category=names[0], subcategory=names[1])) == one.id


def test_foreign_spreadsheet_with_formulas_is_read_or_refused_by_cell(folder: Path) -> None:
    """The table is in cp1252 with semicolons. A formula in a text stays text; a formula instead of an amount is a
    fault.
    """
    said = '=HYPERLINK("http://x.example";"Größe prüfen")'
    rows = [
        row(contract_id="=1+1", job_title="@SUM(A1)", job_description=said, contract_amount="1200,50"),
        row(contract_id="2", contract_amount="=B2*2"),
        row(contract_id="3", hours="=NOW()"),
    ]
    rows = [{"hours": "", **one} for one in rows]
    table = write_csv(folder / "t.csv", rows, encoding="cp1252", mark=";")
    with pytest.raises(ImportFailed, match="not UTF-8"):
        import_jobs(table, folder / "out", ImportJobs())
    made = import_jobs(table, folder / "out", ImportJobs(encoding="cp1252", skip_faulty=True))
    assert len(made.faults) == 2 and all(
        "is a formula; save the table with its values" in f for f in made.faults.values()
    )
    [name] = made.written
    package = read_package(folder / "out" / name)
    assert package.about.job is not None and package.about.job.contract == "=1+1"
    assert (package.title, package.instances[0].brief.count(said)) == ("@SUM(A1)", 1)
    assert package.about.value is not None and package.about.value.middle == 1200.5


def test_huge_attachment_is_refused_unread_or_listed_as_missing(folder: Path) -> None:
    with (folder / "film.mov").open("wb") as file:
        file.truncate(FILE_LIMIT + 1)
    table = write_csv(folder / "t.csv", [row(attachments="style.txt;film.mov")])
    with pytest.raises(ImportFailed, match=r"film\.mov' has more than 2 GiB"):
        import_jobs(table, folder / "out", ImportJobs())
    made = import_jobs(table, folder / "out", ImportJobs(missing=True))
    package = read_package(folder / "out" / made.written[0])
    assert [p.name for p in (package.root / "inputs").iterdir()] == ["style.txt"]
    assert package.about.job is not None and package.about.job.attachments == ("style.txt", "film.mov")


def test_memory_does_not_grow_with_the_number_of_rows(folder: Path) -> None:
    """`benchmarks/jobs_import.py` measures a million jobs; this test compares a table with one ten times as long."""
    peaks = []
    short, long = (100, 1_000) if is_quick_run() else (300, 3_000)
    for rows in (short, long):
        many = [row(contract_id=str(n), status="open", attachments="") for n in range(rows)]
        many.append(row(contract_id="done", attachments=""))
        table = write_csv(folder / f"{rows}.csv", many)
        tracemalloc.start()
        made = import_jobs(table, folder / f"out-{rows}", UPBENCH)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert (made.rows, made.left_out, len(made.written)) == (rows + 1, {"completed": rows}, 1)
    # What grows is the set of ids; a row that is kept takes 2.8 kB.
    assert peaks[1] - peaks[0] < (long - short) * 1_000


def test_jobs_with_the_same_name_get_two_packages(folder: Path) -> None:
    """Both packages are written in any order of the jobs, also if one of them was imported alone before."""
    one, other = row(job_title="Draw a", contract_id="b-1"), row(job_title="Draw", contract_id="a-b-1")
    first = import_jobs(write_csv(folder / "one.csv", [other]), folder / "out", ImportJobs())
    both = import_jobs(write_csv(folder / "both.csv", [one, other]), folder / "out", ImportJobs())
    assert (len(first.written), len(both.written), both.there) == (1, 1, 1)
    assert first.written == ("draw-a-b-1",) and both.written[0].startswith("draw-a-b-1-")
    again = import_jobs(write_csv(folder / "turned.csv", [other, one]), folder / "out", ImportJobs())
    assert (again.written, again.there) == ((), 2)
    ids = {read_package(p).about.job.contract for p in (folder / "out").iterdir() if p.is_dir()}  # type: ignore[union-attr]
    assert ids == {"b-1", "a-b-1"}


def test_unreadable_row_stops_no_other_if_faulty_rows_are_skipped(folder: Path) -> None:
    (folder / "t.csv").write_text("id,description,amount\n1,Draw,a logo,9\n2,Write,8\n", encoding="utf-8")
    (folder / "t.jsonl").write_text('{"id": "1"\n[]\n{"id": "2", "description": "Write"}\n', encoding="utf-8")
    for name in ("one", "two"):
        (folder / "rli" / name).mkdir(parents=True)
        (folder / "rli" / name / "brief.md").write_text("Draw")
    (folder / "rli" / "one" / "metadata.json").write_text("{")
    for n, (source, faults) in enumerate((("t.csv", 1), ("t.jsonl", 2), ("rli", 1))):
        made = import_jobs(folder / source, folder / f"out{n}", ImportJobs(skip_faulty=True))
        assert (len(made.written), len(made.faults)) == (1, faults), source


def test_stray_desktop_files_are_not_inputs(folder: Path) -> None:
    project = folder / "rli" / "one"
    for name in ("inputs/a.txt", "inputs/.DS_Store", "inputs/__MACOSX/._a.txt", "human_deliverable/Thumbs.db"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("x")
    (project / "brief.md").write_text("Draw")
    [name] = import_jobs(folder / "rli", folder / "out", ImportJobs()).written
    assert [p.name for p in (folder / "out" / name / "inputs").rglob("*")] == ["a.txt"]
    assert not [*(folder / "out" / name / "reference").iterdir()]


def test_table_without_id_column_is_refused_with_its_columns(folder: Path) -> None:
    table = write_csv(folder / "orders.csv", [{"Order": n, "What": "a logo", "Net": "12.50"} for n in range(300)])
    for skip in (False, True):
        with pytest.raises(
            UnclearColumns, match=r"no column is named as one for `contract` .* and `description`"
        ) as caught:
            import_jobs(table, folder / "out", ImportJobs(skip_faulty=skip))
        assert "  What   description      a logo" in str(caught.value) and "line 2" not in str(caught.value)
    assert not (folder / "out").exists()
    mapping = folder / "map.toml"
    mapping.write_text('[columns]\ncontract = "Order"\n[values]\ndescription = "The same for each"\n')
    assert len(import_jobs(table, folder / "out", ImportJobs(mapping=mapping)).written) == 300
