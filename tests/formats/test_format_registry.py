"""Formats are found by name, and other packages add formats as entry points."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from worksample.errors import UsageError
from worksample.formats import ExchangeFormat, find_format, format_names
from worksample.tasks import read_package

NOTES = '''"""A format of another package: a text file with one task per line."""

from worksample.formats import ExchangeFormat, FormatOption, ReportLine, ReportTable, Transfer
from worksample.formats import TransferReport, TransferRequest

TOML = """id = "{name}"
title = "A note"
version = "1"
canary = "worksample-canary-6a2b9f1e-5a0e-4d34-9d5f-3d0d1c8c2a11"

[environment]
services = {services}

[grading.rubric]

[[instance]]
name = "note"
"""


def _import(request: TransferRequest) -> TransferReport:
    written = []
    for number, line in enumerate(request.source.read_text().splitlines(), 1):
        root = request.out / f"note-{number}"
        root.mkdir(parents=True)
        services = \'["notes-radio"]\' if "radio" in line and not request.flag("quiet") else "[]"
        (root / "task.toml").write_text(TOML.format(name=root.name, services=services))
        headings = ("Work description", "Provided material", "Deliverables")
        (root / "brief.md").write_text("".join(f"## {heading}\\n\\n{line}\\n\\n" for heading in headings))
        criterion = \'[[criterion]]\\nid = "right"\\ntext = "Is right"\\nimportance = "critical"\\n\'
        (root / "criteria.toml").write_text(criterion)
        written.append(root.name)
    table = ReportTable(("package",), [(name,) for name in written])
    return TransferReport(written, (table, ReportLine(f"as {request.text(\'title\')}")), complete=len(written) > 1)


NOTES = ExchangeFormat(
    "notes",
    "Lines of a text file",
    importer=Transfer(
        "Turn lines into packages.",
        """Turn lines into packages.

        Each line of FILE is a brief.
        """,
        _import,
        (FormatOption("quiet", "Without a radio."), FormatOption("title", "The title.", value="TEXT")),
        source="FILE",
    ),
    obstacles={"notes-radio": "a radio"},
)
'''


def install(room: Path, name: str, value: str, **modules: str) -> dict[str, str]:
    """Install a distribution with one format below `room`; return the environment of a process that sees it."""
    info = room / f"{name}_format-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-format\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[worksample.formats]\n{name} = {value}\n")
    for module, text in modules.items():
        (room / f"{module}.py").write_text(text)
    return {**os.environ, "PYTHONPATH": str(room)}


def worksample(environment: dict[str, str], *words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command line in its own process."""
    argv = [sys.executable, "-c", "from worksample.cli import main; main()", *map(str, words)]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.fixture
def notes(tmp_path: Path) -> dict[str, str]:
    return install(tmp_path / "site", "notes", "notes_format:NOTES", notes_format=NOTES)


def test_format_of_another_package_is_listed_and_imports(notes: dict[str, str], tmp_path: Path) -> None:
    assert "Turn lines into packages." in worksample(notes, "import", "--help").stdout
    assert "notes" not in worksample(notes, "export", "--help").stdout
    assert "Each line of FILE is a brief." in worksample(notes, "import", "notes", "--help").stdout
    (tmp_path / "lines").write_text("Write an ode.\nRepair the radio.\n")
    done = worksample(notes, "import", "notes", tmp_path / "lines", tmp_path / "out", "--title", "Odes")
    assert "note-2" in done.stdout and "as Odes" in done.stdout
    ode, radio = (read_package(tmp_path / "out" / f"note-{n}") for n in (1, 2))
    assert [package.instances[0].environment.services for package in (ode, radio)] == [(), ("notes-radio",)]
    words = ("import", "notes", tmp_path / "lines", tmp_path / "again", "--quiet", "--json")
    assert json.loads(worksample(notes, *words).stdout) == ["note-1", "note-2"]
    assert not read_package(tmp_path / "again" / "note-2").instances[0].environment.services


def test_incomplete_import_exits_with_code_3(notes: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("Write an ode.\n")
    worksample(notes, "import", "notes", tmp_path / "lines", tmp_path / "out", code=3)


def test_unloadable_format_is_named_and_hides_no_other(tmp_path: Path) -> None:
    broken = install(tmp_path / "site", "broken", "no_such_module:BROKEN")
    assert "harbor" in worksample(broken, "import", "--help").stdout
    done = worksample(broken, "import", "broken", "a", "b", code=1)
    assert "the format 'broken' cannot be loaded: No module named 'no_such_module'" in done.stderr
    assert "next: pip install --upgrade broken-format" in done.stderr
    odd = install(tmp_path / "other", "odd", "odd_format:NOTHING", odd_format="NOTHING = 1\n")
    assert "is not a worksample.formats.ExchangeFormat" in worksample(odd, "import", "odd", code=1).stderr


def test_entry_point_does_not_replace_an_own_format(tmp_path: Path) -> None:
    taken = install(tmp_path / "site", "harbor", "no_such_module:HARBOR")
    assert "Turn Harbor tasks" in worksample(taken, "import", "harbor", "--help").stdout


@pytest.mark.parametrize("name", format_names())
def test_each_format_declares_itself(name: str) -> None:
    found = find_format(name)
    assert isinstance(found, ExchangeFormat) and found.name == name and found.title
    transfers = [transfer for transfer in (found.importer, found.exporter) if transfer is not None]
    assert transfers
    for transfer in transfers:
        assert transfer.summary.endswith(".") and transfer.help
        names = [option.name for option in transfer.options]
        assert len(names) == len(set(names)) and all(option.help for option in transfer.options)


def test_unknown_format_error_lists_known_formats() -> None:
    with pytest.raises(UsageError, match="there is no format 'nonesuch'; there are ale, atif, gdpval, harbor"):
        find_format("nonesuch")


def test_help_imports_no_format_and_is_fast() -> None:
    code = (
        "import sys; from worksample.cli.command_line import code_of; code_of(['--help']);"
        "found = [name for name in sys.modules if name.startswith('worksample.formats.')];"
        "sys.exit(f'imported: {found}' if found else 0)"
    )
    spent = []
    for _ in range(3):
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        spent.append(time.perf_counter() - start)
        assert done.returncode == 0, done.stderr
    assert min(spent) < 1.0  # 0.2 s on a quiet machine


def test_list_of_formats_imports_nothing_heavy() -> None:
    code = (
        "import sys; from worksample.cli.command_line import code_of; code_of(['import', '--help']);"
        "heavy = {'pydantic', 'sqlalchemy', 'polars', 'worksample.formats.harbor.task_import'} & set(sys.modules);"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
