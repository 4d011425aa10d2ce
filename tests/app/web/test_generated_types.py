"""The front end's generated types and constants match the server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from worksample.app.server.api import make_api
from worksample.app.web_constants import typescript_source

WEB = Path(__file__).resolve().parents[3] / "web"


@pytest.mark.node
def test_built_types_have_every_path_and_model_of_the_api(tmp_path: Path) -> None:
    file = tmp_path / "schema.d.ts"
    subprocess.run([sys.executable, "hatch_build.py", "types", str(file)], cwd=WEB.parent, check=True, timeout=120)
    types, api = file.read_text(encoding="utf-8"), make_api().openapi()
    assert all(f"    {json.dumps(path)}: {{" in types for path in api["paths"])
    assert all(f"\n        {name}: " in types for name in api["components"]["schemas"])


def test_front_end_constants_match_the_protocols() -> None:
    assert (WEB / "src/app/protocol.ts").read_text(encoding="utf-8") == typescript_source(), (
        "web/src/app/protocol.ts is stale\n  next: python -m worksample.app.web_constants > web/src/app/protocol.ts"
    )
