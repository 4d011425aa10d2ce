"""A real database as a service: the agent's client writes to it, and the exported state opens as a database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from running.needs import POSTGRES
from sandboxes.services.test_trial_services import reached
from worksample.box import Endpoint
from worksample.records import CaptureStatus, ServiceLimits, ServiceSpec, SourceFiles
from worksample.sandboxes.capture import CaptureLimits
from worksample.sandboxes.services import export_state
from worksample.store import Store

BOOKS = Endpoint("books.example.com", 5432)
START = """
set -e
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
[ -f data/PG_VERSION ] || "$bin/initdb" -D data -A trust -U books --no-sync > init.log
exec "$bin/postgres" -D data -k "$PWD" -c listen_addresses=127.0.0.1 -c port=5432
"""
TABLE = "create table ledger (id serial primary key, cents bigint not null);"
WRITE = "insert into ledger (cents) select n * 100 from generate_series(1, 5000) n;"
OPEN = "begin; insert into ledger (cents) values (666); select pg_sleep(600);"
ASK = "select count(*), sum(cents) from ledger"


def psql(statement: str) -> list[str]:
    return ["psql", "-X", "-q", "-A", "-t", "-h", BOOKS.name, "-U", "books", "-d", "postgres", "-c", statement]


def books() -> ServiceSpec:
    return ServiceSpec(
        name="shop", box="shop", argv=("sh", "-c", START), ports=(5432,), wait=120.0,
        limits=ServiceLimits(memory=512 << 20, disk=512 << 20),
    )  # fmt: skip


@pytest.mark.box
@pytest.mark.postgres
@pytest.mark.thorough(
    quick="sandboxes/services/test_trial_services.py::test_service_behind_an_endpoint_is_reached_recorded_and_exported"
)
async def test_database_exported_during_a_transaction_opens_again(tmp_path: Path) -> None:
    """What was said to be done is in it, what was not is not, as after a crash."""
    assert POSTGRES.is_dir()
    folder = tmp_path / "files"
    folder.mkdir()
    async with reached(folder, books(), names={BOOKS: "service:shop"}) as (box, services, ledger):
        done = await box.run(psql(TABLE + WRITE), timeout=120)
        assert done.returncode == 0, done.stderr
        waiting = await box.start(psql(OPEN))
        state = "select count(*) from pg_stat_activity where wait_event = 'PgSleep'"
        while (await box.run(psql(state), timeout=120)).stdout != b"1\n":
            pass
        assert (await box.run(psql(ASK), timeout=120)).stdout == b"5000|1250250000\n"
        blobs = Store.open(tmp_path / "store", create=True).blobs
        found = await export_state(services, blobs, ["shop"], CaptureLimits())
        assert found.cause is None and found.part.status is CaptureStatus.COMPLETE, found
        await waiting.kill()
    assert all(row["rule"] == "service shop:5432" for row in ledger.plain())
    taken = tmp_path / "taken"
    for entry in json.loads(blobs.read(found.part.manifest))["entries"]:
        if not entry["path"].startswith("shop/"):
            continue
        place = taken / entry["path"].removeprefix("shop/")
        if entry.get("blob"):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(blobs.read(entry["blob"]))
        elif entry["kind"] == "folder":
            place.mkdir(parents=True, exist_ok=True)
    (taken / "data/postmaster.pid").unlink()
    brought = "cp -r {files}/data . && chmod -R u+w,go= data\n"
    again = books().replaced(argv=("sh", "-c", brought + START), files=SourceFiles(name="x", files="0" * 64))
    async with reached(taken, again, names={BOOKS: "service:shop"}) as (box, _, _):
        assert (await box.run(psql(ASK), timeout=120)).stdout == b"5000|1250250000\n"
