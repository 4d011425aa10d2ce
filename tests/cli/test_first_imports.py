"""First imports, as the docs type them: without a store, with projects that lack parts, with unknown costs."""

from __future__ import annotations

from pathlib import Path

from cli.run_cli import cli, cli_json
from formats.test_upbench_chains import tables
from worksample.formats.upbench import write_tables
from worksample.reports import leaderboard
from worksample.reports.leaderboard_frame import HEADS, cells_of
from worksample.store import Store


def test_dry_run_of_an_import_needs_no_store_and_makes_none(tmp_path: Path) -> None:
    write_tables(tables(3, {"ann": (1, 2, 1)}), tmp_path / "tables", "csv")
    shown = cli_json("import", "upbench", "tables", "upbench-tasks", "--dry-run", cwd=tmp_path)
    assert shown["refresh"]["rows"]["submissions"] == {"new": 5, "changed": 0, "same": 0, "gone": 0}
    assert [path.name for path in tmp_path.iterdir()] == ["tables"]


def test_imported_work_has_an_unknown_cost_everywhere(tmp_path: Path) -> None:
    write_tables(tables(3, {"ann": (1, 2, 1)}), tmp_path / "tables", "csv")
    cli_json("import", "upbench", "tables", "jobs", "--store", "s", cwd=tmp_path)
    listed = cli("list", "--store", "s", cwd=tmp_path)
    assert "unknown" in listed.stdout and "$0.00" not in listed.stdout
    with Store.open(tmp_path / "s") as store:
        costs = [cells_of(row)[HEADS.index("cost")] for row in leaderboard(store).rows]
    assert costs and set(costs) == {"unknown"}


def test_import_of_projects_says_which_parts_they_lack(tmp_path: Path) -> None:
    for name, parts in {"whole": ("inputs", "human_deliverable"), "bare": (), "half": ("inputs",)}.items():
        for part in ("", *parts):
            (tmp_path / "projects" / name / part).mkdir(parents=True, exist_ok=True)
            if part:
                (tmp_path / "projects" / name / part / "file.txt").write_text("x")
        (tmp_path / "projects" / name / "brief.md").write_text("Translate the letter.")
    shown = cli("import", "rli", "projects", "out", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "projects without a folder of inputs (inputs/): 1 (bare)" in shown.stdout
    assert "projects without a deliverable (human_deliverable/): 2 (bare, half)" in shown.stdout
