"""`worksample doctor` on viewers."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from cli.run_cli import cli
from worksample.viewing import converter_requirements as needs


def viewers(**env: str) -> dict[str, str]:
    found = json.loads(cli("doctor", "--json", env=env).stdout)["found"]
    (symptom,) = (s for s in found if s["name"] == "viewers")
    assert symptom["ok"], "a viewer that is missing stops no run"
    return dict(symptom)


def test_missing_programs_are_named_with_their_command(tmp_path: Path) -> None:
    lacking = viewers(PATH=str(tmp_path))
    assert "LibreOffice" in lacking["says"] and "word processing" in lacking["says"]
    assert "apt-get install" in lacking["next"] and "libreoffice-calc" in lacking["next"]


def test_one_command_installs_all_and_names_packages_once(tmp_path: Path) -> None:
    typed = viewers(PATH=str(tmp_path))["next"]
    assert typed.count("apt-get install") == 1 and typed.count("pip install") <= 1
    (packages,) = re.findall(r"apt-get install ([^&(']*)", typed)
    words = packages.split()
    assert {"poppler-utils", "timgm6mb-soundfont"} <= set(words) and len(words) == len(set(words))


def test_complete_machine_is_one_line() -> None:
    here = viewers(PATH=os.environ["PATH"])
    complete = not needs.missing(tuple(needs.NEEDS))
    assert complete == here["says"].startswith("all ") and bool(here["next"]) != complete
