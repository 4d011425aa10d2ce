"""Findings of the audit without grading: each planted fault is found, and the scaffold has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.small_task import changed
from worksample.audit import AuditCheck, AuditConfig, Severity, check
from worksample.errors import UsageError

STATIC = AuditConfig(static=True)
TOTALS = (
    "customer,net,vat,gross\nAdler,184.35,35.03,219.38\nBrandt,400.15,76.03,476.18\nCzerny,1255.75,238.59,1494.34\n"
)


def found(root: Path, changes: dict[str, tuple[str, str]], files: dict[str, str | bytes] | None = None) -> list[str]:
    report = check(changed(root, changes, files), STATIC)
    return [f"{f.check}: {f.what}" for f in report.findings if f.severity is Severity.ERROR]


def test_scaffold_has_no_findings_and_report_says_ungraded(tmp_path: Path) -> None:
    report = check(changed(tmp_path, {}), STATIC)
    assert report.findings == ()
    assert report.passed
    assert "nothing was graded" in report.notes


def test_reference_inside_the_inputs_is_found(tmp_path: Path) -> None:
    said = found(tmp_path, {}, {"inputs/march/old/answer.bin": TOTALS})
    assert "leak: the reference file totals.csv is also in inputs/old/answer.bin" in said


def test_reordered_rows_of_the_reference_are_found(tmp_path: Path) -> None:
    rows = TOTALS.splitlines()[1:]
    text = "\n".join(["what we sent last time", *reversed(rows), "that is all"])
    said = found(tmp_path, {}, {"inputs/march/letter.csv": text})
    assert said == ["leak: 3 of 3 lines of the reference totals.csv are also in inputs/letter.csv"]


def test_half_of_the_rows_is_a_warning(tmp_path: Path) -> None:
    rows = TOTALS.splitlines()[1:]
    report = check(changed(tmp_path, {}, {"inputs/march/letter.txt": "\n".join(rows[:2])}), STATIC)
    assert [(f.check, f.severity) for f in report.findings] == [(AuditCheck.LEAK, Severity.WARNING)]


def test_values_of_the_reference_in_prose_are_found(tmp_path: Path) -> None:
    figures = [value for row in TOTALS.splitlines()[1:] for value in row.split(",")[1:]]
    text = "Paid were " + ", then ".join(figures) + "."
    said = found(tmp_path, {}, {"inputs/march/letter.txt": text})
    assert len(said) == 1
    assert said[0].startswith("leak: all ")
    assert "inputs/letter.txt" in said[0]


def test_file_known_only_to_the_grader_is_found(tmp_path: Path) -> None:
    said = found(tmp_path, {"grade.py": ('case.text("summary.txt")', 'case.text("month.txt")')})
    assert said == ["names: the grader reads 'month.txt', which the brief never names"]


@pytest.mark.parametrize(("line", "said"), [("", 1), ('DONE = "finance/" + "ledger"\n', 0)])
def test_document_of_the_services_in_the_brief_is_accepted(line: str, said: int, tmp_path: Path) -> None:
    changes = {
        "brief.md": ("`summary.txt`", "`summary.txt`, `finance/ledger.csv`"),
        "grade.py": ("def grade", f"{line}def grade"),
    }
    report = check(changed(tmp_path, changes), STATIC)
    assert len([one for one in report.findings if "asks for 'finance/ledger.csv'" in one.what]) == said


def test_column_known_only_to_the_grader_is_found(tmp_path: Path) -> None:
    said = found(tmp_path, {"grade.py": ('keys=["customer"]', 'keys=["client_number"]')})
    assert said == ["names: the grader asks for the column or key 'client_number', which the agent is not told about"]


def test_deliverable_missing_from_the_brief_is_found(tmp_path: Path) -> None:
    said = found(tmp_path, {"brief.md": ("`summary.txt`", "a text file")})
    assert any("the deliverable 'summary.txt' is required but the brief never names it" in text for text in said)


def test_missing_section_of_the_brief_is_found(tmp_path: Path) -> None:
    assert found(tmp_path, {"brief.md": ("## Provided material", "And")}) == [
        "brief: the section 'Provided material' is missing"
    ]


@pytest.mark.parametrize(
    ("asks", "says"),
    [
        ('files = ["month.csv"]', "names: the grader reads 'month.csv', which the brief never names"),
        ('columns = ["taxclass"]', "names: the grader asks for the column or key 'taxclass', which the agent"),
        ('files = ["invoices.csv"]', "reference: the grader takes 'invoices.csv' from the agent's own folder"),
        ("points = [2, 2, 2]", "points: the criteria are worth 2 + 2 + 1, the grader's parts 2 + 2 + 2"),
        ("points = [2, 3]", "points: the criteria are worth 2 + 2 + 1, the grader's parts 2 + 3"),
    ],
)
def test_external_grader_is_checked_by_its_stated_requirements(asks: str, says: str, tmp_path: Path) -> None:
    said = found(tmp_path, {"task.toml": ("{ tolerance = 0.005 }", f"{{ tolerance = 0.005, asks = {{ {asks} }} }}")})
    assert len(said) == 1
    assert said[0].startswith(says)


@pytest.mark.parametrize("asks", ['columns = ["Gross"]', 'files = ["totals.csv"]', "points = [2, 2, 1]"])
def test_external_grader_states_valid_requirements(asks: str, tmp_path: Path) -> None:
    changes = {"task.toml": ("{ tolerance = 0.005 }", f"{{ tolerance = 0.005, asks = {{ {asks} }} }}")}
    assert found(tmp_path, changes) == []


PATTERN = 'PATTERN = re.fullmatch(r\'"([^"]+)"\\s*,\\s*(\\d+\\.\\d+)\', "")'


@pytest.mark.parametrize(
    ("shown", "rejected"),
    [('"A", 123.45,', True), ('(e.g. "A", 123.45, "B", 12.30)', True), ('"A", 123.45', False), ("A: 12.30,", False)],
)
def test_example_in_the_brief_rejected_by_the_grader_is_found(shown: str, rejected: bool, tmp_path: Path) -> None:
    changes = {
        "grade.py": ("from worksample.kit", f"import re\n\n{PATTERN}\nfrom worksample.kit"),
        "brief.md": ("## Provided material", f"Write each line as\n{shown}\n\n## Provided material"),
    }
    assert [text.startswith("examples: ") for text in found(tmp_path, changes)] == [True] * rejected


@pytest.mark.parametrize("config", [AuditConfig(parallel=0), AuditConfig(repeats=0)])
def test_impossible_config_is_refused(config: AuditConfig, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"must be 1 or more\n  next: pass 1 or more"):
        check(changed(tmp_path, {}), config)
