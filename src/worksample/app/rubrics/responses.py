"""Responses about rubrics, and conversion of criteria between the app, the records and `criteria.toml`."""

from __future__ import annotations

from collections.abc import Sequence

from worksample.app.rubrics.schemas import (
    CriterionBody,
    FlawView,
    LintResult,
    RubricRow,
    RubricView,
    SuggestedView,
    SuggestionView,
    TakenView,
    VersionView,
)
from worksample.app.server.route_services import AppServices
from worksample.audit.rubric_checks import INSTEAD, lint, lint_size
from worksample.files.config_files import Faults
from worksample.files.scratch_folder import scratch_folder
from worksample.people import InvalidAnswer
from worksample.people.rubrics.suggestions import Suggestion, taken_suggestions
from worksample.people.rubrics.versions import Version, asked_in_rounds, newest_versions, versions
from worksample.records import Criteria, Criterion
from worksample.tasks.criteria import read_criteria


def criteria_of(bodies: Sequence[CriterionBody]) -> Criteria:
    """Convert criteria to records. Raises InvalidAnswer if an id occurs twice."""
    ids = [body.id for body in bodies]
    twice = {id: "this id occurs twice" for id in ids if ids.count(id) > 1}
    if twice:
        raise InvalidAnswer(twice)
    return Criteria(criteria=tuple(Criterion(**body.model_dump()) for body in bodies))


def read_toml_text(text: str) -> tuple[CriterionBody, ...]:
    """Read the criteria of a `criteria.toml`. Raises InvalidAnswer with all faults, or if it is no flat rubric."""
    faults = Faults()
    with scratch_folder("rubric") as folder:
        path = folder / "criteria.toml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        criteria = read_criteria(path, faults)
    if faults.found:
        raise InvalidAnswer({fault.key or fault.file: str(fault) for fault in faults.found})
    more = {
        node.id: "it has parts, points or a kind, which are written in the file itself"
        for node in criteria.criteria
        if node.parts or node.importance is None or node.implies_others or node.kind is not None
    }
    if more:
        raise InvalidAnswer(more)
    return bodies_of(criteria)


def bodies_of(criteria: Criteria) -> tuple[CriterionBody, ...]:
    """Convert a flat rubric to its JSON models."""
    return tuple(
        CriterionBody(id=c.id, text=c.text, importance=c.importance, by=c.by, gate=c.gate)
        for c in criteria.criteria
        if c.importance is not None
    )


def lint_texts(texts: Sequence[str]) -> LintResult:
    """Check criteria texts with the linter of `task check`; empty texts are skipped."""
    flaws = tuple(
        tuple(FlawView(fault=f.fault, words=f.words, instead=INSTEAD[f.fault]) for f in lint(text))
        if text.strip()
        else ()
        for text in texts
    )
    unusual = lint_size(len(texts))
    return LintResult(flaws=flaws, size=f"{unusual[0]}: {unusual[1]}" if unusual else "")


def all_rubrics(services: AppServices) -> list[RubricRow]:
    """List rubrics by name."""
    rounds, names = asked_in_rounds(services.store), _names(services)
    out = []
    for v in newest_versions(services.store):
        asked = {id for one in versions(services.store, v.rubric) for id in rounds.get(one.digest, ())}
        out.append(
            RubricRow(
                name=v.rubric, number=v.number, criteria=len(v.criteria.leaves), author=names.get(v.author, v.author),
                reason=v.reason, at=v.at, rounds=len(asked),
            )
        )  # fmt: skip
    return out


def rubric_of(services: AppServices, name: str) -> RubricView:
    """Return a rubric with its versions. Raises RecordMissing."""
    rounds, names = asked_in_rounds(services.store), _names(services)
    drafts = taken_suggestions(services.store, name)
    found = versions(services.store, name)
    return RubricView(
        name=name,
        versions=tuple(_view(v, names, rounds.get(v.digest, ()), drafts.get(v.number, ())) for v in found),
    )


def version_view(services: AppServices, version: Version) -> VersionView:
    """Describe a new version. Its `rounds` are those that asked the same criteria before."""
    rounds = asked_in_rounds(services.store).get(version.digest, ())
    return _view(
        version, _names(services), rounds, taken_suggestions(services.store, version.rubric).get(version.number, ())
    )


def _view(v: Version, names: dict[str, str], rounds: tuple[str, ...], drafts: Sequence[Suggestion]) -> VersionView:
    texts = {c.text for c in v.criteria.criteria}
    return VersionView(
        number=v.number, digest=v.digest, criteria=bodies_of(v.criteria), author=names.get(v.author, v.author),
        reason=v.reason, at=v.at, rounds=rounds,
        taken=tuple(
            TakenView(
                model=s.model, prompt=s.prompt, suggested=len(s.criteria),
                unchanged=sum(text in texts for text, _ in s.criteria), at=s.at,
            )
            for s in drafts
        ),
    )  # fmt: skip


def suggestion_view(made: Suggestion) -> SuggestionView:
    """Describe a model's suggestion."""
    return SuggestionView(
        id=made.id, model=made.model, prompt=made.prompt, cost=made.usage.cost, at=made.at,
        criteria=tuple(SuggestedView(text=text, importance=importance) for text, importance in made.criteria),
    )  # fmt: skip


def _names(services: AppServices) -> dict[str, str]:
    return {account.id: account.name for account in services.people.accounts.all()}
