"""What the front end knows of the server is made from the server as it is."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from worksample.app.api import make_api
from worksample.app.protocol import made

WEB = Path(__file__).resolve().parents[3] / "web"
MAKER = WEB / "node_modules/openapi-typescript/bin/cli.js"


@pytest.mark.node
def test_the_client_knows_the_api_as_it_is(tmp_path: Path) -> None:
    schema, made = tmp_path / "openapi.json", tmp_path / "schema.d.ts"
    # As `python -m worksample.app.openapi` prints it.
    schema.write_text(json.dumps(make_api().openapi(), indent=1, sort_keys=True, ensure_ascii=True) + "\n")
    subprocess.run(["node", str(MAKER), str(schema), "-o", str(made)], check=True, capture_output=True, timeout=120)
    kept = (WEB / "src/app/schema.d.ts").read_text(encoding="utf-8")
    assert kept == made.read_text(encoding="utf-8"), (
        "web/src/app/schema.d.ts is stale\n"
        "  next: cd web && python -m worksample.app.openapi > /tmp/api.json\n"
        "        npx openapi-typescript /tmp/api.json -o src/app/schema.d.ts"
    )


def test_the_front_end_knows_the_protocols_as_they_are() -> None:
    assert (WEB / "src/app/protocol.ts").read_text(encoding="utf-8") == made(), (
        "web/src/app/protocol.ts is stale\n  next: python -m worksample.app.protocol > web/src/app/protocol.ts"
    )
