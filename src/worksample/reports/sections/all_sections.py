"""Collection of all sections of figures that the store's data support."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from worksample.errors import ManifestError, UsageError
from worksample.extras import need
from worksample.records import Experiment
from worksample.reports.chosen_experiments import find_experiments, require_same_lock
from worksample.results.result_set import ResultSet
from worksample.store import Store

from . import checkpoint_kinds as kinds
from . import colleague_models as colleagues
from . import corrected_preferences as corrected_pairs
from . import evaluator_agreement as side_by_side
from . import evaluator_severity as evaluators
from . import failures, feedback, judge_consistency, money, preferences, ranks, scores, spending
from . import horizons_and_budgets as effort
from . import human_votes as votes
from . import people_versus_agents as people_at_work
from . import qualified_jobs as qualification
from . import robustness as representative
from . import rubric_results as rubrics
from .figure_settings import MeasureConfig
from .paper_layouts import paper_layouts
from .section import Section

PARTS: tuple[tuple[str, Callable[[ResultSet, MeasureConfig], Iterator[Section]]], ...] = (
    ("Qualification", qualification.sections),
    ("Pass and score", scores.sections),
    ("Points by kind", kinds.sections),
    ("Colleague's model", colleagues.sections),
    ("Ranks", ranks.sections),
    ("Representativeness", representative.representativeness_sections),
    ("Completion", rubrics.sections),
    ("Feedback", feedback.sections),
    ("People at work", people_at_work.sections),
    ("Automation rate", votes.automation),
    ("Preferences and Elo", preferences.sections),
    ("Preferences, corrected by people", corrected_pairs.sections),
    ("Dollars", money.sections),
    ("Money and tokens of models", spending.sections),
    ("Agreement between evaluators", votes.agreement),
    ("Evaluators side by side", side_by_side.sections),
    ("Severity and position", evaluators.sections),
    ("Judges' consistency", judge_consistency.sections),
    ("False negatives", votes.false_negatives),
    ("Failures", failures.sections),
    ("Effort", effort.sections),
    ("Integrity", representative.integrity_sections),
)


def measure(
    store: Store, experiments: Sequence[str | Experiment] = (), config: MeasureConfig | None = None
) -> tuple[Section, ...]:
    """Return every section whose data exist, over one or more experiments with equal locks.

    `experiments` contains records, ids or names; by default the latest experiment. Verdicts come from the rounds in
    force (see `results.experiment_verdicts`), without work that amendments struck. If data contradict each other, such
    as two votes of one evaluator, the section has no rows and its `fault` says why; other sections are not affected.
    Raises PlanError if the locks are different; UsageError for an unknown experiment.
    """
    need("report")
    found = resolve_experiments(store, experiments)
    config = config or MeasureConfig()
    results = ResultSet(store, found, config.work_rules)
    own = tuple(section for title, part in PARTS for section in _run_part(title, part, results, config))
    return (*own, *paper_layouts(own))


def resolve_experiments(store: Store, experiments: Sequence[str | Experiment]) -> list[Experiment]:
    """Return the records of experiments given by record, name or id. Raises PlanError if their locks differ."""
    given = [e for e in experiments if isinstance(e, Experiment)]
    names = [e for e in experiments if isinstance(e, str)]
    found = [*given, *(find_experiments(store, names) if names or not given else [])]
    require_same_lock(found)
    return list({e.id: e for e in found}.values())


def _run_part(
    title: str, part: Callable[[ResultSet, MeasureConfig], Iterator[Section]], results: ResultSet, config: MeasureConfig
) -> Iterator[Section]:
    try:
        yield from part(results, config)
    except (UsageError, ManifestError) as error:
        yield Section(title.lower().replace(" ", "-"), title, "", (), (), fault=str(error))
