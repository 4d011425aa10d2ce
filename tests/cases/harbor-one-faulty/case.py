"""An outside case: one faulty task stopped a collection, nothing said what was written, the next call stopped too."""

import shutil
from pathlib import Path
from typing import Any

from cli.run_cli import cli, cli_json

SOURCE = Path(__file__).with_name("src")


def check(room: Path, request: Any) -> None:
    first = cli("import", "harbor", SOURCE, room / "out")
    assert first.returncode == 3 and "zzz" in first.stderr and "is not TOML" in first.stderr
    assert "5 written, 1 faulty" in first.stdout
    again = cli_json("import", "harbor", SOURCE, room / "out", "--skip-faulty")
    assert (again["written"], len(again["there"]), list(again["faults"])) == ([], 5, ["zzz"])
    assert len([p for p in (room / "out").iterdir() if (p / "task.toml").is_file()]) == 5
    source = room / "lacking"
    shutil.copytree(SOURCE, source)
    (source / "braces" / "instruction.md").unlink()
    lacking = cli_json("import", "harbor", source, room / "more", "--skip-faulty")
    assert len(lacking["written"]) == 4 and list(lacking["faults"]) == ["braces", "zzz"]
    assert "has no instruction.md" in str(lacking["faults"]["braces"])
