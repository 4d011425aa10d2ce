"""HTTP routes for exporting a round and importing judgments."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field

from worksample.app.rounds.responses import find_round
from worksample.app.rounds.routes import RoundId
from worksample.app.server.authentication import Admin, ServicesOf
from worksample.app.server.json_models import RequestBody, ResponseBody
from worksample.app.server.middleware.error_responses import error_responses
from worksample.files.scratch_folder import scratch_folder
from worksample.people import Form, export_csv, export_jsonl, export_parquet, export_precomputed, import_judgments
from worksample.records import Evaluation, ResolutionRule, Round

if TYPE_CHECKING:
    from worksample.store import Store

router = APIRouter(prefix="/api/v1", tags=["transfer"])
Format = Literal["jsonl", "precomputed", "parquet", "csv"]
_EXPORTS: dict[Format, tuple[Callable[[Store, str, Path], int], str, str]] = {
    "jsonl": (export_jsonl, "jsonl", "application/x-ndjson"),
    "precomputed": (export_precomputed, "json", "application/json"),
    "parquet": (export_parquet, "parquet", "application/vnd.apache.parquet"),
    "csv": (export_csv, "csv", "text/csv; charset=utf-8"),
}
_BYTES = {"schema": {"type": "string", "format": "binary"}}
_FILE = {"description": "The file.", "content": {e[2].partition(";")[0]: _BYTES for e in _EXPORTS.values()}}


class NewImport(RequestBody):
    """`data`: the file as text. `author`: the import's author; "" for this account."""

    form: Form
    format: Literal["csv", "jsonl"]
    data: str
    author: str = Field(default="", max_length=200)
    reason: str = Field(default="", max_length=5000)
    rule: ResolutionRule | None = None


class Imported(ResponseBody):
    """The result of an import. `again`: the same file was imported before, and nothing was added."""

    round: str
    evaluations: int
    subjects: int
    again: bool


@router.get("/rounds/{id}/export", response_class=Response, responses={200: _FILE, **error_responses(401, 403, 404)})
def export_round(id: RoundId, format: Annotated[Format, Query()], services: ServicesOf, account: Admin) -> Response:
    """Export evaluations (jsonl, parquet), unstruck ones in the import's columns (csv), or verdicts as Inspect's
    `precomputed_scores` (precomputed).
    """
    find_round(services, id)
    write, extension, kind = _EXPORTS[format]
    with scratch_folder("export") as folder:
        path = folder / f"export.{extension}"
        write(services.store, id, path)
        data = path.read_bytes()
    name = f"{re.sub(r'[^A-Za-z0-9._-]', '_', id)}-{format}.{extension}"
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(data, media_type=kind, headers=headers)


@router.post("/imports", status_code=201, responses=error_responses(401, 403, 413, 422))
def import_round(body: NewImport, services: ServicesOf, account: Admin) -> Imported:
    """Import a round of judgments made elsewhere: all rows, or none and `faults` by row."""
    known = {round.id for round in services.store.find(Round)}
    round = import_judgments(
        services.store, body.data.encode("utf-8", "surrogatepass"), body.form, format=body.format,
        author=body.author.strip() or f"person-{account.id}", reason=body.reason.strip(), rule=body.rule,
    )  # fmt: skip
    count = len(services.store.find(Evaluation, round=round.id))
    return Imported(round=round.id, evaluations=count, subjects=len(round.subjects), again=round.id in known)
