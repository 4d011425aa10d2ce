"""JSON with a repeated key is refused with the key, wherever people hand it in."""

from __future__ import annotations

from pathlib import Path

import pytest

from worksample.cli.service_options import _argument
from worksample.errors import ImportFailed, UsageError
from worksample.files.config_files import UnreadableFile, load
from worksample.files.tables.cell_values import InvalidCell, parse_json_cell
from worksample.files.tables.table_reader import FaultyRow, open_table, read_json
from worksample.formats.jobs.project_folders import _metadata
from worksample.people.transfer.judgment_import import _rows

TWICE = '{"id": "1", "price": 10, "price": 90}'
SAYS = 'the key "price" appears twice'


def test_jobs_file_with_a_repeated_key_is_refused(tmp_path: Path) -> None:
    whole, lines = tmp_path / "jobs.json", tmp_path / "jobs.jsonl"
    whole.write_text(f"[{TWICE}]")
    with pytest.raises(ImportFailed, match=SAYS), open_table(whole):
        pass
    lines.write_text(f'{{"id": "0", "price": 1}}\n{TWICE}\n')
    with open_table(lines) as table:
        (_, sound), (_, faulty) = table.rows
    assert sound["price"] == 1
    assert isinstance(faulty, FaultyRow) and SAYS in faulty.what and "remove one" in faulty.what


def test_repeated_keys_are_found_at_every_depth() -> None:
    assert read_json('[{"a": {"b": 1}}, {"a": {"b": 2}}]') == [{"a": {"b": 1}}, {"a": {"b": 2}}]
    with pytest.raises(ValueError, match='"b" appears twice'):
        read_json('[{"a": [{"b": 1, "c": 2, "b": 1}]}]')


def test_json_in_cells_metadata_judgments_and_options_is_refused_too(tmp_path: Path) -> None:
    with pytest.raises(InvalidCell, match=SAYS):
        parse_json_cell(TWICE)
    (tmp_path / "metadata.json").write_text(TWICE)
    assert SAYS in str(_metadata(tmp_path))
    ((_, row),) = _rows(TWICE.encode(), "jsonl")
    assert isinstance(row, FaultyRow) and SAYS in row.what
    with pytest.raises(UsageError, match=SAYS):
        _argument(f"extra={TWICE}")


def test_repeated_yaml_key_is_refused_and_a_merged_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("a: &base {x: 1, y: 2}\nb: &more {<<: *base, x: 3}\nc: {<<: *more, y: 4}\n")
    assert load(path)["b"] == {"x": 3, "y": 2}
    assert load(path)["c"].keys() == {"x", "y"}
    for text, key in (("a: 1\nb: 2\na: 3\n", "a"), ('{"o": {"price": 1, "price": 2}}', "price")):
        path.write_text(text)
        with pytest.raises(UnreadableFile, match=f"the key '{key}' appears twice"):
            load(path)
