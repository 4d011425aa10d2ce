"""Import of UpBench's six tables into a store: new rows become records, known rows are skipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from worksample.errors import FaultyRows
from worksample.records import Evaluation, Round, Source
from worksample.store import Store
from worksample.tasks.taxonomy import slug

from .cell_json import PASS
from .record_builder import RecordBuilder
from .row_changes import RowChanges
from .table_comparison import Refresh, compare_tables
from .table_export import RECORD_KEY, passes_by_evaluation
from .table_files import read_tables


@dataclass(frozen=True, slots=True)
class ImportUpbench:
    """Settings of an import."""

    encoding: str = ""
    """The encoding of CSVs; "" to infer it from the first bytes, by default UTF-8."""
    decimal: str = ""
    """The decimal mark of numbers in CSVs; "" to infer it from each column."""
    files: Path | None = None
    """The folder of attachments and deliverables; None for the tables' folder."""
    source: Source = Source.PAID
    """The source of amounts in rows that do not name one."""
    visibility: str = "private"
    skip_faulty: bool = False
    """Whether faulty rows, and rows that refer to them, are left out."""
    dry_run: bool = False
    """Whether changes are only reported, and nothing is written."""


@dataclass(frozen=True, slots=True)
class ImportedTables:
    """The outcome of an import."""

    refresh: Refresh
    """New and changed rows, and their effect on cohorts."""
    faults: dict[str, str]
    """Table and id -> the row's faults."""
    unread: dict[str, tuple[str, ...]]
    """Table -> unknown columns, which were ignored."""
    missing: int
    """Number of files that tables name and that do not exist."""
    contradicted: int
    """Number of evaluations whose judgement contradicts their own criteria."""
    experiment: str
    """Id of the experiment with the new submissions; "" if no submission is new."""

    def plain(self) -> dict[str, Any]:
        """Return the outcome as JSON types."""
        return {**asdict(self), "unread": {name: list(left) for name, left in self.unread.items()}}


def import_upbench(store: Store, folder: Path, out: Path, config: ImportUpbench | None = None) -> ImportedTables:
    """Import the tables of `folder` into the store, and write a suite of the jobs' packages below `out`.

    All records are committed at once, after the packages are written. Known rows are skipped. A changed job becomes a
    new version, a changed `is_successful_run` an amendment; any other difference is a fault. Raises ImportFailed;
    FaultyRows (a subclass) with every faulty row.
    """
    config = config or ImportUpbench()
    faults: dict[str, str] = {}
    tables, unread = read_tables(folder, encoding=config.encoding, decimal=config.decimal, faults=faults)
    changes = RowChanges(store, tables, config.files or folder, config.source, faults)
    changes.check_rows()
    _raise_faults(faults, config)
    refresh = compare_tables(changes.stored, changes.tables_after())
    if config.dry_run:
        return ImportedTables(refresh, faults, unread, 0, 0, "")
    builder = RecordBuilder(changes, out, config.visibility)
    builder.build()
    _raise_faults(faults, config)
    _write_suite(out, config.visibility)
    if builder.records:
        store.commit(*builder.records)
    evaluations = [r for r in builder.records if isinstance(r, Evaluation) and not r.of_job]
    return ImportedTables(
        refresh, faults, unread, builder.missing, _count_contradictions(store, evaluations), builder.experiment
    )


def _count_contradictions(store: Store, evaluations: Sequence[Evaluation]) -> int:
    own = passes_by_evaluation({r.id: r for r in store.find(Round)}, evaluations)
    judgements = {e.id: e.record[RECORD_KEY]["judgement"] for e in evaluations}
    return sum(
        own.get(id) is not None and word is not None and own[id] != (word == PASS) for id, word in judgements.items()
    )


def _raise_faults(faults: dict[str, str], config: ImportUpbench) -> None:
    if faults and not config.skip_faulty:
        raise FaultyRows(faults)


def _write_suite(out: Path, visibility: str) -> None:
    """Write `suite.toml` for the packages, unless it exists."""
    path = out / "suite.toml"
    if path.exists() or not out.is_dir():
        return
    name = slug(out.resolve().name).strip("-") or "jobs"
    path.write_text(
        f'name = "{name}"\ntitle = "Jobs of UpBench"\nversion = "1"\nvisibility = "{visibility}"\ntasks = ["*"]\n',
        encoding="utf-8",
    )
