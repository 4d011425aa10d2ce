"""Description of a suite's content, compared with a market sample."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from store import worlds
from worksample.cli.commands.suite import describe_command as command
from worksample.errors import UsageError
from worksample.records import Entry, Manifest
from worksample.reports.suite_description import DescribeConfig, census_of, description_of, grader_forms, read_market
from worksample.reports.suite_description.census import file_type
from worksample.reports.suite_description.project_classes import WorkClass, work_class


def test_shipped_suite_is_described_beside_a_market(tmp_path: Path) -> None:
    market = tmp_path / "market.csv"
    market.write_text(
        "Category,Dollars,Hours,Count\nWriting,120,5,3\nupwork:design-creative/branding-logo-design,90,,1\n"
    )
    out = tmp_path / "out"
    done = CliRunner().invoke(command, ["starter", "--market", str(market), "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)
    tables = {t["id"]: t for t in told["tables"]}
    assert (told["instances"], told["tasks"], told["market"]["jobs"]) == (24, 12, 4)
    rows = {r[0]: r[1:] for r in tables["categories"]["rows"]}
    assert rows["upwork:writing"] == ["0", "0.0 %", "3", "75.0 %"]
    assert rows["upwork:design-creative/branding-logo-design"] == ["2", "8.3 %", "1", "25.0 %"]
    assert "75.0 % of the sample's jobs are in a category that the suite lacks." in tables["categories"]["notes"]
    assert tables["amounts"]["rows"][0][1] == "0 of 24"
    assert ["US dollars, market", "4 of 4", "90.00", "120.00", "112.50", "120.00", "450.00"] in tables["amounts"][
        "rows"
    ]
    assert "gate_and_score" in {r[0] for r in tables["graders"]["rows"]}
    assert told["correlation"]["value"] is None
    assert told["correlation"]["reason"]
    assert json.loads((out / "describe.json").read_text())["tables"] == told["tables"]
    assert (out / "plots" / "files.png").is_file()


def test_illustrative_figures_count_only_on_request() -> None:
    census = census_of("s", [worlds.instance_of("may"), worlds.instance_of("june")], lambda _: Manifest(entries=()))
    for asked, known in ((False, "0 of 2"), (True, "2 of 2")):
        tables = {t.id: t for t in description_of(census, DescribeConfig(illustrative=asked)).tables}
        assert tables["amounts"].rows[0][1] == known
        assert any("illustrative" in note for note in tables["amounts"].notes)


def test_file_types_count_instances_and_files() -> None:
    files = Manifest(entries=tuple(Entry(path=p, size=0, blob="0" * 64) for p in ("a.PNG", "b.png", "read")))
    census = census_of("s", [worlds.instance_of("may")], lambda _: files)
    table = next(t for t in description_of(census, DescribeConfig()).tables if t.id == "files")
    assert ("png", "1", "1", "0") in table.rows
    assert ("(none)", "1", "1", "0") in table.rows
    assert "inputs: 3.0 files per instance, 2 types in all." in table.notes
    assert file_type(b"\xff.T\xffar") == "t\ufffdar"


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        ("upwork:web-mobile-software-dev/web-development", WorkClass.SOFTWARE),
        ("upwork:web-mobile-software-dev/qa-testing", WorkClass.OTHER),
        ("upwork:writing/content-writing", WorkClass.WRITING),
        ("upwork:design-creative/video-animation", WorkClass.OTHER),
        ("tac:sde", WorkClass.SOFTWARE),
        ("knitting", WorkClass.UNKNOWN),
        ("", WorkClass.UNKNOWN),
    ],
)
def test_category_decides_the_class(category: str, kind: WorkClass) -> None:
    assert work_class(category) is kind


def test_forms_come_from_the_codes_calls() -> None:
    code = b"from worksample.kit import weighted, tabular\ngrade = lambda case: weighted(case, {'a': tabular(1)})\n"
    assert grader_forms([code, b"def broken(:"]) == ("weighted", "tabular")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("title,hours\nx,1\n", "line 1"),
        ("category,dollars\nWriting,1\nWriting,-3\n", "line 3, column dollars"),
        ("category,hours\nWriting,nan\n", "line 2, column hours"),
        ("category,count\nWriting,1.5\n", "line 2"),
        ("category\n", "no line below"),
        ("category,dollars\n ,3\n", "the row has no category"),
    ],
)
def test_invalid_market_file_is_refused_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "m.csv"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_market(path)
    assert says in str(caught.value)


def test_binary_market_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(b"category\n\xff\xfe\n")
    with pytest.raises(UsageError, match="UTF-8"):
        read_market(path)
    with pytest.raises(UsageError, match="is not a file"):
        read_market(tmp_path / "none.csv")
