"""HTTP routes for rubrics: write, check and version them, import and export `criteria.toml`, ask for suggestions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from worksample.app.rubrics.responses import (
    all_rubrics,
    criteria_of,
    lint_texts,
    read_toml_text,
    rubric_of,
    suggestion_view,
    version_view,
)
from worksample.app.rubrics.schemas import (
    LintBody,
    LintResult,
    RubricCriteriaView,
    RubricDraft,
    RubricRow,
    RubricView,
    SuggestBody,
    Suggester,
    SuggestionView,
    TomlBody,
    VersionView,
)
from worksample.app.rubrics.suggestions import NEXT
from worksample.app.server.authentication import ServicesOf, Writer
from worksample.app.server.middleware.error_responses import error_responses
from worksample.errors import RecordMissing, UsageError
from worksample.people import save_version
from worksample.people.rubrics.versions import NAME, versions
from worksample.tasks.criteria import write_criteria

router = APIRouter(prefix="/api/v1", tags=["rubrics"])
Name = Annotated[str, Path(pattern=f"^{NAME}$")]
_TOML = {"description": "The file.", "content": {"application/toml": {"schema": {"type": "string"}}}}


@router.get("/rubrics", responses=error_responses(401, 403))
def rubrics(services: ServicesOf, account: Writer) -> list[RubricRow]:
    """List the rubrics written in the app, by name."""
    return all_rubrics(services)


@router.get("/rubrics/{name}", responses=error_responses(401, 403, 404))
def rubric(name: Name, services: ServicesOf, account: Writer) -> RubricView:
    """Return one rubric with all its versions, the latest first."""
    return rubric_of(services, name)


@router.post("/rubrics/{name}/versions", status_code=201, responses=error_responses(401, 403, 409, 422))
def save_rubric(name: Name, body: RubricDraft, services: ServicesOf, account: Writer) -> VersionView:
    """Add a version. Versions never change."""
    criteria = criteria_of(body.criteria)
    made = save_version(
        services.store,
        account,
        name,
        criteria,
        over=body.over,
        reason=body.reason,
        suggestions=body.suggestions,
        clock=services.people.clock,
    )
    return version_view(services, made)


@router.get("/rubrics/{name}/{number}/criteria.toml", response_class=Response,
            responses={200: _TOML, **error_responses(401, 403, 404)})  # fmt: skip
def export_rubric(name: Name, number: int, services: ServicesOf, account: Writer) -> Response:
    """Return a version as the `criteria.toml` of a task package."""
    found = next((v for v in versions(services.store, name) if v.number == number), None)
    if found is None:
        raise RecordMissing("no such version", where=f"{name} {number}", next="choose one of the list of versions")
    headers = {"content-disposition": 'attachment; filename="criteria.toml"', "cache-control": "no-store"}
    return Response(write_criteria(found.criteria), media_type="application/toml", headers=headers)


@router.get("/criteria/suggester", responses=error_responses(401, 403))
def suggester(services: ServicesOf, account: Writer) -> Suggester:
    """Name the model that suggests criteria on this server."""
    return Suggester(model=services.suggester.model if services.suggester else "")


@router.post("/rubrics/{name}/suggestions", status_code=201, responses=error_responses(400, 401, 403, 502))
async def suggest(name: Name, body: SuggestBody, services: ServicesOf, account: Writer) -> SuggestionView:
    """Have a model draft criteria for a brief. The suggestion is recorded, but no version of the rubric is saved."""
    if services.suggester is None:
        raise UsageError("this server has no model that suggests criteria", next=NEXT)
    at = services.people.clock()
    return suggestion_view(await services.suggester.suggest(services.store, account, name, body.brief, body.count, at))


@router.post("/criteria/lint", responses=error_responses(401, 403))
def lint_criteria(body: LintBody, account: Writer) -> LintResult:
    """Return what `worksample task check` would report about these texts."""
    return lint_texts(body.texts)


@router.post("/criteria/read", responses=error_responses(401, 403, 422))
def read_criteria_toml(body: TomlBody, account: Writer) -> RubricCriteriaView:
    """Read the criteria of a `criteria.toml`; nothing is stored."""
    return RubricCriteriaView(criteria=read_toml_text(body.text))
